#include "gui/models/session.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

constexpr std::size_t kMostOffered = 3;

// Nothing where it cannot be read, as one that was damaged.
std::optional<SavedDesk> left_desk(const QString& file) try {
  SavedDesk desk = parse_desk(read_file(file.toStdString()), file.toStdString());
  return desk.document.empty() ? std::nullopt : std::optional(std::move(desk));
} catch (const Error&) {
  return std::nullopt;
}

constexpr int kMostLeft = 8;

QString lock_of(const QString& file) {
  return file.chopped(static_cast<qsizetype>(std::size("json")) - 1) + QStringLiteral("lock");
}

QString slot_file(const QString& folder, int number) {
  return QStringLiteral("%1/%2.json").arg(folder).arg(number);
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

enum class Locking { done, somebody_has_it, not_possible };

// Of the open file, not of the process: two in one process are two.
Locking lock_whole(const QFile& file) {
  struct flock lock = whole_file();
  if (::fcntl(file.handle(), F_OFD_SETLK, &lock) == 0) return Locking::done;
  return errno == EAGAIN || errno == EACCES ? Locking::somebody_has_it : Locking::not_possible;
}

// What cannot be opened or asked nobody holds.
bool somebody_holds(const QString& file) {
  QFile open(lock_of(file));
  if (!open.open(QIODevice::ReadOnly)) return false;
  struct flock lock = whole_file();
  return ::fcntl(open.handle(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// What write_file_whole() leaves where it is killed.
void remove_half_written(const QString& folder) {
  const QDateTime yesterday = QDateTime::currentDateTime().addDays(-1);
  for (const QFileInfo& info :
       QDir(folder).entryInfoList({QStringLiteral("*.json.??????")}, QDir::Files)) {
    if (info.lastModified() < yesterday) QFile::remove(info.absoluteFilePath());
  }
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
  connect(&workspace_, &Workspace::document_changed, this, &Session::edited);
  connect(&workspace_, &Workspace::baseline_changed, this, [this] {
    if (number_ > 0 && workspace_.chosen_baseline() != baseline_) edited();
  });
}

void Session::edited() {
  if (pause_.isActive()) {
    waits_ = true;
  } else {
    save();
  }
}

SavedDesk Session::desk() const {
  return {workspace_.document(), workspace_.chosen_baseline()};
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
  file_->write(++number_, print_desk(desk()));
} catch (const Error&) {
  return;
}

std::vector<LeftSession> Session::left() const {
  std::vector<LeftSession> all;
  if (folder_.isEmpty()) return all;
  for (const QString& file : SessionSlot::left_in(folder_)) {
    if (all.size() == kMostOffered) break;
    if (auto desk = left_desk(file)) {
      all.push_back({file, QFileInfo(file).lastModified(), std::move(*desk)});
    }
  }
  return all;
}

SavedDesk Session::go_on(const LeftSession& left) {
  if (file_) return left.desk;
  std::unique_ptr<SessionSlot> slot = SessionSlot::taken_up(left.file);
  if (!slot) return left.desk;
  file_ = std::make_shared<SessionFile>(folder_, std::move(slot));
  return left_desk(left.file).value_or(left.desk);
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
  baseline_ = workspace_.chosen_baseline();
  workspace_.jobs().start(
      &workspace_, kSavingLane, tr("Saving the session"),
      [file = file_, number = ++number_, text = print_desk(desk())](Progress&) -> Jobs::Show {
        file->write(number, text);
        return {};
      },
      [&workspace = workspace_](const QString& message) { emit workspace.failed(message); },
      WhenStale::show);
}

SessionSlot::SessionSlot(const QString& file) : file_(file), lock_(lock_of(file)) {}

bool SessionSlot::stands() const {
  struct stat held {
  }, named{};
  return ::fstat(lock_.handle(), &held) == 0 &&
         ::stat(lock_.fileName().toLocal8Bit().constData(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

// The file is looked for behind the lock: whoever had the number may have made it just before.
// Where the folder cannot be made, neither can the lock.
std::unique_ptr<SessionSlot> SessionSlot::fresh(const QString& folder) {
  QDir().mkpath(folder);
  for (int number = 1;; ++number) {
    std::unique_ptr<SessionSlot> slot(new SessionSlot(slot_file(folder, number)));
    if (QFileInfo::exists(slot->file_)) continue;
    if (!slot->open_lock()) {
      throw EnvironmentError(fmt::format("{}: cannot be written: {}", slot->file_.toStdString(),
                                         slot->lock_.errorString().toStdString()));
    }
    if (lock_whole(slot->lock_) == Locking::somebody_has_it || !slot->stands()) continue;
    if (!QFileInfo::exists(slot->file_)) return slot;
  }
}

std::unique_ptr<SessionSlot> SessionSlot::taken_up(const QString& file) {
  std::unique_ptr<SessionSlot> slot(new SessionSlot(file));
  if (!slot->open_lock() || lock_whole(slot->lock_) != Locking::done) return nullptr;
  if (!slot->stands() || !QFileInfo::exists(file)) return nullptr;
  return slot;
}

QStringList SessionSlot::left_in(const QString& folder) {
  QStringList left;
  const QFileInfoList all =
      QDir(folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);
  for (const QFileInfo& info : all) {
    if (!somebody_holds(info.absoluteFilePath())) left << info.absoluteFilePath();
  }
  return left;
}

void SessionSlot::remove_old(const QString& folder) {
  for (const QString& file : left_in(folder).mid(kMostLeft)) {
    const auto slot = taken_up(file);
    if (slot && QFile::remove(file)) QFile::remove(lock_of(file));
  }
  remove_half_written(folder);
}

void SessionSlot::take_in(const QString& file, const QString& folder) try {
  if (QFileInfo::exists(file)) QFile::rename(file, fresh(folder)->file());
} catch (const EnvironmentError&) {
  return;
}

}  // namespace strata::gui
