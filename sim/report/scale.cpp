#include "sim/report/scale.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace strata {
namespace {

constexpr double kLargest = 1e300;
constexpr double kThin = 1e-9;        // ticks have no more digits than this tells apart
constexpr double kThinnest = 1e-290;  // and are no smaller
constexpr std::size_t kMostPowers = 12;

bool is_power_of_two(double value) {
  int exponent = 0;
  return value >= 1 && std::frexp(value, &exponent) == 0.5;
}

bool is_thin(Range range, bool logarithmic) {
  const double span = range.high - range.low;
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  return span <= kThin * size || (!logarithmic && span < kThinnest);
}

}  // namespace

bool drawable(double value, bool logarithmic) {
  if (logarithmic) return value >= 1 / kLargest && value <= kLargest;
  return std::abs(value) <= kLargest;
}

Range range_of(std::span<const double> values, bool logarithmic) {
  if (values.empty()) return logarithmic ? Range{1, 10} : Range{0, 1};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

Range with_zero(Range range) {
  return {std::min(range.low, 0.0), std::max(range.high, 0.0)};
}

Range widened(Range range, bool logarithmic) {
  if (!is_thin(range, logarithmic)) return range;
  if (logarithmic) return {range.low / 2, range.high * 2};
  const double more = std::max(std::abs(range.low), std::abs(range.high)) / 2;
  if (more < kThinnest) return {0, 1};
  return {range.low - more, range.high + more};
}

std::vector<double> powers_of_two(std::span<const double> values) {
  const std::set<double> distinct(values.begin(), values.end());
  const bool all = std::all_of(distinct.begin(), distinct.end(), is_power_of_two);
  if (!all || distinct.size() < 2 || distinct.size() > kMostPowers) return {};
  return {distinct.begin(), distinct.end()};
}

double Scale::at(double value) const {
  const auto along = [this](double v) { return logarithmic ? std::log10(v) : v; };
  const double low = along(range.low), high = along(range.high);
  return from + (along(value) - low) / (high - low) * (to - from);
}

}  // namespace strata
