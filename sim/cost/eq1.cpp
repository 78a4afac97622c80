#include "sim/cost/eq1.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/cost/transfer_table.h"
#include "sim/graph/regions.h"
#include "sim/step/buckets.h"
#include "sim/step/shard_groups.h"
#include "sim/strategy/shared_weight.h"

namespace strata {
namespace {

/// Of shards; an edge of more asks a table.
constexpr std::size_t kManyPairs = 1024;

bool on_first_devices(const Config& config) {
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    if (config.devices[i] != DeviceId(i)) return false;
  }
  return true;
}

// The time of the most loaded link, plus the longest route's latency. Loads are whole bytes, so
// that the sum is exact whatever its order (TransferTable takes another).
class BoxExchange {
 public:
  BoxExchange(const Cluster& cluster, const DeviceClasses* classes)
      : cluster_(cluster), classes_(classes), bytes_(cluster.links().size()) {}

  /// `bytes`: of all transfers that are alike, which cross the links of a class equally.
  void add(DeviceId from, DeviceId to, double bytes) {
    for (LinkId link : cluster_.route(from, to)) {
      bytes_[classes_ == nullptr ? link() : classes_->representative(link)()] += bytes;
    }
    latency_ = std::max(latency_, cluster_.latency(from, to));
  }
  Seconds time() const {
    Seconds slowest;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const LinkId link(i);
      const std::int64_t members = classes_ == nullptr ? 1 : classes_->members(link);
      const double bytes = bytes_[i] / static_cast<double>(members);
      slowest = std::max(slowest, Seconds{bytes / cluster_[link].bandwidth.value});
    }
    return latency_ + slowest;
  }

 private:
  const Cluster& cluster_;
  const DeviceClasses* classes_;
  std::vector<double> bytes_;  // by link
  Seconds latency_;
};

// The devices of each group of shards; `bytes_of` gives what a group's box holds.
template <class BytesOf>
std::vector<Bytes> group_bytes(const Layer& layer, const Config& config,
                               const std::vector<std::vector<std::uint32_t>>& groups,
                               const BytesOf& bytes_of) {
  const Partition cut = partition(layer, config.degrees);
  std::vector<Bytes> result;
  result.reserve(groups.size());
  for (const auto& shards : groups) result.push_back(bytes_of(cut.tile(shards.front())));
  return result;
}

std::vector<std::vector<DeviceId>> group_devices(
    const Config& config, const std::vector<std::vector<std::uint32_t>>& groups) {
  std::vector<std::vector<DeviceId>> result;
  result.reserve(groups.size());
  for (const auto& shards : groups) result.push_back(devices_of(config, shards));
  return result;
}

}  // namespace

Eq1::Eq1(const Graph& graph, const Cluster& cluster, std::span<const CostModel* const> models,
         SyncAlgorithm sync, const ComputeSettings& settings, LoweringMemo* memo,
         const DeviceClasses* classes)
    : graph_(graph),
      cluster_(cluster),
      models_(models),
      sync_(sync),
      dtypes_(settings.dtypes),
      costs_(graph, settings),
      own_memo_(graph, cluster),
      memo_(memo != nullptr ? *memo : own_memo_),
      sync_costs_(memo_.sync_costs()),
      ordinals_(parameter_ordinals(graph)),
      classes_(classes) {}

Seconds Eq1::compute(LayerId layer, const Config& config, const LayerCounts& counts,
                     std::uint32_t rounds) {
  const Partition cut = partition(graph_[layer], config.degrees);
  std::array<double, kKernelPhases> times{};
  for (std::size_t phase = 0; phase < kKernelPhases; ++phase) {
    times[phase] = counts.times(static_cast<Phase>(phase), rounds);
  }
  Seconds slowest;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    if (classes_ != nullptr && !classes_->is_representative(device)) continue;
    const PhaseCosts& costs =
        costs_(layer, cut.tile(static_cast<std::int64_t>(shard)), *models_[device()]);
    Seconds sum;
    for (std::size_t phase = 0; phase < kKernelPhases; ++phase) {
      if (times[phase] > 0) sum += times[phase] * costs[phase].seconds;
    }
    slowest = std::max(slowest, sum / cluster_[device].speed);
  }
  return slowest;
}

