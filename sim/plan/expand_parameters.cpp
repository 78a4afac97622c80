// Parameters: where they and their gradients lie, and what replicas that share gradients sum.

#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"

namespace strata {
namespace {

// A device's gradients of a bucket lie in one buffer, which takes the name of the layer that ends
// it.
void place_gradients(Expansion& to, const Bucket& bucket) {
  const std::int64_t size = element_bytes(to.options.dtypes.gradients);
  const BucketPart& end = bucket.parts.back();
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    const BufferId buffer = add_values(to, BufferKind::parameter_gradients, end.layer_of(k),
                                       end.shards[k], bucket.values, Bytes{bucket.values * size});
    for (const BucketPart& part : bucket.parts) {
      const LayerId holder = part.layer_of(k);
      auto& gradients = to.parameters[holder()].gradients;
      gradients.resize(to.shards.of(holder).size());
      gradients[to.shards.slot(holder, part.shards[k])] = {buffer, part.first};
    }
  }
}

void place_shared(Expansion& to, std::size_t b) {
  const Bucket& bucket = to.step.buckets[b];
  SharedBucket& shared = to.shared.emplace_back();
  const bool parts = shares_parameters(to.options.sync, bucket);
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    const std::int64_t own = interval_of(bucket, k).size();
    const BufferId parameters =
        add_bucket_values(to, BufferKind::parameters, bucket, k, parts ? own : bucket.values);
    for (const BucketPart& part : bucket.parts) {
      const LayerId holder = part.layer_of(k);
      LayerParameters& layer = to.parameters[holder()];
      layer.shared.resize(to.shards.of(holder).size());
      layer.buffers.resize(layer.shared.size());
      const std::size_t at = to.shards.slot(holder, part.shards[k]);
      layer.shared[at] = {b, shared.replicas.size(), part.first};
      if (!parts) layer.buffers[at] = {parameters, part.first};
    }
    shared.replicas.push_back(k);
    shared.parameters.push_back(parameters);
    shared.gradients.push_back(
        shares_gradients(to.options.sync, bucket)
            ? add_bucket_values(to, BufferKind::parameter_gradients, bucket, k, own)
            : BufferId{});
  }
  shared.reduced.resize(shared.replicas.size());
}

// Of those that end with one layer, at once.
void choose_algorithms(Expansion& to) {
  const std::vector<Bucket>& buckets = to.step.buckets;
  for (std::size_t first = 0; first < buckets.size();) {
    const LayerId end = buckets[first].parts.back().layer;
    std::vector<const Bucket*> together;
    std::size_t b = first;
    for (; b < buckets.size() && buckets[b].parts.back().layer == end; ++b) {
      if (is_expanded(to, buckets[b])) together.push_back(&buckets[b]);
    }
    if (!together.empty()) {
      const SyncAlgorithm algorithm = algorithm_of(to, together);
      for (std::size_t k = first; k < b; ++k) to.shared[k].algorithm = algorithm;
    }
    first = b;
  }
}

// Both are cut so that each device holds the same part (validate()).
void share_parameters(Expansion& to, LayerId layer, LayerId holder) {
  LayerParameters& own = to.parameters[layer()];
  const LayerParameters& owned = to.parameters[holder()];
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t from = to.shards.slot_beside(holder, layer, shard);
    own.buffers.push_back(owned.buffers[from]);
    if (!owned.gradients.empty()) own.gradients.push_back(owned.gradients[from]);
  }
}

void place_round_gradients(Expansion& to, Round& round, std::size_t bucket) {
  const Bucket& all = to.step.buckets[bucket];
  for (const std::size_t replica : to.shared[bucket].replicas) {
    round.gradients[bucket].push_back(
        add_bucket_values(to, BufferKind::round_gradients, all, replica, all.values));
  }
}

}  // namespace

bool is_expanded(const Expansion& to, const Bucket& bucket) {
  return std::any_of(bucket.devices.begin(), bucket.devices.end(),
                     [&](DeviceId device) { return to.shards.has_tasks(device); });
}

Interval interval_of(const Bucket& bucket, std::size_t replica) {
  return share_of(bucket.values, bucket.devices.size(), replica);
}

BufferId add_bucket_values(Expansion& to, BufferKind kind, const Bucket& bucket,
                           std::size_t replica, std::int64_t values) {
  if (values == 0) return {};
  const BucketPart& end = bucket.parts.back();
  const DType type = kind == BufferKind::parameters || kind == BufferKind::gathered_parameters
                         ? to.options.dtypes.parameters
                         : to.options.dtypes.gradients;
  return add_values(to, kind, end.layer_of(replica), end.shards[replica], values,
                    Bytes{values * element_bytes(type)});
}

