#include "gui/models/timeline/time_window.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace strata::gui {
namespace {

constexpr double kShortest = 1e-11;  // seconds; below, doubles of seconds run out of digits

struct Unit {
  double seconds;
  const char* name;
};

Unit unit_of(double step) {
  constexpr std::array<Unit, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  for (const Unit& unit : kUnits) {
    if (step >= unit.seconds * 0.0999) return unit;
  }
  return kUnits.back();
}

double step_for(double length, int most) {
  const double least = length / std::max(most, 1);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (power * times >= least * (1 - 1e-9)) return power * times;
  }
  return power * 10;
}

}  // namespace

TimeWindow::TimeWindow(double end) : end_(std::max(end, kShortest)), limit_(end_) {}

void TimeWindow::set_limits(double first, double limit) {
  const bool all = shows_all();
  first_ = first;
  limit_ = std::max(limit, first + kShortest);
  all ? show_all() : show(begin_, end_);
}

void TimeWindow::zoom(double factor, double at) {
  const double share = std::clamp((at - begin_) / length(), 0.0, 1.0);
  const double shown = std::clamp(length() * factor, kShortest, limit_ - first_);
  show(at - share * shown, at - share * shown + shown);
}

void TimeWindow::pan(double share) {
  const double by = share * length();
  show(begin_ + by, end_ + by);
}

// What lies beyond the limits is not shown: the stretch moves, and becomes shorter where it must.
void TimeWindow::show(double begin, double end) {
  const double shown = std::clamp(end - begin, kShortest, limit_ - first_);
  begin_ = std::clamp(begin, first_, limit_ - shown);
  end_ = begin_ + shown;
}

void TimeWindow::reveal(double begin, double end) {
  const double air = 0.08 * length();
  if (end - begin > length() - 2 * air) {
    const double more = 0.15 * (end - begin);
    show(begin - more, end + more);
  } else if (begin < begin_) {
    show(begin - air, begin - air + length());
  } else if (end > end_) {
    show(end + air - length(), end + air);
  }
}

TimeWindow TimeWindow::moved(double by) const {
  TimeWindow window = *this;
  for (double* time : {&window.begin_, &window.end_, &window.first_, &window.limit_}) *time += by;
  return window;
}

std::vector<TimeTick> time_ticks(const TimeWindow& window, int most) {
  const double step = step_for(window.length(), most);
  const Unit unit = unit_of(step);
  const int digits =
      std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit.seconds) - 1e-9)));
  std::vector<TimeTick> ticks;
  for (double k = std::ceil(window.begin() / step); k * step <= window.end(); ++k) {
    const double at = k * step + 0.0;  // no -0
    ticks.push_back({at, fmt::format("{:.{}f} {}", at / unit.seconds, digits, unit.name)});
  }
  return ticks;
}

}  // namespace strata::gui
