// Parameters: where they and their gradients lie, who gathers them and who updates them.

#include <algorithm>
#include <map>
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

// What the device that updates the shard's parameters keeps of them; invalid for nothing.
BufferId add_state(Expansion& to, LayerId layer, std::size_t shard, std::int64_t values) {
  const std::int64_t words = state_words(to.optimizer());
  if (words == 0) return {};
  return add_values(to, BufferKind::optimizer_state, layer, shard, words * values,
                    Bytes{values * state_bytes(to.optimizer(), to.options.dtypes.parameters)});
}

// Of the round that reads them, though another may be under way: so all rounds gather alike.
void gather_parameters(Expansion& to, const Action& action, Opening& opening,
                       std::vector<std::vector<TaskId>> after) {
  to.builder.recompute(false);
  const std::uint32_t under_way = to.builder.set_round(opening.round);
  const Bucket& bucket = to.step.buckets[opening.bucket];
  const SharedBucket& shared = to.shared[opening.bucket];
  for (const std::size_t replica : shared.replicas) {
    opening.buffers.push_back(
        add_bucket_values(to, BufferKind::gathered_parameters, bucket, replica, bucket.values));
  }
  Group all = bucket_group(to, bucket, shared.algorithm, GroupWork::all_gather);
  all.buffers = shared.parameters;
  all.results = opening.buffers;
  Task kind;
  kind.kind = TaskKind::gather;
  kind.phase = opening.phase;
  // Nothing else says that the last step's update has come to pass.
  for (const std::size_t before : opening.before) {
    for (const TaskId gathered : to.openings[before].ready) {
      const auto on = [&](std::size_t k) { return bucket.devices[shared.replicas[k]]; };
      for (std::size_t k = 0; k < after.size(); ++k) {
        if (to.builder.so_far()[gathered].device == on(k)) after[k].push_back(gathered);
      }
    }
  }
  opening.ready = join_bucket(to, bucket, to.builder.add_group(std::move(all)), kind, after);
  to.builder.set_round(under_way);
  to.builder.recompute(action.again_for.valid());
}

// The layers of the bucket compute with what this opening gathered.
void use_gathered(Expansion& to, const Opening& opening) {
  const SharedBucket& shared = to.shared[opening.bucket];
  for (std::size_t k = 0; k < shared.replicas.size(); ++k) {
    for (const BucketPart& part : to.step.buckets[opening.bucket].parts) {
      const LayerId holder = part.layer_of(shared.replicas[k]);
      LayerParameters& own = to.parameters[holder()];
      own.ready.resize(own.buffers.size());
      const std::size_t at = to.shards.slot(holder, part.shards[shared.replicas[k]]);
      own.buffers[at] = {opening.buffers[k], part.first};
      own.ready[at] = opening.ready[k];
    }
  }
}

// Each of its replicas gathers as the layer's own shard on the device is about to compute.
void gather_next(Expansion& to, const Action& action, const GatherParameters& gather,
                 Opening& next) {
  const Round& round = to.round_of(action);
  const LayerId layer = gather.layer;
  std::map<DeviceId, std::uint32_t> here;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    here.emplace(to.shards.device(layer, shard), shard);
  }
  std::vector<std::vector<TaskId>> after;
  for (const std::size_t replica : to.shared[next.bucket].replicas) {
    std::vector<TaskId>& own = after.emplace_back();
    const auto beside = here.find(to.step.buckets[next.bucket].devices[replica]);
    if (beside == here.end()) continue;
    if (gather.backward) {
      wait_for_gradient(to, round, layer, beside->second, own);
    } else {
      wait_for_inputs(to, round, layer, beside->second, own);
      wait_to_recompute(to, round, layer, beside->second, action.again_for, own);
    }
  }
  gather_parameters(to, action, next, std::move(after));
}

