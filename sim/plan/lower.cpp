#include "sim/plan/lower.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/classify_devices.h"
#include "sim/plan/lowering.h"
#include "sim/step/shard_groups.h"
#include "sim/strategy/shared_weight.h"

namespace strata {

namespace {

LoweredShards all_shards(const Config& config) {
  std::vector<std::uint32_t> all(config.devices.size());
  std::iota(all.begin(), all.end(), 0u);
  return {all, all};
}

// Those on the devices that stand for their classes, each of which has one for the whole class.
LoweredShards shards_of_classes(const Config& config, const DeviceClasses& classes) {
  LoweredShards lowered;
  std::map<DeviceId, std::uint32_t> slots;
  for (std::uint32_t shard = 0; shard < config.devices.size(); ++shard) {
    if (!classes.is_representative(config.devices[shard])) continue;
    slots.emplace(config.devices[shard], static_cast<std::uint32_t>(lowered.shards.size()));
    lowered.shards.push_back(shard);
  }
  for (DeviceId device : config.devices) {
    lowered.slots.push_back(slots.at(classes.representative(device)));
  }
  return lowered;
}

// A plan has one rule for all its updates.
Optimizer optimizer_of(std::span<const KernelTraits> kernels) {
  const auto differs = [](const KernelTraits& a, const KernelTraits& b) {
    return a.optimizer != b.optimizer;
  };
  if (std::ranges::adjacent_find(kernels, differs) != kernels.end()) {
    throw InternalError("the devices of one plan update by different optimizers");
  }
  return kernels.empty() ? Optimizer::sgd : kernels.front().optimizer;
}

}  // namespace

Lowering::Lowering(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                   const LowerOptions& options, LoweringMemo& memo,
                   std::shared_ptr<const DeviceClasses> classes)
    : graph_(graph),
      cluster_(cluster),
      strategy_(strategy),
      options_(options),
      classes_(std::move(classes)),
      builder_(options.dtypes.values, cluster.device_count(), options.rounds),
      requires_gradient_(requires_gradient(graph)),
      ordinals_(parameter_ordinals(graph)),
      parameters_(graph.size()),
      rounds_(options.rounds),
      in_turn_(options.rounds > 1 || options.schedule.is_given()),
      rounds_left_(graph.size()),
      last_sync_(cluster.device_count()),
      memo_(memo),
      shared_by_rounds_(graph.size()),
      sync_costs_(memo.sync_costs()),
      in_place_(graph.size()),
      output_is_read_(graph.size()) {
  builder_.update_by(optimizer_of(options.kernels));
  if (!strategy.segments().empty()) {
    again_layers_ = computed_again(graph, strategy.segments(), keeping_most(options.kernels));
  }
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster[DeviceId(d)].puts_together()) builder_.assemble(DeviceId(d));
  }
  if (classes_) builder_.lower_classes(classes_);
  partitions_.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    partitions_.push_back(partition(graph[LayerId(i)], strategy[LayerId(i)].degrees));
    gets_whole_gradient_.push_back(gets_whole_gradient(graph, strategy, LayerId(i)));
    shared_readers_.push_back(strata::shared_reader(graph, strategy, LayerId(i)));
    const LayerId holder = weight_holder(graph, LayerId(i), strategy.configs());
    holders_.push_back(holder);
    rounds_left_[holder()] += options.rounds;
    const LayerId owner = graph[LayerId(i)].weight_of;
    copied_.push_back(owner.valid() && holder == LayerId(i));
    if (copied_.back()) copied_[owner()] = true;
  }
  const Config* before = nullptr;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Config& config = strategy[LayerId(i)];
    const bool lies_as_before = before != nullptr && before->devices == config.devices;
    if (is_input(LayerId(i))) {  // nothing of it is lowered
      lowered_.push_back(std::make_shared<const LoweredShards>());
    } else if (lies_as_before) {
      lowered_.push_back(lowered_.back());
    } else {
      lowered_.push_back(std::make_shared<const LoweredShards>(
          classes_ ? shards_of_classes(config, *classes_) : all_shards(config)));
    }
    before = is_input(LayerId(i)) ? nullptr : &config;
  }
}

bool Lowering::is_input(LayerId layer) const {
  return strata::is_input(graph_[layer].op);
}

Box Lowering::held_box(LayerId layer, std::size_t shard) const {
  return partitions_[layer()].held(static_cast<std::int64_t>(shard));
}

Box Lowering::owned_box(LayerId layer, std::size_t shard) const {
  if (gets_whole_gradient_[layer()]) return shard_tile(layer, shard);
  return partitions_[layer()].box(static_cast<std::int64_t>(shard));
}

Tile Lowering::shard_tile(LayerId layer, std::size_t shard) const {
  return partitions_[layer()].tile(static_cast<std::int64_t>(shard));
}

