#include "exec/calibrate/usual_times.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strata {
namespace {

constexpr std::size_t kFewest = 8;
constexpr double kWhisker = 1.5;    // interval widths
constexpr double kNoMatter = 0.01;  // of the middle

}  // namespace

double UsualTimes::threshold() const {
  return middle > 0 && std::isfinite(most) ? most / middle - 1 : 0;
}

UsualTimes usual_times(std::vector<double> times) {
  if (times.size() < kFewest) return {0, std::numeric_limits<double>::infinity()};
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  std::size_t best = 0;
  for (std::size_t i = 0; i + half < times.size(); ++i) {
    if (times[i + half] - times[i] < times[best + half] - times[best]) best = i;
  }
  const double low = times[best], high = times[best + half];
  const double middle = (low + high) / 2;
  return {middle, std::max(high + kWhisker * (high - low), middle * (1 + kNoMatter))};
}

}  // namespace strata
