#pragma once

// What of a chart can be drawn: its points, in the order of drawing. Pure; thread-safe.

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/document.h"

namespace strata {

/// NaN where there is no y, or no ideal.
struct Mark {
  double x, y, ideal;
  bool has_y() const { return y == y; }
  bool has_ideal() const { return ideal == ideal; }
};

struct MarkSeries {
  std::string name;
  std::vector<Mark> marks;  ///< ascending in x; equal ones in the order of the chart
};

/// A chart whose every x can be drawn. Bars have categories. `count` of the marks have a y.
struct Drawing {
  ChartKind kind = ChartKind::lines;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<std::string> categories;
  std::vector<MarkSeries> series;  ///< as many as the chart has

  std::size_t count() const;
  bool has_ideal() const;
  std::vector<double> xs() const;  ///< of marks that have a y or an ideal
  std::vector<double> ys() const;  ///< with the ideals
};

/// Throws InternalError (document.h).
Drawing drawing_of(const Chart& chart);

}  // namespace strata
