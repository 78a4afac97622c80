#pragma once

// How long a step was said to take, how long it took, and how wrong that was: the numbers that
// somebody comes for.

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/measured/real_run.h"

namespace strata::gui {

class StepHeading : public QWidget {
 public:
  explicit StepHeading(QWidget* parent = nullptr);

  void show_outcome(const std::optional<RealOutcome>& outcome);
  /// All in one line: "predicted 1 ms, measured 2 ms ± 0.1 ms, error -50 %".
  QString text() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Number {
    QString name, value, more;
    bool loud = false;  ///< worth the warning colour
  };

  QFont value_font() const;
  int paint_number(QPainter& painter, const Number& number, int left) const;

  std::vector<Number> numbers_;
};

// What the colours of predicted and measured tasks mean.

class ErrorScale : public QWidget {
 public:
  explicit ErrorScale(QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace strata::gui
