#include "gui/models/session_slot.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <chrono>

namespace strata::gui {
namespace {

constexpr int kMostLeft = 8;

QString lock_of(const QString& file) {
  return file.chopped(static_cast<qsizetype>(std::size("json")) - 1) + QStringLiteral("lock");
}

QString slot_file(const QString& folder, int number) {
  return QStringLiteral("%1/%2.json").arg(folder).arg(number);
}

}  // namespace

// A session may last for weeks: its lock is as good as its process, whatever its age.
SessionSlot::SessionSlot(const QString& file) : file_(file), lock_(lock_of(file)) {
  lock_.setStaleLockTime(std::chrono::milliseconds(0));
}

// The file is looked for behind the lock: whoever had the number may have made it just before.
std::unique_ptr<SessionSlot> SessionSlot::fresh(const QString& folder) {
  QDir().mkpath(folder);
  for (int number = 1;; ++number) {
    std::unique_ptr<SessionSlot> slot(new SessionSlot(slot_file(folder, number)));
    if (QFileInfo::exists(slot->file_)) continue;
    const bool locked = slot->lock_.tryLock();
    if (!locked && slot->lock_.error() == QLockFile::LockFailedError) continue;
    if (!QFileInfo::exists(slot->file_)) return slot;
  }
}

std::unique_ptr<SessionSlot> SessionSlot::taken_up(const QString& file) {
  std::unique_ptr<SessionSlot> slot(new SessionSlot(file));
  if (!slot->lock_.tryLock() || !QFileInfo::exists(file)) return nullptr;
  return slot;
}

// Whether a lock is held only its taker is told.
QStringList SessionSlot::left_in(const QString& folder) {
  QStringList left;
  const QFileInfoList all =
      QDir(folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);
  for (const QFileInfo& info : all) {
    if (taken_up(info.absoluteFilePath())) left << info.absoluteFilePath();
  }
  return left;
}

void SessionSlot::remove_old(const QString& folder) {
  for (const QString& file : left_in(folder).mid(kMostLeft)) {
    if (const auto slot = taken_up(file)) QFile::remove(file);
  }
}

}  // namespace strata::gui