void place_buckets(Expansion& to) {
  const std::vector<Bucket>& buckets = to.step.buckets;
  if (to.options.sync.shares()) {
    for (std::size_t b = 0; b < buckets.size(); ++b) place_shared(to, b);
    choose_algorithms(to);
  }
  for (const Bucket& bucket : buckets) {
    if (bucket.frozen || shares_gradients(to.options.sync, bucket)) continue;
    place_gradients(to, bucket);
  }
}

void place_parameters(Expansion& to, LayerId layer) {
  LayerParameters& own = to.parameters[layer()];
  if (std::exchange(own.placed, true)) return;
  const LayerId holder = to.step[layer].holder;
  if (holder != layer) return share_parameters(to, layer, holder);
  const bool trains = to.step[layer].trains;
  const bool shared = !own.shared.empty();
  own.added.resize(to.shards.of(layer).size());
  if (trains) own.gradients.resize(to.shards.of(layer).size());
  if (shared) return;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::int64_t held =
        shard_parameters(to.graph[layer], to.shards.tile(layer, shard)).total();
    const auto add = [&](BufferKind kind, Bytes bytes) {
      return add_values(to, kind, layer, shard, held, bytes);
    };
    const Bytes bytes = held_bytes(to.graph[layer], held, to.options.dtypes.parameters);
    own.buffers.push_back({add(BufferKind::parameters, bytes)});
    if (!trains) continue;
    Values& gradients = own.gradients[to.shards.slot(layer, shard)];
    if (gradients.buffer.valid()) continue;
    gradients = {add(BufferKind::parameter_gradients,
                     Bytes{held * element_bytes(to.options.dtypes.gradients)})};
  }
}

Values parameters_of(const Expansion& to, LayerId layer, std::size_t shard) {
  const HeldAt held = held_at(to, layer, shard);
  return to.parameters[held.holder()].buffers[held.slot];
}

const InBucket* gradients_shared_at(const Expansion& to, LayerId holder, std::size_t slot) {
  const std::vector<InBucket>& shared = to.parameters[holder()].shared;
  if (shared.empty()) return nullptr;
  const InBucket& lies = shared[slot];
  return shares_gradients(to.options.sync, to.step.buckets[lies.bucket]) ? &lies : nullptr;
}

Values gradients_of(Expansion& to, Round& round, LayerId layer, std::size_t shard) {
  const HeldAt held = held_at(to, layer, shard);
  const InBucket* lies = gradients_shared_at(to, held.holder, held.slot);
  if (lies == nullptr) return to.parameters[held.holder()].gradients[held.slot];
  if (round.gradients[lies->bucket].empty()) place_round_gradients(to, round, lies->bucket);
  return {round.gradients[lies->bucket][lies->replica], lies->first};
}

TaskId& last_added(Expansion& to, Round& round, LayerId layer, std::size_t shard) {
  const HeldAt held = held_at(to, layer, shard);
  if (gradients_shared_at(to, held.holder, held.slot) == nullptr) {
    return to.parameters[held.holder()].added[held.slot];
  }
  std::vector<TaskId>& added = round.added[held.holder()];
  added.resize(to.shards.of(held.holder).size());
  return added[held.slot];
}

void wait_for_readers(const Expansion& to, LayerId layer, std::size_t shard,
                      std::vector<TaskId>& after) {
  const LayerParameters& own = to.parameters[layer()];
  if (!own.read.empty()) after.push_back(own.read[to.shards.slot(layer, shard)]);
  if (!to.graph[layer].weight_of.valid()) return;
  for (std::size_t i = layer() + 1; i < to.graph.size(); ++i) {  // with this copy
    const LayerId other(i);
    const std::vector<TaskId>& read = to.parameters[i].read;
    if (to.step[other].holder != layer || read.empty()) continue;
    after.push_back(read[to.shards.slot_beside(other, layer, shard)]);
  }
}

// Each replica's interval of what the round, or all of them, made.
void expand(Expansion& to, const Action& action, const ReduceScatter& reduce) {
  const std::uint32_t b = reduce.bucket;
  const Bucket& bucket = to.step.buckets[b];
  if (!is_expanded(to, bucket)) return;
  Round& round = to.round_of(action);
  SharedBucket& shared = to.shared[b];
  Group sum = bucket_group(to, bucket, shared.algorithm, GroupWork::reduce_scatter);
  const BucketPart& first = bucket.parts.front();
  std::vector<std::vector<TaskId>> after;
  for (std::size_t at = 0; at < shared.replicas.size(); ++at) {
    const std::size_t replica = shared.replicas[at];
    sum.buffers.push_back(
        gradients_of(to, round, first.layer_of(replica), first.shards[replica]).buffer);
    std::vector<TaskId>& own = after.emplace_back();
    for (const BucketPart& part : bucket.parts) {
      own.push_back(last_added(to, round, part.layer_of(replica), part.shards[replica]));
    }
    if (shared.reduced[at].valid()) own.push_back(shared.reduced[at]);
  }
  if (shares_gradients(to.options.sync, bucket)) {
    sum.results = shared.gradients;
    sum.adds = shared.reduced.front().valid();
  }
  shared.sum = to.builder.add_group(std::move(sum));
  Task kind;
  kind.kind = TaskKind::reduce;
  kind.phase = Phase::backward_weights;
  shared.reduced = join_bucket(to, bucket, shared.sum, kind, after);
}

