#include "gui/models/session_slot.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sim/base/error.h"

namespace strata::gui {
namespace {

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
