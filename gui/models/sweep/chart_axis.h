#pragma once

// A side of a chart that values of a column lie along: where each is, and what its ticks say. Pure;
// thread-safe. Pixels may run either way.

#include <string>
#include <vector>

#include "gui/models/sweep/result_set.h"
#include "sim/report/scale.h"

namespace strata::gui {

struct AxisTick {
  double at = 0;  ///< pixels
  std::string label;
};

class ChartAxis {
 public:
  ChartAxis() = default;
  /// `values`: from the lowest to the highest that is shown; nothing to a column of words.
  ChartAxis(const ResultColumn& column, Range values, double from, double to);

  double at(double value) const;
  /// Of a column of words a place, with a fraction.
  double value_at(double pixel) const;
  const std::vector<AxisTick>& ticks() const { return ticks_; }
  /// "step time (ms)": with the unit that the ticks leave out.
  const std::string& title() const { return title_; }
  bool words() const { return words_; }

 private:
  void tick_words(const ResultColumn& column);
  void tick_numbers(const ResultColumn& column, Range values);

  Scale scale_;
  bool words_ = false;
  std::vector<AxisTick> ticks_;
  std::string title_;
};

}  // namespace strata::gui
