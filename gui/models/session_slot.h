#pragma once

// A place for one running program's session: a file in a folder of them, and beside it one that the
// program holds a lock on. The lock falls with the process, however that ends. So two windows never
// write one file, and what a process left is known by nobody holding its lock; to ask takes none.
// Where the file system has no locks, everybody's files look like left ones, and none is removed.

#include <QFile>
#include <QString>
#include <QStringList>
#include <memory>

namespace strata::gui {

class SessionSlot {
 public:
  /// One that nobody had. The folder is made. Throws EnvironmentError where it cannot be written
  /// to.
  static std::unique_ptr<SessionSlot> fresh(const QString& folder);
  /// That of a process which has ended; null where somebody has it, or nobody can lock it.
  static std::unique_ptr<SessionSlot> taken_up(const QString& file);

  /// Files that nobody is known to hold, the newest first.
  static QStringList left_in(const QString& folder);
  /// All of those but the newest few, and half-written ones that are older than a day.
  static void remove_old(const QString& folder);
  /// Puts a session that was kept without a lock among the others; one that cannot be moved stays.
  static void take_in(const QString& file, const QString& folder);

  const QString& file() const { return file_; }
  /// False once somebody has moved or removed the lock, as with its folder.
  bool stands() const;

 private:
  explicit SessionSlot(const QString& file);
  bool open_lock() { return lock_.open(QIODevice::ReadWrite); }

  QString file_;
  QFile lock_;
};

}  // namespace strata::gui
