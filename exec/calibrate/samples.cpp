#include "exec/calibrate/samples.h"

#include <algorithm>

namespace strata {
namespace {

constexpr std::size_t kEnough = 3;

// Linear between the two nearest ranks.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

void Samples::add(Seconds seconds, bool calm) {
  all_.push_back(seconds.value);
  if (calm) calm_.push_back(seconds.value);
}

Summary Samples::summary() const {
  std::vector<double> sorted = calm_.size() >= kEnough ? calm_ : all_;
  std::sort(sorted.begin(), sorted.end());
  return {{quantile(sorted, 0.5)},
          {(quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2},
          static_cast<std::int64_t>(sorted.size())};
}

}  // namespace strata
