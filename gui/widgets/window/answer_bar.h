#pragma once

// The button that finds the fastest strategy, and what comes of the case. It is beside the case's
// fields, which give way in a narrow window: this is always whole.

#include <QToolBar>

#include "gui/widgets/window/search_button.h"
#include "gui/widgets/window/step_result.h"

namespace strata::gui {

class AnswerBar : public QToolBar {
  Q_OBJECT

 public:
  explicit AnswerBar(Workspace& workspace, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;

 signals:
  void fastest_wanted();

 private:
  SearchButton* search_;
  StepResult* result_;
};

}  // namespace strata::gui