// One entry of the edge's table: the same loads, without looking at every pair of shards.
Seconds Eq1::transfer_by_table(LayerId consumer, std::size_t input, const Degrees& producer,
                               const Degrees& consumer_degrees, bool returns) {
  if (!network_) network_ = std::make_unique<const GroupNetwork>(cluster_, cancelled_);
  const Cuts from = {row_major_cut(producer)}, to = {row_major_cut(consumer_degrees)};
  const std::vector<std::uint32_t> groups = network_->all_groups();
  const TransferTable table(*network_, groups, 1, graph_, consumer, input, from, to,
                            static_cast<double>(element_bytes(dtypes_.values)), returns);
  TransferTable::Scratch scratch;
  Seconds result;
  table.fill(0, 1, scratch, &result.value);
  return result;
}

Seconds Eq1::transfer(LayerId consumer, std::size_t input, const Config& producer_config,
                      const Config& consumer_config, bool returns) {
  const LayerId producer = graph_[consumer].inputs[input];
  if (is_input(graph_[producer].op)) return {};
  if (reads_own_shard(graph_, consumer, input, producer_config, consumer_config)) return {};
  const bool copies = has_copies(graph_[producer], producer_config) ||
                      has_copies(graph_[consumer], consumer_config);
  if (copies || classes_ != nullptr) {
    const auto boxes =
        memo_.boxes(consumer, input, producer_config, consumer_config, !returns, classes_);
    const Seconds read = exchange_time(boxes, returns && !copies ? Way::both : Way::read);
    return returns && copies ? read + exchange_time(boxes, Way::returned) : read;
  }
  const bool wide = producer_config.devices.size() * consumer_config.devices.size() > kManyPairs;
  if (wide && on_first_devices(producer_config) && on_first_devices(consumer_config)) {
    return transfer_by_table(consumer, input, producer_config.degrees, consumer_config.degrees,
                             returns);
  }
  const auto boxes = needed_boxes(graph_, consumer, input, producer_config, consumer_config);
  return strata::exchange_time(boxes, cluster_, element_bytes(dtypes_.values), returns);
}

Seconds Eq1::exchange_time(const std::shared_ptr<const ClassBoxes>& boxes, Way way) {
  const auto [at, fresh] = times_.try_emplace({boxes, way});
  if (!fresh) return at->second;
  const std::int64_t size = element_bytes(dtypes_.values);
  if (way != Way::returned) {
    at->second = strata::exchange_time(boxes->read, cluster_, size, way == Way::both, classes_);
    return at->second;
  }
  std::vector<NeededBox> back = boxes->returned;
  for (NeededBox& box : back) std::swap(box.owner, box.reader);
  return at->second = strata::exchange_time(back, cluster_, size, false, classes_);
}

Seconds Eq1::partial_sums(LayerId layer, const Config& config, bool returns) {
  if (config.degrees.r == 1) return {};
  const bool copies = has_copies(graph_[layer], config);
  if (copies && !returns) return {};
  const auto boxes = memo_.sums(layer, config, classes_);
  // Every copy gets the parts of its output's gradient that others own.
  return exchange_time(boxes, copies ? Way::returned : returns ? Way::both : Way::read);
}

Seconds Eq1::statistics_time(LayerId layer, const Config& config) {
  const Layer& l = graph_[layer];
  const PhaseSet& sums = counts()[layer()].sums_statistics;
  if (!sums[Phase::forward_statistics] && !sums[Phase::backward_statistics]) return {};
  const auto groups = shard_groups(config.degrees, statistics(l, whole(l.output)).over);
  if (groups.front().size() < 2) return {};
  const JointSync& joint = sync_costs_.joint(group_devices(config, groups));
  const auto time = [&](Phase phase) {
    if (!sums[phase]) return Seconds{};
    const auto bytes = group_bytes(l, config, groups,
                                   [&](const Box& box) { return statistics(l, box).bytes(phase); });
    return joint.time(joint.cheapest(statistics_algorithms(), bytes, 0), bytes, 0);
  };
  return time(Phase::forward_statistics) + time(Phase::backward_statistics);
}

