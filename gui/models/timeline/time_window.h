#pragma once

// The stretch of time that is on the screen, how keys and wheels move it, and the ticks of its
// ruler. Seconds. Values; pure.

#include <string>
#include <vector>

#include "gui/models/selection.h"

namespace strata::gui {

class TimeWindow {
 public:
  TimeWindow() = default;
  /// All of [0, end].
  explicit TimeWindow(double end);

  double begin() const { return begin_; }
  double end() const { return end_; }
  double length() const { return end_ - begin_; }
  /// From there to `limit` it may be moved.
  double first() const { return first_; }
  double limit() const { return limit_; }
  bool shows_all() const { return begin_ <= first_ && end_ >= limit_; }
  TimeRange range() const { return {{begin_}, {end_}}; }

  /// Of another recording; what was all stays all.
  void set_limits(double first, double limit);
  /// `factor` below 1 shows less; the time `at` stays where it is.
  void zoom(double factor, double at);
  /// By a share of what is shown; to the right where it is positive.
  void pan(double share);
  void show(double begin, double end);
  /// The least movement that brings the stretch into view, with some air around it.
  void reveal(double begin, double end);
  void show_all() { show(first_, limit_); }
  /// The same stretch in a clock that is ahead by so much.
  TimeWindow moved(double by) const;

  double to_time(double x, double width) const { return begin_ + x / width * length(); }
  double to_x(double time, double width) const { return (time - begin_) / length() * width; }

  bool operator==(const TimeWindow&) const = default;

 private:
  double begin_ = 0, end_ = 1, first_ = 0, limit_ = 1;
};

struct TimeTick {
  double at = 0;
  std::string label;
};
/// At multiples of 1, 2 or 5 times a power of ten, at most `most` of them; labels in one unit.
std::vector<TimeTick> time_ticks(const TimeWindow& window, int most);

}  // namespace strata::gui
