#include "sim/cost/measured_costs.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace strata {
namespace {

std::vector<Extents> shape(const Extents& output, std::span<const Extents> inputs) {
  std::vector<Extents> all = {output};
  all.insert(all.end(), inputs.begin(), inputs.end());
  return all;
}

// An empty input (a concat's) counts as one element.
std::vector<double> logarithms(const std::vector<Extents>& shape) {
  std::vector<double> logs;
  for (const Extents& extents : shape) {
    for (std::int64_t extent : extents.values) {
      logs.push_back(std::log(static_cast<double>(std::max<std::int64_t>(1, extent))));
    }
  }
  return logs;
}

double sum(const std::vector<double>& logs, std::size_t first, std::size_t last) {
  double total = 0;
  for (std::size_t i = first; i < last; ++i) total += logs[i];
  return total;
}

// What the time grows with, up to a factor that all shapes of one signature share: output x input
// channels for a convolution, output x input features for a fully-connected layer, their product
// without the batch for an update, else all elements read and written.
double log_work(std::string_view signature, Phase phase, const std::vector<Extents>& shape) {
  const std::vector<double> logs = logarithms(shape);
  const auto channel = static_cast<std::size_t>(Dim::c), width = kDims.size();
  const bool fully_connected = signature.starts_with("fc");
  if (!fully_connected && !signature.starts_with("conv")) {
    if (phase == Phase::update) return logs[channel];
    double elements = 0;
    for (const Extents& extents : shape) elements += static_cast<double>(volume(extents));
    return std::log(elements);
  }
  const double in = fully_connected ? sum(logs, width + 1, 2 * width) : logs[width + channel];
  return in + (phase == Phase::update ? logs[channel] : sum(logs, 0, width));
}

// The distance, or nothing if the row is not near.
std::optional<double> distance(const std::vector<double>& a, const std::vector<double>& b) {
  const double limit = std::log(MeasuredCosts::kNear) * (1 + 1e-12);
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (d > limit) return std::nullopt;
    total += d;
  }
  return total;
}

}  // namespace

MeasuredCosts::MeasuredCosts(const std::vector<MeasuredCost>& rows) {
  for (const MeasuredCost& row : rows) {
    const CostKey& key = row.key;
    Group& group = groups_[{key.signature, key.dtype, key.phase, key.inputs.size(), key.optimizer}];
    std::vector<Extents> extents = shape(key.output, key.inputs);
    group.rows.push_back({logarithms(extents), log_work(key.signature, key.phase, extents),
                          row.seconds.value, row.relative_spread()});
    group.exact.emplace(std::move(extents), group.rows.size() - 1);
  }
}

std::optional<Cost> MeasuredCosts::operator()(const ShardWork& work, Phase phase) const {
  if (groups_.empty()) return std::nullopt;
  Name name{signature(*work.op, work.output, work.parameters), work.dtypes.values, phase,
            work.inputs.size(), phase == Phase::update ? work.optimizer : Optimizer::sgd};
  const auto group = groups_.find(name);
  if (group == groups_.end()) return std::nullopt;
  const std::vector<Extents> extents = shape(work.output, work.inputs);
  const auto row = group->second.exact.find(extents);
  if (row != group->second.exact.end()) {
    const Row& found = group->second.rows[row->second];
    return Cost{{found.seconds}, CostSource::measured, found.spread};
  }
  return between(group->second,
                 {logarithms(extents), log_work(name.signature, phase, extents), 0, 0});
}

std::optional<Cost> MeasuredCosts::between(const Group& group, const Row& asked) {
  const Row *less = nullptr, *more = nullptr;
  double to_less = 0, to_more = 0;
  for (const Row& row : group.rows) {
    const auto d = distance(row.extents, asked.extents);
    if (!d) continue;
    const bool below = row.log_work <= asked.log_work, above = row.log_work >= asked.log_work;
    if (below && (less == nullptr || *d < to_less)) less = &row, to_less = *d;
    if (above && (more == nullptr || *d < to_more)) more = &row, to_more = *d;
  }
  if (less == nullptr && more == nullptr) return std::nullopt;
  if (less == nullptr || more == nullptr) {
    const Row& only = less != nullptr ? *less : *more;
    const double step = asked.log_work - only.log_work;
    if (std::abs(step) > std::log(kReach) * (1 + 1e-12)) return std::nullopt;
    return Cost{{only.seconds * std::exp(step)}, CostSource::interpolated, only.spread};
  }
  const double range = more->log_work - less->log_work;
  const double at = range > 0 ? (asked.log_work - less->log_work) / range : 0.5;
  return Cost{{less->seconds * std::pow(more->seconds / less->seconds, at)},
              CostSource::interpolated,
              std::lerp(less->spread, more->spread, at)};
}

}  // namespace strata
