#pragma once

// Finds the fastest strategy, and while a search runs, stops it: the best that it has by then is
// the answer.

#include <QPushButton>

#include "gui/models/jobs.h"

namespace strata::gui {

class SearchButton : public QPushButton {
  Q_OBJECT

 public:
  explicit SearchButton(Jobs& jobs, QWidget* parent = nullptr);

 signals:
  void fastest_wanted();

 private:
  void find_or_stop();
  void show_state();

  Jobs& jobs_;
};

}  // namespace strata::gui