std::size_t Lowering::slot_beside(LayerId other, LayerId layer, std::size_t shard) const {
  const DeviceId device = device_of(layer, shard);
  const ShardDevices& devices = strategy_[other].devices;
  if (devices[shard] == device) return slot(other, shard);
  const auto at = std::find(devices.begin(), devices.end(), device);
  if (at == devices.end()) throw InternalError("layers that share a weight lie on other devices");
  return slot(other, static_cast<std::size_t>(at - devices.begin()));
}

bool Lowering::trains(LayerId layer) const {
  const LayerId owner = graph_[layer].weight_of;
  if (owner.valid()) return holders_[layer()] == layer && trains(owner);
  return step_phases(graph_, layer, requires_gradient_)[Phase::update];
}

void Lowering::begin_round(std::uint32_t round) {
  std::unique_ptr<Round>& begun = rounds_[round];
  if (!begun) {
    begun = std::make_unique<Round>(graph_.size());
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      begun->delivered[i].resize(lowered(LayerId(i)).size());
    }
    if (shares_gradients()) {
      begun->gradients.resize(buckets_.size());
      for (const Bucket& bucket : buckets_) {
        std::size_t& left = begun->parts_left.emplace_back();
        for (const BucketPart& part : bucket.parts) left += 1 + part.copies.size();
      }
      begun->layers_left.resize(graph_.size());
      for (LayerId holder : holders_) ++begun->layers_left[holder()];
    }
  }
  round_ = begun.get();
}

void Lowering::look_at_limits() const {
  throw_if_cancelled(options_.cancelled);
  if (builder_.so_far().size() > options_.most_tasks) throw TooManyTasks{};
}

void Lowering::lower_instance(const Instance& instance, const Stages& stages) {
  begin_round(instance.round);
  const bool all = stages.stages() <= 1;
  const std::size_t first = all ? 0 : stages.chunks[instance.chunk].first();
  const std::size_t end = all ? graph_.size() : stages.chunks[instance.chunk].last() + 1;
  if (instance.pass == Pass::forward) {
    for (std::size_t i = first; i < end; ++i) {
      look_at_limits();
      lower_forward(LayerId(i));
    }
    return;
  }
  const BackwardPass pass{.data = instance.pass != Pass::backward_weights,
                          .weights = instance.pass != Pass::backward_inputs};
  for (std::size_t i = end; i-- > first;) {
    const LayerId layer(i);
    look_at_limits();
    lower_backward(layer, pass);
    if (!pass.weights) continue;
    const LayerId holder = holders_[i];
    if (shares_gradients() && trains(holder)) reduce_round(holder);
    if (--rounds_left_[holder()] == 0 && trains(holder)) synchronise(holder);
  }
  if (pass.weights && (layers_left_[instance.round] -= end - first) == 0) {
    rounds_[instance.round].reset();
  }
}

Plan Lowering::run() && {
  check(options_.sync);
  place_buckets();
  stages_ = stages_of(graph_, strategy_);
  shared_readings_ = shared_readings(graph_, strategy_, stages_);
  for (const auto& [other, first] : shared_readings_) read_with_[first].push_back(other);
  // Of one round, what a device computes first follows from what it waits for.
  const Pipeline pipeline = in_turn_ ? pipeline_of(graph_, stages_) : Pipeline{};
  std::size_t layers = stages_.stages() == 1 || !in_turn_ ? graph_.size() : 0;
  if (layers == 0) {
    for (const Chunk& chunk : stages_.chunks) layers += chunk.last() + 1 - chunk.first();
  }
  layers_left_.assign(options_.rounds, layers);
  const std::vector<Instance> order = instances(options_.schedule, pipeline, options_.rounds);
  if (shares_parameters()) plan_openings(order, in_turn_ ? stages_ : Stages{});
  for (const Instance& instance : order) {
    builder_.begin_instance(instance.round, in_turn_);
    lower_instance(instance, in_turn_ ? stages_ : Stages{});
    ++instance_;
    // Half of the instances are backward passes, which have more.
    if (instance_ == order.size() / 4 && options_.rounds > 4) builder_.expect(5);
  }
  for (const auto& update : late_updates_) update();
  if (options_.sync.shares()) gather_updated();
  std::vector<Placement> placements;
  for (const Config& config : strategy_.configs()) {
    placements.push_back({config.degrees, config.devices});
  }
  builder_.place(std::move(placements));
  return std::move(builder_).build();
}

Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options) {
  LoweringMemo own(graph, cluster);
  LoweringMemo& memo = options.memo != nullptr ? *options.memo : own;
  return Lowering(graph, cluster, strategy, options, memo, nullptr).run();
}

Plan lower_by_class(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const LowerOptions& options, std::span<const std::uint32_t> cost_models) {
  LoweringMemo own(graph, cluster);
  LoweringMemo& memo = options.memo != nullptr ? *options.memo : own;
  DeviceClasses found =
      find_device_classes(graph, cluster, strategy, options, cost_models, memo.sync_costs());
  std::shared_ptr<const DeviceClasses> classes;
  if (!found.is_trivial()) classes = memo.classes(std::move(found));
  return Lowering(graph, cluster, strategy, options, memo, std::move(classes)).run();
}

}  // namespace strata