namespace {

/// Of alike buckets, the replicas that hold the same interval, a device of each group: those that
/// have tasks.
struct HoldersOfInterval {
  std::vector<DeviceId> devices;  // all of them
  std::vector<Task> tasks;
  std::vector<TaskId*> reduced;
  std::vector<BufferId> gradients;
};

HoldersOfInterval holders_of(Expansion& to, const SumIntervals& sum, std::size_t replica) {
  HoldersOfInterval holders;
  for (std::uint32_t b = sum.first; b < sum.first + sum.alike; ++b) {
    const Bucket& bucket = to.step.buckets[b];
    holders.devices.push_back(bucket.devices[replica]);
    if (!to.shards.has_tasks(bucket.devices[replica])) continue;
    SharedBucket& shared = to.shared[b];
    const auto found = std::find(shared.replicas.begin(), shared.replicas.end(), replica);
    const auto at = static_cast<std::size_t>(found - shared.replicas.begin());
    const BucketPart& end = bucket.parts.back();
    const LayerId layer = end.layer_of(replica);
    holders.tasks.push_back(
        to.task(TaskKind::collective, Phase::update, layer, end.shards[replica]));
    holders.reduced.push_back(&shared.reduced[at]);
    const std::size_t slot = to.shards.slot(layer, end.shards[replica]);
    holders.gradients.push_back(shares_gradients(to.options.sync, bucket)
                                    ? shared.gradients[at]
                                    : to.parameters[layer()].gradients[slot].buffer);
  }
  return holders;
}

std::vector<SummedLayer> layers_within(const Expansion& to, const Bucket& bucket,
                                       const Interval& own) {
  const std::int64_t size = element_bytes(to.options.dtypes.gradients);
  std::vector<SummedLayer> layers;
  for (const BucketPart& part : bucket.parts) {
    const Tile tile = partition(to.graph[part.layer], to.strategy[part.layer].degrees)
                          .tile(static_cast<std::int64_t>(part.shards.front()));
    const std::int64_t held = shard_parameters(to.graph[part.layer], tile).total();
    const Interval within = intersect(own, {part.first, part.first + held});
    if (within.empty()) continue;
    layers.push_back({part.layer, Bytes{within.size() * size}, within.begin - own.begin});
  }
  return layers;
}

SyncAlgorithm algorithm_between(Expansion& to, const std::vector<DeviceId>& devices, Bytes bytes) {
  const SyncAlgorithm chosen = to.options.sync.algorithm;
  if (chosen != SyncAlgorithm::automatic) return chosen;
  const ReplicaGroup group{devices, bytes};
  return to.memo.sync_costs().cheapest(collective_algorithms(), std::span(&group, 1), 0);
}

void sum_interval(Expansion& to, const SumIntervals& sum, std::size_t replica) {
  const Bucket& bucket = to.step.buckets[sum.first];
  const Interval own = interval_of(bucket, replica);
  HoldersOfInterval holders = holders_of(to, sum, replica);
  if (holders.tasks.empty() || own.empty()) return;
  const Bytes bytes{own.size() * element_bytes(to.options.dtypes.gradients)};
  const SyncAlgorithm algorithm = algorithm_between(to, holders.devices, bytes);
  Group all{GroupPurpose::parameters, algorithm, group_shape(to, algorithm, holders.devices, bytes),
            bytes};
  all.values = own.size();
  all.first = shares_gradients(to.options.sync, bucket) ? 0 : own.begin;
  all.counts.assign(holders.tasks.size(), 1);
  all.layers = layers_within(to, bucket, own);
  all.buffers = std::move(holders.gradients);
  const std::uint32_t group = to.builder.add_group(std::move(all));
  std::vector<std::vector<TaskId>> after;
  std::vector<TaskId> made;
  for (const TaskId* reduced : holders.reduced) {
    after.push_back({*reduced});
    made.push_back(*reduced);
  }
  Task kind;
  kind.phase = Phase::update;
  const std::vector<TaskId> summed =
      have_copy_engines(to, holders.tasks)
          ? join_in_turn(to, std::move(holders.tasks), group, kind, after)
          : sum_by_hand(to, group, holders.tasks, made);
  for (std::size_t k = 0; k < summed.size(); ++k) *holders.reduced[k] = summed[k];
}

}  // namespace

void expand(Expansion& to, const Action&, const SumIntervals& sum) {
  const std::size_t replicas = to.step.buckets[sum.first].devices.size();
  for (std::size_t k = 0; k < replicas; ++k) sum_interval(to, sum, k);
}

}  // namespace strata
