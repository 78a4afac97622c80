#include "exec/calibrate/record.h"

#include <algorithm>

#include "exec/calibrate/usual_times.h"
#include "sim/base/quantile.h"

namespace strata {
namespace {

// The median of fewer ratios says as much of the things themselves as of the machine.
constexpr std::size_t kManyTimes = 16;

double pace_of(std::vector<double> ratios) {
  if (ratios.size() < kManyTimes) return 1;
  std::sort(ratios.begin(), ratios.end());
  const double pace = quantile(ratios, 0.5);
  return pace > 0 ? pace : 1;
}

}  // namespace

std::vector<double> Record::paces() const {
  std::vector<std::vector<double>> ratios;
  for (const auto& [key, samples] : samples_) {
    const double median = samples.summary(Sampled::always).median.value;
    for (const Sample& sample : samples.all()) {
      if (ratios.size() <= sample.sweep) ratios.resize(sample.sweep + 1);
      if (median > 0) ratios[sample.sweep].push_back(sample.seconds / median);
    }
  }
  std::vector<double> paces;
  paces.reserve(ratios.size());
  for (std::vector<double>& sweep : ratios) paces.push_back(pace_of(std::move(sweep)));
  return paces;
}

Disturbance Record::judge_by_pace() {
  const std::vector<double> pace = paces();
  const UsualTimes usual = usual_times(pace);
  judge([&](const Sample& sample) { return pace[sample.sweep] <= usual.most; });
  const auto slow =
      std::count_if(pace.begin(), pace.end(), [&](double p) { return p > usual.most; });
  return {static_cast<std::size_t>(slow), pace.size(), usual.threshold()};
}

std::vector<MeasuredCost> Record::rows(Sampled which, const std::string& source) const {
  std::vector<MeasuredCost> rows;
  const std::vector<double> pace = paces();
  for (const auto& [key, samples] : samples_) {
    const Summary s = samples.summary(which, pace);
    rows.push_back({key, s.median, s.spread, s.count, source});
  }
  return rows;
}

}  // namespace strata
