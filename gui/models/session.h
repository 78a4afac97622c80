#pragma once

// What was on the desk when a program ended, however it ended: every edit is saved at once, in the
// background, and the next start can go on with it. Each running program has a file of its own
// (session_slot.h). Lives in the window's thread.

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gui/models/document.h"
#include "gui/models/session_slot.h"
#include "gui/models/workspace.h"

namespace strata::gui {

/// A session's file. Threads may write at once: what is older than what stands there is dropped.
/// Thread-safe.
class SessionFile {
 public:
  explicit SessionFile(QString file) : file_(std::move(file)) {}

  /// `number`: of the text, the larger the newer. Throws EnvironmentError.
  void write(std::uint64_t number, const std::string& text);

 private:
  const QString file_;
  std::mutex lock_;
  std::uint64_t number_ = 0;
  std::string text_;  // that was written last
};

class Session : public QObject {
  Q_OBJECT

 public:
  /// Follows the workspace's document into a file of this `folder`, from the first edit on. An
  /// empty one saves nothing.
  Session(Workspace& workspace, QString folder, QObject* parent = nullptr);
  /// Saves what is not saved yet, and lets the file go.
  ~Session() override;

  /// Empty until something is saved.
  QString file() const { return slot_ ? slot_->file() : QString(); }
  /// What the newest session that nobody has left; nothing where there is none that can be read.
  std::optional<Document> last();
  /// last(), as it is by now, in whose file this session goes on; where another program was
  /// faster, in one of its own.
  Document go_on();

  /// Where the desktop keeps such things.
  static QString usual_folder();

  /// Now, in the background.
  void save();

 private:
  void hold(std::unique_ptr<SessionSlot> slot);

  Workspace& workspace_;
  QString folder_;
  QString last_file_;
  Document last_;
  std::unique_ptr<SessionSlot> slot_;
  std::shared_ptr<SessionFile> written_;  // jobs that still save it live longer than this
  std::uint64_t number_ = 0;
  QTimer pause_;
  bool waits_ = false;  // an edit, for the pause to end
};

}  // namespace strata::gui