// The update may overwrite parameters only once the device's own backward passes have read them.
TaskId update_interval(Expansion& to, const Bucket& bucket, const SharedBucket& shared,
                       std::size_t at, std::span<const TaskId> after) {
  const GradientSync& sync = to.options.sync;
  const std::size_t replica = shared.replicas[at];
  const Interval own = interval_of(bucket, replica);
  const BucketPart& end = bucket.parts.back();
  const LayerId layer = end.layer_of(replica);
  const std::uint32_t shard = end.shards[replica];
  const std::int64_t values = own.size();
  const auto begin = [&](bool interval) { return interval ? 0 : own.begin; };
  const bool has_part = shares_gradients(sync, bucket);
  const BufferId gradients =
      has_part ? shared.gradients[at]
               : to.parameters[layer()].gradients[to.shards.slot(layer, shard)].buffer;
  std::vector<Operand> operands = {
      {shared.parameters[at], 0, Role::parameters, Access::update,
       begin(shares_parameters(sync, bucket)), values},
      {gradients, 0, Role::parameter_gradients, Access::read, begin(has_part), values}};
  if (const BufferId state = add_state(to, layer, shard, values); state.valid()) {
    operands.push_back({state, 0, Role::optimizer_state, Access::update, 0, values});
  }
  return to.builder.add(to.task(TaskKind::compute, Phase::update, layer, shard), after, operands);
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
    if (!shares_gradients(to.options.sync, bucket)) place_gradients(to, bucket);
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
    const auto add = [&](BufferKind kind, DType type) {
      return add_values(to, kind, layer, shard, held, Bytes{held * element_bytes(type)});
    };
    own.buffers.push_back({add(BufferKind::parameters, to.options.dtypes.parameters)});
    if (!trains) continue;
    Values& gradients = own.gradients[to.shards.slot(layer, shard)];
    if (gradients.buffer.valid()) continue;
    gradients = {add(BufferKind::parameter_gradients, to.options.dtypes.gradients)};
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

// The update may overwrite the parameters only once the layer's own backward pass has read them.
TaskId add_update(Expansion& to, LayerId layer, std::size_t shard, std::span<const TaskId> after,
                  std::span<const Piece> sent) {
  const LayerParameters& own = to.parameters[layer()];
  const std::size_t at = to.shards.slot(layer, shard);
  const Values& gradients = own.gradients[at];
  std::vector<TaskId> waits(after.begin(), after.end());
  wait_for_readers(to, layer, shard, waits);
  std::vector<Operand> operands = {
      {own.buffers[at].buffer, 0, Role::parameters, Access::update},
      {gradients.buffer, 0, Role::parameter_gradients, Access::read, gradients.first}};
  const std::int64_t held = shard_parameters(to.graph[layer], to.shards.tile(layer, shard)).total();
  if (const BufferId state = add_state(to, layer, shard, held); state.valid()) {
    operands.push_back({state, 0, Role::optimizer_state, Access::update});
  }
  return to.builder.add(to.task(TaskKind::compute, Phase::update, layer, shard), waits, operands,
                        sent);
}

void plan_openings(Expansion& to) {
  if (to.options.sync.zero < Zero::parameters) return;
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(to.cluster.device_count(), kNone);
  std::vector<std::size_t> seen(to.step.buckets.size(), kNone);
  const auto read = [&](const Action& action, const GatherParameters& gather,
                        std::size_t instance) {
    const LayerId holder = to.step[gather.layer].holder;
    for (const InBucket& lies : to.parameters[holder()].shared) {
      const Bucket& bucket = to.step.buckets[lies.bucket];
      if (!shares_parameters(to.options.sync, bucket)) continue;
      if (std::exchange(seen[lies.bucket], instance) == instance) continue;
      Opening opening{lies.bucket, gather.phase, action.round};
      std::size_t before = kNone;
      for (const std::size_t replica : to.shared[lies.bucket].replicas) {
        std::size_t& on = last[bucket.devices[replica]()];
        if (on != kNone && (before == kNone || on > before)) before = on;
        const bool known =
            std::find(opening.before.begin(), opening.before.end(), on) != opening.before.end();
        if (on != kNone && !known) opening.before.push_back(on);
        on = to.openings.size();
      }
      if (before != kNone) to.openings[before].next.push_back(to.openings.size());
      to.opens[&action].push_back(to.openings.size());
      to.openings.push_back(std::move(opening));
    }
  };
  for (std::size_t k = 0; k < to.step.instances.size(); ++k) {
    for (std::size_t i = to.step.instances[k].first; i < to.step.instances[k].last; ++i) {
      const Action& action = to.step.actions[i];
      const auto* gather = std::get_if<GatherParameters>(&action.work);
      if (gather != nullptr) read(action, *gather, k);
    }
  }
}

void expand(Expansion& to, const Action& action, const GatherParameters& gather) {
  const auto at = to.opens.find(&action);
  if (at == to.opens.end()) return;
  const std::vector<std::size_t> opened = std::move(at->second);
  to.opens.erase(at);
  for (const std::size_t number : opened) {
    Opening& opening = to.openings[number];
    if (opening.buffers.empty()) {
      const std::size_t replicas = to.shared[opening.bucket].replicas.size();
      gather_parameters(to, action, opening, std::vector<std::vector<TaskId>>(replicas));
    }
    use_gathered(to, opening);
  }
  for (const std::size_t number : opened) {
    for (const std::size_t next : to.openings[number].next) {
      gather_next(to, action, gather, to.openings[next]);
    }
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

void expand(Expansion& to, const Action&, const UpdateLayer& update) {
  const LayerId layer = update.layer;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const TaskId gradient = to.parameters[layer()].added[to.shards.slot(layer, shard)];
    add_update(to, layer, shard, std::span(&gradient, 1));
  }
}

// One after another, as a device does them anyway: only the last one ends the use of the buffer.
void expand(Expansion& to, const Action&, const UpdateBucket& update) {
  const Bucket& bucket = to.step.buckets[update.bucket];
  const std::vector<TaskId>& summed = to.summed[update.bucket];
  if (summed.empty()) return;
  std::vector<TaskId> updated(summed.size());
  for (const BucketPart& part : bucket.parts) {
    std::size_t at = 0;
    for (std::size_t replica = 0; replica < bucket.devices.size(); ++replica) {
      if (!to.shards.has_tasks(bucket.devices[replica])) continue;
      const TaskId after[] = {summed[at], updated[at]};
      updated[at] = add_update(to, part.layer_of(replica), part.shards[replica],
                               std::span(after, updated[at].valid() ? 2 : 1));
      ++at;
    }
  }
}

void expand(Expansion& to, const Action&, const UpdateInterval& update) {
  const Bucket& bucket = to.step.buckets[update.bucket];
  if (!is_expanded(to, bucket)) return;
  SharedBucket& shared = to.shared[update.bucket];
  std::vector<TaskId> updates;
  for (std::size_t at = 0; at < shared.replicas.size(); ++at) {
    std::vector<TaskId>& own = shared.updated.emplace_back(1, shared.reduced[at]);
    const std::size_t replica = shared.replicas[at];
    for (const BucketPart& part : bucket.parts) {
      wait_for_readers(to, part.layer_of(replica), part.shards[replica], own);
    }
    TaskId& task = updates.emplace_back();
    if (interval_of(bucket, replica).empty()) continue;
    task = update_interval(to, bucket, shared, at, own);
    own.push_back(task);
  }
  to.builder.set_updates(shared.sum, std::move(updates));
}

void expand(Expansion& to, const Action&, const GatherUpdated& gather) {
  const Bucket& bucket = to.step.buckets[gather.bucket];
  if (!is_expanded(to, bucket)) return;
  const SharedBucket& shared = to.shared[gather.bucket];
  Group all = bucket_group(to, bucket, shared.algorithm, GroupWork::all_gather);
  all.buffers = shared.parameters;
  Task kind;
  kind.kind = TaskKind::gather;
  kind.phase = Phase::forward;
  join_bucket(to, bucket, to.builder.add_group(std::move(all)), kind, shared.updated);
}

}  // namespace strata
