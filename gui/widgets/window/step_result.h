#pragma once

// What comes of the case: the simulated step, how it compares with the baseline's, and how far it
// may be from the fastest; Eq. 1 after that, and how far all that may be trusted. While a search
// runs, what it has found so far.

#include <QLabel>
#include <QTimer>
#include <QWidget>

#include "gui/models/workspace.h"
#include "gui/widgets/window/trust_button.h"

namespace strata::gui {

class StepResult : public QWidget {
  Q_OBJECT

 public:
  explicit StepResult(Workspace& workspace, QWidget* parent = nullptr);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void follow();
  void show_result();
  void show_notes();
  void show_search();
  QString factor(Seconds before, Seconds now) const;

  Workspace& workspace_;
  QLabel *step_, *gap_, *eq1_;
  TrustButton* trust_;
  QTimer tick_;  ///< while a search runs
};

}  // namespace strata::gui
