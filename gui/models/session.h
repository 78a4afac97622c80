#pragma once

// What was on the desk when the program ended, however it ended: every edit is saved at once, in
// the background, and the next start can go on with it. Lives in the window's thread.

#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>
#include <string>

#include "gui/models/document.h"
#include "gui/models/workspace.h"

namespace strata::gui {

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

 private:
  void save();
  void write(const std::string& text) const;

  Workspace& workspace_;
  QString file_;
  QTimer soon_;
};

}  // namespace strata::gui
