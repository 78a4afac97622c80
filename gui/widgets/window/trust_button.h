#pragma once

// How far the step beside it may be trusted, in a few words: what share of its compute time rests
// on measured costs, how far off steps of its sort were, and how many warnings there are. Its
// tooltip, and the panel that a click opens, have all of it in the words of the command line.
// Lives in the window's thread.

#include <QFrame>
#include <QLabel>
#include <QTimer>
#include <QToolButton>

#include "gui/models/workspace.h"

namespace strata::gui {

class TrustButton : public QToolButton {
  Q_OBJECT

 public:
  explicit TrustButton(Workspace& workspace, QWidget* parent = nullptr);

  /// Of the workspace's scene; nothing where the document has none, or while a search runs.
  void show_trust(bool known);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void open();
  void look_for_anomalies();
  void show_text();

  Workspace& workspace_;
  QFrame* panel_;
  QLabel* text_;
  QTimer pause_;  ///< until what-ifs stand still
  ScenePtr of_;   ///< whose anomalies these are
  QStringList anomalies_;
  bool known_ = false;
};

}  // namespace strata::gui
