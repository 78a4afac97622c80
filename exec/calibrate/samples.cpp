#include "exec/calibrate/samples.h"

#include <algorithm>

#include "sim/base/quantile.h"

namespace strata {
namespace {

constexpr std::size_t kEnough = 3;

}  // namespace

void Samples::add(Seconds seconds, bool calm) {
  all_.push_back(seconds.value);
  if (calm) calm_.push_back(seconds.value);
}

Summary Samples::summary(Sampled which) const {
  const bool calm = which == Sampled::calm && calm_.size() >= kEnough;
  std::vector<double> sorted = calm ? calm_ : all_;
  std::sort(sorted.begin(), sorted.end());
  return {{quantile(sorted, 0.5)},
          {(quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2},
          static_cast<std::int64_t>(sorted.size())};
}

}  // namespace strata
