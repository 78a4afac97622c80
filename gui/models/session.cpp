#include "gui/models/session.h"

#include <QDir>
#include <QStandardPaths>
#include <filesystem>
#include <utility>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {

void SessionFile::write(std::uint64_t number, const std::string& text) {
  const std::scoped_lock lock(lock_);
  if (number < number_) return;
  number_ = number;
  if (text == text_) return;
  QDir().mkpath(QFileInfo(file_).absolutePath());
  write_file_whole(file_.toStdString(), text);
  text_ = text;
}

Session::Session(Workspace& workspace, QString file, QObject* parent)
    : QObject(parent),
      workspace_(workspace),
      file_(std::move(file)),
      written_(std::make_shared<SessionFile>(file_, print_document(workspace.document()))) {
  if (file_.isEmpty()) return;
  soon_.setSingleShot(true);
  soon_.setInterval(100);  // a dragged slider makes an edit a frame
  connect(&soon_, &QTimer::timeout, this, &Session::save);
  connect(&workspace_, &Workspace::document_changed, this, [this] {
    if (!soon_.isActive()) soon_.start();
  });
}

// A save may wait still, or write an older text right now. A destructor has nobody to tell: what
// cannot be saved is lost.
Session::~Session() {
  if (file_.isEmpty()) return;
  try {
    written_->write(++number_, print_document(workspace_.document()));
  } catch (const Error&) {
    return;
  }
}

std::optional<Document> Session::last() const try {
  if (file_.isEmpty() || !std::filesystem::exists(file_.toStdString())) return std::nullopt;
  Document document = parse_document(read_file(file_.toStdString()), file_.toStdString());
  return document.empty() ? std::nullopt : std::optional(std::move(document));
} catch (const Error&) {
  return std::nullopt;
}

QString Session::usual_file() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  return folder.isEmpty() ? QString() : folder + QStringLiteral("/session.json");
}

void Session::save() {
  soon_.stop();
  workspace_.jobs().start(
      QStringLiteral("session"), tr("Saving the session"),
      [file = written_, number = ++number_,
       text = print_document(workspace_.document())](Progress&) -> Jobs::Show {
        file->write(number, text);
        return {};
      },
      [&workspace = workspace_](const QString& message) { emit workspace.failed(message); },
      WhenStale::show);
}

}  // namespace strata::gui
