#pragma once

// The ruler above a picture over time, and the lines that go on from its ticks. No label is cut
// off, and none stands on another. Pure functions but for the painter.

#include <QPainter>
#include <QPalette>
#include <QRect>
#include <optional>

#include "gui/models/timeline/time_window.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

struct RulerMarks {
  std::optional<TimeRange> steady;  ///< the steps that are measured by
  std::optional<TimeRange> range;   ///< that somebody measures; its length stands in the ruler
};

/// The window's times lie along the box.
void paint_time_ruler(QPainter& painter, const QRect& box, const TimeWindow& window,
                      const RulerMarks& marks, const QPalette& palette);
void paint_time_grid(QPainter& painter, const QRect& area, const TimeWindow& window,
                     const Theme& theme);

/// How wide the names beside a picture may be that needs `wanted` for them: a part of the whole.
int names_width(int wanted, int whole);

}  // namespace strata::gui
