#include "gui/models/session.h"

#include <QFileInfo>
#include <QStandardPaths>
#include <limits>
#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

constexpr std::size_t kMostOffered = 3;

// Nothing where it cannot be read, as one that was damaged.
std::optional<Document> left_document(const QString& file) try {
  Document document = parse_document(read_file(file.toStdString()), file.toStdString());
  return document.empty() ? std::nullopt : std::optional(std::move(document));
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

SessionFile::SessionFile(QString folder, std::unique_ptr<SessionSlot> slot)
    : folder_(std::move(folder)), slot_(std::move(slot)) {}

void SessionFile::write(std::uint64_t number, const std::string& text) {
  const std::scoped_lock lock(lock_);
  if (number < number_) return;
  number_ = number;
  if (text == text_) return;
  const bool is_fresh = !slot_ || !slot_->stands();
  if (is_fresh) slot_ = SessionSlot::fresh(folder_);
  write_file_whole(slot_->file().toStdString(), text);
  text_ = text;
  if (is_fresh) SessionSlot::remove_old(folder_);
}

void SessionFile::let_go() {
  const std::scoped_lock lock(lock_);
  number_ = std::numeric_limits<std::uint64_t>::max();
  slot_.reset();
}

QString SessionFile::file() const {
  const std::scoped_lock lock(lock_);
  return slot_ ? slot_->file() : QString();
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

// A save may wait still, or write an older text right now: it holds the file for longer than this.
Session::~Session() {
  if (!file_) return;
  save_last();
  file_->let_go();
}

// A destructor has nobody to tell: what cannot be saved is lost.
void Session::save_last() try {
  if (number_ == 0) return;  // nothing was edited
  file_->write(++number_, print_document(workspace_.document()));
} catch (const Error&) {
  return;
}

std::vector<LeftSession> Session::left() const {
  std::vector<LeftSession> all;
  if (folder_.isEmpty()) return all;
  for (const QString& file : SessionSlot::left_in(folder_)) {
    if (all.size() == kMostOffered) break;
    if (auto document = left_document(file)) {
      all.push_back({file, QFileInfo(file).lastModified(), std::move(*document)});
    }
  }
  return all;
}

Document Session::go_on(const LeftSession& left) {
  if (file_) return left.document;
  std::unique_ptr<SessionSlot> slot = SessionSlot::taken_up(left.file);
  if (!slot) return left.document;
  file_ = std::make_shared<SessionFile>(folder_, std::move(slot));
  return left_document(left.file).value_or(left.document);
}

QString Session::usual_folder() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  return folder.isEmpty() ? QString() : folder + QStringLiteral("/sessions");
}

void Session::take_in_older(const QString& folder) {
  if (folder.isEmpty()) return;
  SessionSlot::take_in(QFileInfo(folder).path() + QStringLiteral("/session.json"), folder);
}

void Session::save() {
  if (!file_) file_ = std::make_shared<SessionFile>(folder_, nullptr);
  pause_.start();
  workspace_.jobs().start(
      &workspace_, kSavingLane, tr("Saving the session"),
      [file = file_, number = ++number_,
       text = print_document(workspace_.document())](Progress&) -> Jobs::Show {
        file->write(number, text);
        return {};
      },
      [&workspace = workspace_](const QString& message) { emit workspace.failed(message); },
      WhenStale::show);
}

}  // namespace strata::gui
