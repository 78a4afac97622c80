#pragma once

// A line for the scenario that is swept: what is stored of it, how long the rest takes, and a
// button that starts and stops it. Hidden where there is none.

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>

#include "gui/models/sweep/sweep_run.h"

namespace strata::gui {

class SweepBar : public QWidget {
  Q_OBJECT

 public:
  explicit SweepBar(SweepRun& sweep, QWidget* parent = nullptr);
  QPushButton& button() const { return *button_; }

 private:
  void show_state();

  SweepRun& sweep_;
  QLabel* text_;
  QProgressBar* progress_;
  QPushButton* button_;
};

}  // namespace strata::gui
