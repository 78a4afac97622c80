#pragma once

// Where the parts of a chart stand: an area for the data with ticks at its left and below it, names
// of series at the ends of their lines where they have room, else in a legend at the bottom. Units:
// the drawing's own, about pixels; y grows downwards. Pure; thread-safe.

#include <string>
#include <vector>

#include "sim/report/marks.h"
#include "sim/report/scale.h"

namespace strata {

constexpr double kChartWidth = 720;
constexpr double kFrameTop = 34;
constexpr double kFrameBottom = 314;

struct TickMark {
  double at = 0;
  std::string label;
  std::string whole;  ///< what the label was before it was cut
};

/// The name of a series beside the end of its line.
struct EndLabel {
  double y = 0;
  std::string label, whole;
};

struct LegendEntry {
  enum class Sample { series, ideal };
  Sample sample = Sample::series;
  std::size_t series = 0;
  double x = 0, y = 0;  ///< of the sample's left end; the text's base line
  std::string label, whole;
};

struct Layout {
  double left = 0, right = 0;  ///< of the area of the data
  Scale x, y;
  std::vector<TickMark> x_ticks, y_ticks;
  bool slanted = false;        ///< the labels of x_ticks
  std::vector<EndLabel> ends;  ///< one for each series, or none at all
  double x_label_y = 0;        ///< base line of the label of x
  std::vector<LegendEntry> legend;
  double height = 0;
};

/// Of a drawing with something to draw.
Layout lay_out(const Drawing& drawing);

/// How wide a category is.
double slot_width(const Drawing& drawing, const Layout& layout);

}  // namespace strata
