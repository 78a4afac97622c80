#pragma once

// The timeline as a picture that stands alone: what its colours mean, and the time itself. Never on
// the screen.

#include <QWidget>
#include <vector>

#include "gui/widgets/legend.h"
#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {

/// What the colours of what is shown mean.
std::vector<LegendEntry> timeline_legend(const TimelineCanvas& canvas);

class TimelinePicture : public QWidget {
 public:
  TimelinePicture(TimelineCanvas& canvas, const Legend& legend, QWidget* parent);

  /// As large as the canvas is now, and the legend above it.
  void fit();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int legend_height() const { return legend_.heightForWidth(canvas_.viewport()->width()); }

  TimelineCanvas& canvas_;
  const Legend& legend_;
};

}  // namespace strata::gui
