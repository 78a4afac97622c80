#include "exec/calibrate/record.h"

#include <algorithm>

#include "exec/calibrate/usual_times.h"
#include "sim/base/quantile.h"

namespace strata {
namespace {

// The median of fewer ratios says as much of the things themselves as of the machine.
constexpr std::size_t kManyTimes = 16;

std::optional<double> pace_of(std::vector<double> ratios) {
  if (ratios.size() < kManyTimes) return {};
  std::sort(ratios.begin(), ratios.end());
  const double pace = quantile(ratios, 0.5);
  return pace > 0 ? std::optional(pace) : std::nullopt;
}

}  // namespace

std::vector<std::optional<double>> Record::paces() const {
  std::vector<std::vector<double>> ratios;
  for (const auto& [key, samples] : samples_) {
    const double median = samples.summary(Sampled::always).median.value;
    for (const Sample& sample : samples.all()) {
      if (ratios.size() <= sample.sweep) ratios.resize(sample.sweep + 1);
      if (median > 0) ratios[sample.sweep].push_back(sample.seconds / median);
    }
  }
  std::vector<std::optional<double>> paces;
  paces.reserve(ratios.size());
  for (std::vector<double>& sweep : ratios) paces.push_back(pace_of(std::move(sweep)));
  return paces;
}

Disturbance Record::judge_by_pace() {
  const std::vector<std::optional<double>> paces = this->paces();
  std::vector<double> known;
  for (const auto& pace : paces) {
    if (pace) known.push_back(*pace);
  }
  const UsualTimes usual = usual_times(known);
  judge([&](const Sample& sample) { return paces[sample.sweep].value_or(0) <= usual.most; });
  const auto slow =
      std::count_if(known.begin(), known.end(), [&](double pace) { return pace > usual.most; });
  return {static_cast<std::size_t>(slow), paces.size(), usual.threshold()};
}

std::vector<MeasuredCost> Record::rows(Sampled which, const std::string& source) const {
  std::vector<MeasuredCost> rows;
  std::vector<double> pace;
  for (const auto& known : paces()) pace.push_back(known.value_or(1));
  for (const auto& [key, samples] : samples_) {
    const Summary s = samples.summary(which, pace);
    rows.push_back({key, s.median, s.spread, s.count, source});
  }
  return rows;
}

}  // namespace strata