Seconds Eq1::sync(LayerId layer, const Config& config, std::uint32_t rounds) {
  const Layer& l = graph_[layer];
  const Seconds exchange = static_cast<double>(rounds) * statistics_time(layer, config);
  const auto parts = replica_shards(l, config.degrees);
  if (!counts()[layer()].updates || parts.front().size() < 2) return exchange;
  const auto bytes = group_bytes(l, config, parts, [&](const Tile& shard) {
    return Bytes{shard_parameters(l, shard).total() * element_bytes(dtypes_.gradients)};
  });
  return exchange + gradient_time(layer, group_devices(config, parts), bytes);
}

Seconds Eq1::gradient_time(LayerId layer, const std::vector<std::vector<DeviceId>>& groups,
                           const std::vector<Bytes>& bytes) {
  const JointSync& joint = sync_costs_.joint(groups);
  const std::uint32_t ordinal = ordinals_[layer()];
  const SyncAlgorithm algorithm = sync_ == SyncAlgorithm::automatic
                                      ? joint.cheapest(parameter_algorithms(), bytes, ordinal)
                                      : sync_;
  return joint.time(algorithm, bytes, ordinal);
}

// The owner sums the gradients of all copies of its weight.
Seconds Eq1::sync_with_copies(LayerId owner, const Strategy& strategy, std::uint32_t rounds) {
  const bool copied = !weight_copies(graph_, owner, strategy.configs()).empty();
  if (!copied || !counts()[owner()].updates) return sync(owner, strategy[owner], rounds);
  std::vector<bool> alone(graph_.size());
  alone[owner()] = true;
  const std::int64_t size = element_bytes(dtypes_.gradients);
  std::vector<std::vector<DeviceId>> groups;
  std::vector<Bytes> bytes;
  for (Bucket& bucket : gradient_buckets(graph_, strategy, alone, Bytes{}, size)) {
    groups.push_back(std::move(bucket.devices));
    bytes.push_back(Bytes{bucket.values * size});
  }
  return gradient_time(owner, groups, bytes);
}

std::vector<LayerTerms> Eq1::terms(const Strategy& strategy, std::span<const LayerCounts> counts,
                                   std::uint32_t rounds, const std::atomic<bool>* cancelled) {
  cancelled_ = cancelled;
  std::vector<LayerTerms> result(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId layer(i);
    if (is_input(graph_[layer].op)) continue;
    throw_if_cancelled(cancelled);
    result[i].compute = compute(layer, strategy[layer], counts[i], rounds);
    result[i].sync = sync_with_copies(layer, strategy, rounds);
    Seconds transfers = partial_sums(layer, strategy[layer], counts[i].spreads_gradient);
    const std::vector<LayerId>& inputs = graph_[layer].inputs;
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      if (!counts[i].reads[input]) continue;
      transfers += transfer(layer, input, strategy[inputs[input]], strategy[layer],
                            counts[i].returns[input]);
    }
    result[i].transfer = static_cast<double>(rounds) * transfers;
  }
  cancelled_ = nullptr;
  return result;
}

std::vector<LayerTerms> Eq1::terms(const Strategy& strategy, std::uint32_t rounds,
                                   const std::atomic<bool>* cancelled) {
  std::vector<KernelTraits> kernels;
  for (const CostModel* model : models_) kernels.push_back(model->kernels());
  StepOptions options;
  options.kernels = keeping_most(kernels);
  const Step step = make_step(graph_, strategy, options);
  return terms(strategy, count_actions(graph_, step), rounds, cancelled);
}

Seconds exchange_time(std::span<const NeededBox> boxes, const Cluster& cluster,
                      std::int64_t element_bytes, bool returns, const DeviceClasses* classes) {
  BoxExchange forward(cluster, classes), backward(cluster, classes);
  for (const NeededBox& needed : boxes) {
    if (needed.local()) continue;
    const std::int64_t readers = classes != nullptr ? classes->members(needed.reader) : 1;
    const auto bytes =
        static_cast<double>(volume(needed.box) * element_bytes * needed.copies * readers);
    forward.add(needed.owner, needed.reader, bytes);
    backward.add(needed.reader, needed.owner, bytes);
  }
  return returns ? forward.time() + backward.time() : forward.time();
}

Seconds total(std::span<const LayerTerms> terms) {
  Seconds sum;
  for (const LayerTerms& t : terms) sum += t.total();
  return sum;
}

}  // namespace strata
