#include "gui/models/session.h"

#include <QDir>
#include <QStandardPaths>
#include <filesystem>
#include <utility>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {

Session::Session(Workspace& workspace, QString file, QObject* parent)
    : QObject(parent), workspace_(workspace), file_(std::move(file)) {
  if (file_.isEmpty()) return;
  soon_.setSingleShot(true);
  soon_.setInterval(100);  // a dragged slider makes an edit a frame
  connect(&soon_, &QTimer::timeout, this, &Session::save);
  connect(&workspace_, &Workspace::document_changed, this, [this] {
    if (!soon_.isActive()) soon_.start();
  });
}

// A destructor has nobody to tell: what cannot be saved is lost.
Session::~Session() {
  if (!soon_.isActive()) return;
  try {
    write(print_document(workspace_.document()));
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
  workspace_.jobs().start(
      QStringLiteral("session"), tr("Saving the session"),
      [this, text = print_document(workspace_.document())](Progress&) -> Jobs::Show {
        write(text);
        return {};
      },
      [this](const QString& message) { emit workspace_.failed(message); }, WhenStale::show);
}

void Session::write(const std::string& text) const {
  QDir().mkpath(QFileInfo(file_).absolutePath());
  write_file_whole(file_.toStdString(), text);
}

}  // namespace strata::gui
