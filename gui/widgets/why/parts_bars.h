#pragma once

// Where a step goes, as stacked bars of one length: all devices' mean, below it each stage's. The
// legend says what share of the first bar each colour has.

#include <QWidget>

#include "gui/models/why/step_parts.h"
#include "gui/widgets/legend.h"

namespace strata::gui {

class PartsBars : public QWidget {
  Q_OBJECT

 public:
  explicit PartsBars(QWidget* parent = nullptr);

  /// Null: hidden.
  void show_parts(PartsOfStepPtr parts);
  const PartsOfStepPtr& parts() const { return parts_; }
  const Legend& legend() const { return *legend_; }
  /// Where a part of a bar is painted; empty where it takes no time.
  QRectF box_of(std::size_t bar, StepPart part) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int bar_height() const { return fontMetrics().height() + 4; }
  int names_width() const;
  QString tip_at(QPoint at) const;

  PartsOfStepPtr parts_;
  Legend* legend_;
};

}  // namespace strata::gui
