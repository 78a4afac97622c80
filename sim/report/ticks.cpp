#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/report/number.h"
#include "sim/report/scale.h"

namespace strata {
namespace {

constexpr double kSteps = 6;        // about as many as there are between the ends
constexpr std::size_t kEnough = 3;  // fewer ticks do not show that a side is logarithmic
constexpr std::int64_t kTimes[] = {1, 2, 5};

// The distance between ticks: 1, 2 or 5 times a power of ten. Ticks are whole multiples of it,
// made from their decimals, so that the third tenth is 0.3 and not three times 0.1.
struct Step {
  std::int64_t times;
  int exponent;
  double tick(std::int64_t i) const { return decimal(i * times, exponent); }
};

Step step_of(Range range) {
  const double rough = range.high / kSteps - range.low / kSteps;
  const int exponent = static_cast<int>(std::floor(std::log10(rough)));
  for (std::int64_t times : kTimes) {
    if (decimal(times, exponent) >= rough) return {times, exponent};
  }
  return {1, exponent + 1};
}

// The first multiple that is not below a value, and the last that is not above one.
std::int64_t first_from(double value, Step step) {
  auto i = static_cast<std::int64_t>(std::floor(value / step.tick(1))) - 1;
  while (step.tick(i) < value) ++i;
  return i;
}
std::int64_t last_up_to(double value, Step step) {
  auto i = static_cast<std::int64_t>(std::ceil(value / step.tick(1))) + 1;
  while (step.tick(i) > value) --i;
  return i;
}

std::vector<double> linear_ticks(Range range) {
  const Step step = step_of(range);
  std::vector<double> found;
  const std::int64_t last = last_up_to(range.high, step);
  for (std::int64_t i = first_from(range.low, step); i <= last; ++i) found.push_back(step.tick(i));
  return found;
}

// Wider ends may want wider steps, whose multiples the ends must be then.
Range linear_rounded_out(Range range) {
  for (;;) {
    const Step step = step_of(range);
    const Range out{step.tick(last_up_to(range.low, step)),
                    step.tick(first_from(range.high, step))};
    if (out == range) return out;
    range = out;
  }
}

// Powers of ten, or 1, 2 and 5 times each, from the one below the range to the one above.
std::vector<double> around(Range range, std::span<const std::int64_t> times) {
  std::vector<double> found;
  const int last = static_cast<int>(std::ceil(std::log10(range.high))) + 1;
  for (int e = static_cast<int>(std::floor(std::log10(range.low))) - 1; e <= last; ++e) {
    for (std::int64_t t : times) found.push_back(decimal(t, e));
  }
  return found;
}

std::vector<double> within_range(std::vector<double> values, Range range) {
  std::erase_if(values, [&](double v) { return v < range.low || v > range.high; });
  return values;
}

Range logarithmic_rounded_out(Range range) {
  const std::vector<double> places = around(range, kTimes);
  const auto above = std::lower_bound(places.begin(), places.end(), range.high);
  const auto below = std::upper_bound(places.begin(), places.end(), range.low);
  return {*(below - 1), *above};
}

std::vector<double> logarithmic_ticks(Range range) {
  std::vector<double> decades = within_range(around(range, std::span(kTimes, 1)), range);
  if (decades.size() >= kEnough) return decades;
  std::vector<double> finer = within_range(around(range, kTimes), range);
  return finer.size() >= kEnough ? finer : linear_ticks(range);
}

}  // namespace

Range rounded_out(Range range, bool logarithmic) {
  return logarithmic ? logarithmic_rounded_out(range) : linear_rounded_out(range);
}

std::vector<double> ticks(Range range, bool logarithmic) {
  return logarithmic ? logarithmic_ticks(range) : linear_ticks(range);
}

}  // namespace strata
