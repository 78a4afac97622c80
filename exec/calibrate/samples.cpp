#include "exec/calibrate/samples.h"

#include <algorithm>

#include "sim/base/quantile.h"

namespace strata {
namespace {

constexpr std::ptrdiff_t kEnough = 3;

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

Summary Samples::summary(Sampled which, std::span<const double> paces) const {
  const bool enough =
      std::count_if(all_.begin(), all_.end(), [](const Sample& s) { return s.calm; }) >= kEnough;
  std::vector<double> times, paced;
  for (const Sample& sample : all_) {
    if (which == Sampled::calm && enough && !sample.calm) continue;
    times.push_back(sample.seconds);
    paced.push_back(sample.seconds / (paces.empty() ? 1 : paces[sample.sweep]));
  }
  paced = sorted(std::move(paced));
  return {{quantile(sorted(times), 0.5)},
          {(quantile(paced, 0.75) - quantile(paced, 0.25)) / 2},
          static_cast<std::int64_t>(times.size())};
}

}  // namespace strata
