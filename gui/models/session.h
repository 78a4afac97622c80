#pragma once

// What was on the desk when the program ended, however it ended: every edit is saved at once, in
// the background, and the next start can go on with it. Lives in the window's thread.

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
#include "gui/models/workspace.h"

namespace strata::gui {

/// A session's file. Threads may write at once: what is older than what stands there is dropped.
/// Thread-safe.
class SessionFile {
 public:
  /// `text`: what need not be written.
  SessionFile(QString file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}

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
  /// Follows the workspace's document. An empty `file` saves nothing.
  Session(Workspace& workspace, QString file, QObject* parent = nullptr);
  /// Saves what is not saved yet.
  ~Session() override;

  const QString& file() const { return file_; }
  /// What an earlier session left; nothing where there was none, or none that can be read.
  std::optional<Document> last() const;

  /// Where the desktop keeps such things: one for each user.
  static QString usual_file();

  /// Now, in the background.
  void save();

 private:
  Workspace& workspace_;
  QString file_;
  std::shared_ptr<SessionFile> written_;  // jobs that still save it live longer than this
  std::uint64_t number_ = 0;
  QTimer soon_;
};

}  // namespace strata::gui
