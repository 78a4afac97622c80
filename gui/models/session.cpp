#include "gui/models/session.h"

#include <QStandardPaths>
#include <utility>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

// Nothing where it cannot be read, as one that was damaged.
std::optional<Document> left_document(const QString& file) try {
  Document document = parse_document(read_file(file.toStdString()), file.toStdString());
  return document.empty() ? std::nullopt : std::optional(std::move(document));
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

void SessionFile::write(std::uint64_t number, const std::string& text) {
  const std::scoped_lock lock(lock_);
  if (number < number_) return;
  number_ = number;
  if (text == text_) return;
  write_file_whole(file_.toStdString(), text);
  text_ = text;
}

// A dragged slider makes an edit a frame: behind each save comes a pause.
Session::Session(Workspace& workspace, QString folder, QObject* parent)
    : QObject(parent), workspace_(workspace), folder_(std::move(folder)) {
  if (folder_.isEmpty()) return;
  pause_.setSingleShot(true);
  pause_.setInterval(100);
  connect(&pause_, &QTimer::timeout, this, [this] {
    if (std::exchange(waits_, false)) save();
  });
  connect(&workspace_, &Workspace::document_changed, this, [this] {
    if (pause_.isActive()) {
      waits_ = true;
    } else {
      save();
    }
  });
}

// A save may wait still, or write an older text right now. A destructor has nobody to tell: what
// cannot be saved is lost.
Session::~Session() {
  if (!slot_) return;
  try {
    written_->write(++number_, print_document(workspace_.document()));
  } catch (const Error&) {
    return;
  }
}

std::optional<Document> Session::last() {
  if (folder_.isEmpty()) return std::nullopt;
  for (const QString& file : SessionSlot::left_in(folder_)) {
    const std::optional<Document> document = left_document(file);
    if (!document) continue;
    last_file_ = file;
    last_ = *document;
    return document;
  }
  return std::nullopt;
}

Document Session::go_on() {
  if (slot_ || last_file_.isEmpty()) return last_;
  std::unique_ptr<SessionSlot> slot = SessionSlot::taken_up(last_file_);
  if (!slot) return last_;
  hold(std::move(slot));
  return left_document(last_file_).value_or(last_);
}

void Session::hold(std::unique_ptr<SessionSlot> slot) {
  slot_ = std::move(slot);
  written_ = std::make_shared<SessionFile>(slot_->file());
}

QString Session::usual_folder() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  return folder.isEmpty() ? QString() : folder + QStringLiteral("/sessions");
}

void Session::save() {
  if (!slot_) {
    hold(SessionSlot::fresh(folder_));
    SessionSlot::remove_old(folder_);
  }
  pause_.start();
  workspace_.jobs().start(
      &workspace_, kSavingLane, tr("Saving the session"),
      [file = written_, number = ++number_,
       text = print_document(workspace_.document())](Progress&) -> Jobs::Show {
        file->write(number, text);
        return {};
      },
      [&workspace = workspace_](const QString& message) { emit workspace.failed(message); },
      WhenStale::show);
}

}  // namespace strata::gui
