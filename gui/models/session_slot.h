#pragma once

// A place for one running program's session: a file in a folder of them, and beside it a lock that
// falls with the process, however that ends. So two windows never write one file, and what a
// process left is known by its lock being free.

#include <QLockFile>
#include <QString>
#include <QStringList>
#include <memory>

namespace strata::gui {

class SessionSlot {
 public:
  /// One that nobody had. The folder is made; where it takes no lock, the slot is free for all.
  static std::unique_ptr<SessionSlot> fresh(const QString& folder);
  /// That of a process which has ended; null where somebody has it.
  static std::unique_ptr<SessionSlot> taken_up(const QString& file);

  /// Files of processes that have ended, the newest first.
  static QStringList left_in(const QString& folder);
  /// All of those but the newest few.
  static void remove_old(const QString& folder);

  const QString& file() const { return file_; }

 private:
  explicit SessionSlot(const QString& file);

  QString file_;
  QLockFile lock_;
};

}  // namespace strata::gui
