#pragma once

// The line below the case's fields: its what-ifs, what comes of it, and the button that finds the
// fastest strategy, with what it searches for. What-ifs give way in a narrow window; the others are
// always whole, and the button always in the same place.

#include <QToolBar>

#include "gui/widgets/fields/settings_panel.h"
#include "gui/widgets/window/search_button.h"
#include "gui/widgets/window/step_result.h"
#include "gui/widgets/window/what_if_bar.h"

namespace strata::gui {

class AnswerBar : public QToolBar {
  Q_OBJECT

 public:
  explicit AnswerBar(Workspace& workspace, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;

 signals:
  void fastest_wanted();

 private:
  WhatIfBar* what_ifs_;
  StepResult* result_;
  SettingsButton* search_settings_;
  SearchButton* search_;
};

}  // namespace strata::gui
