#pragma once

// What was on the desk when a program ended, however it ended: every edit is saved at once, in the
// background, and the next start can go on with it. Each running program has a file of its own
// (SessionSlot). Lives in the window's thread.

#include <QDateTime>
#include <QFile>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gui/document/document.h"
#include "gui/models/workspace.h"

namespace strata::gui {

// A place for one running program's session: a file in a folder of them, and beside it one that the
// program holds a lock on. The lock falls with the process, however that ends. So two windows never
// write one file, and what a process left is known by nobody holding its lock; to ask takes none.
// Where the file system has no locks, everybody's files look like left ones, and none is removed.

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

/// A session's file. Threads may write at once: what is older than what stands there is dropped.
/// Thread-safe.
class SessionFile {
 public:
  /// That of `slot`; where it is null a fresh one of the folder, from the first text on.
  SessionFile(QString folder, std::unique_ptr<SessionSlot> slot);

  /// `number`: of the text, the larger the newer. Throws EnvironmentError; the next one tries all
  /// anew, the folder and the lock too.
  void write(std::uint64_t number, const std::string& text);
  /// For others to take up. What is written from now on is dropped.
  void let_go();
  /// Empty until it has a slot.
  QString file() const;

 private:
  const QString folder_;
  mutable std::mutex lock_;
  std::unique_ptr<SessionSlot> slot_;
  std::uint64_t number_ = 0;
  std::string text_;  // that was written last
};

/// What a program that has ended had on the desk.
struct LeftSession {
  QString file;
  QDateTime saved;
  SavedDesk desk;
};

class Session : public QObject {
  Q_OBJECT

 public:
  /// Follows the workspace's document, and the baseline that was chosen, into a file of this
  /// `folder`, from the first edit on. An empty one saves nothing.
  Session(Workspace& workspace, QString folder, QObject* parent = nullptr);
  /// Saves what is not saved yet, and lets the file go.
  ~Session() override;

  /// Empty until something is saved.
  QString file() const { return file_ ? file_->file() : QString(); }
  /// What nobody has on the desk any more, the newest first: the few newest that can be read.
  std::vector<LeftSession> left() const;
  /// That one, as it is by now, in whose file this session goes on; where another program was
  /// faster, in one of its own.
  SavedDesk go_on(const LeftSession& left);

  /// Where the desktop keeps such things.
  static QString usual_folder();
  /// The one session that earlier versions kept, beside this folder.
  static void take_in_older(const QString& folder);

  /// Now, in the background.
  void save();

 private:
  SavedDesk desk() const;
  void edited();
  void save_last();

  Workspace& workspace_;
  QString folder_;
  std::shared_ptr<SessionFile> file_;  // jobs that still save it live longer than this
  std::uint64_t number_ = 0;
  std::optional<Document> baseline_;  ///< that was saved last
  QTimer pause_;
  bool waits_ = false;  // an edit, for the pause to end
};

}  // namespace strata::gui
