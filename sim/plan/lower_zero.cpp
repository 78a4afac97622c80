// What replicas share instead of each having all of it (ZeRO): of a bucket of parameters, each
// keeps an interval of the optimizer's state, then of the gradients, then of the parameters
// themselves. A sum over replicas comes apart into its halves, with the update of the intervals
// between them, or with a gather of the parameters before each pass that reads them.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/plan/lowering.h"

namespace strata {

Values Lowering::parameters_of(LayerId layer, std::size_t shard) const {
  const LayerId holder = holders_[layer()];
  const std::size_t at = holder == layer ? slot(layer, shard) : slot_beside(holder, layer, shard);
  return parameters_[holder()].buffers[at];
}

const InBucket* Lowering::gradients_shared_at(LayerId holder, std::size_t slot) const {
  const std::vector<InBucket>& shared = parameters_[holder()].shared;
  return shared.empty() || !shares_gradients(bucket_of(shared[slot])) ? nullptr : &shared[slot];
}

Values Lowering::gradients_of(LayerId layer, std::size_t shard) {
  const LayerId holder = holders_[layer()];
  const std::size_t at = holder == layer ? slot(layer, shard) : slot_beside(holder, layer, shard);
  const InBucket* lies = gradients_shared_at(holder, at);
  if (lies == nullptr) return parameters_[holder()].gradients[at];
  if (round_->gradients[lies->bucket].empty()) place_round_gradients(lies->bucket);
  return {round_->gradients[lies->bucket][lies->replica], lies->first};
}

BufferId Lowering::add_bucket_values(BufferKind kind, const Bucket& bucket, std::size_t replica,
                                     std::int64_t values) {
  if (values == 0) return {};
  const BucketPart& end = bucket.parts.back();
  const DType type = kind == BufferKind::parameters || kind == BufferKind::gathered_parameters
                         ? options_.dtypes.parameters
                         : options_.dtypes.gradients;
  return add_values(kind, end.layer_of(replica), end.shards[replica], values,
                    Bytes{values * element_bytes(type)});
}

void Lowering::place_shared() {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const Bucket& bucket = buckets_[b];
    SharedBucket& shared = shared_.emplace_back();
    const bool parts = shares_parameters(bucket);
    for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
      if (!is_lowered(bucket.devices[k])) continue;
      const std::int64_t own = interval_of(bucket, k).size();
      const BufferId parameters =
          add_bucket_values(BufferKind::parameters, bucket, k, parts ? own : bucket.values);
      for (const BucketPart& part : bucket.parts) {
        const LayerId holder = part.layer_of(k);
        LayerParameters& layer = parameters_of(holder);
        layer.shared.resize(lowered(holder).size());
        layer.buffers.resize(layer.shared.size());
        const std::size_t at = slot(holder, part.shards[k]);
        layer.shared[at] = {b, shared.replicas.size(), part.first};
        if (!parts) layer.buffers[at] = {parameters, part.first};
      }
      shared.replicas.push_back(k);
      shared.parameters.push_back(parameters);
      shared.gradients.push_back(
          shares_gradients(bucket)
              ? add_bucket_values(BufferKind::parameter_gradients, bucket, k, own)
              : BufferId{});
    }
    shared.reduced.resize(shared.replicas.size());
  }
  choose_algorithms();
}

// Of those that end with one layer, at once.
void Lowering::choose_algorithms() {
  for (std::size_t first = 0; first < buckets_.size();) {
    const LayerId end = buckets_[first].parts.back().layer;
    std::vector<const Bucket*> together;
    for (std::size_t b = first; b < buckets_.size() && buckets_[b].parts.back().layer == end; ++b) {
      together.push_back(&buckets_[b]);
    }
    const SyncAlgorithm algorithm = algorithm_of(together);
    for (std::size_t k = 0; k < together.size(); ++k) shared_[first + k].algorithm = algorithm;
    first += together.size();
  }
}

Group Lowering::bucket_group(const Bucket& bucket, SyncAlgorithm algorithm, GroupWork work) {
  const std::int64_t size = element_bytes(
      work == GroupWork::all_gather ? options_.dtypes.parameters : options_.dtypes.gradients);
  const Bytes bytes{bucket.values * size};
  Group sum{GroupPurpose::parameters, algorithm,
            group_shape(algorithm, bucket.devices, bytes, work), bytes};
  sum.work = work;
  sum.values = bucket.values;
  sum.counts.assign(
      static_cast<std::size_t>(std::count_if(bucket.devices.begin(), bucket.devices.end(),
                                             [this](DeviceId d) { return is_lowered(d); })),
      1);
  for (const BucketPart& part : bucket.parts) {
    const Tile shard = shard_tile(part.layer, part.shards.front());
    sum.layers.push_back({part.layer,
                          Bytes{shard_parameters(graph_[part.layer], shard).total() * size},
                          part.first});
  }
  return sum;
}

// `kind`: of the tasks, and their phase. `after`: by lowered replica. Where devices do it by hand,
// each waits for all, whose memory it reads.
std::vector<TaskId> Lowering::join_bucket(const Bucket& bucket, std::uint32_t group,
                                          const Task& kind,
                                          const std::vector<std::vector<TaskId>>& after) {
  std::vector<Task> tasks = participants(bucket);
  const bool copies = have_copy_engines(tasks);
  std::vector<TaskId> all, joined;
  if (!copies) {
    for (const auto& own : after) all.insert(all.end(), own.begin(), own.end());
  }
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    Task& own = tasks[at];
    own.phase = kind.phase;
    if (!copies) {
      own.kind = kind.kind;
      joined.push_back(builder_.join_group(group, own, all));
      continue;
    }
    TaskId& stream = last_sync_[own.device()];
    after_ = after[at];
    if (stream.valid()) after_.push_back(stream);
    stream = builder_.join_group(group, own, after_);
    joined.push_back(stream);
  }
  return joined;
}

void Lowering::place_round_gradients(std::size_t bucket) {
  std::vector<BufferId>& gradients = round_->gradients[bucket];
  for (std::size_t replica : shared_[bucket].replicas) {
    gradients.push_back(add_bucket_values(BufferKind::round_gradients, buckets_[bucket], replica,
                                          buckets_[bucket].values));
  }
}

// Of a bucket, the whole gradients of one round are there at a time.
void Lowering::wait_for_last_round(LayerId layer, std::size_t shard) {
  const LayerId holder = holders_[layer()];
  const std::size_t at = holder == layer ? slot(layer, shard) : slot_beside(holder, layer, shard);
  const InBucket* lies = gradients_shared_at(holder, at);
  if (lies == nullptr) return;
  const TaskId reduced = shared_[lies->bucket].reduced[lies->replica];
  if (reduced.valid()) after_.push_back(reduced);
}

void Lowering::reduce_round(LayerId layer) {
  if (--round_->layers_left[layer()] > 0) return;
  for (std::size_t bucket : buckets_with_[layer()]) {
    if (!shares_gradients(buckets_[bucket])) continue;
    if (--round_->parts_left[bucket] == 0) reduce_bucket(bucket);
  }
}

// Each replica's interval of what the round, or all of them, made.
void Lowering::reduce_bucket(std::size_t b) {
  const Bucket& bucket = buckets_[b];
  SharedBucket& shared = shared_[b];
  Group sum = bucket_group(bucket, shared.algorithm, GroupWork::reduce_scatter);
  const BucketPart& first = bucket.parts.front();
  std::vector<std::vector<TaskId>> after;
  for (std::size_t at = 0; at < shared.replicas.size(); ++at) {
    const std::size_t replica = shared.replicas[at];
    sum.buffers.push_back(gradients_of(first.layer_of(replica), first.shards[replica]).buffer);
    std::vector<TaskId>& own = after.emplace_back();
    for (const BucketPart& part : bucket.parts) {
      own.push_back(last_added(part.layer_of(replica), part.shards[replica]));
    }
    if (shared.reduced[at].valid()) own.push_back(shared.reduced[at]);
  }
  if (shares_gradients(bucket)) {
    sum.results = shared.gradients;
    sum.adds = shared.reduced.front().valid();
  }
  shared.sum = builder_.add_group(std::move(sum));
  Task kind;
  kind.kind = TaskKind::reduce;
  kind.phase = Phase::backward_weights;
  shared.reduced = join_bucket(bucket, shared.sum, kind, after);
}

// The update may overwrite parameters only once the device's own backward passes have read them.
TaskId Lowering::update_interval(const Bucket& bucket, const SharedBucket& shared, std::size_t at,
                                 std::span<const TaskId> after) {
  const std::size_t replica = shared.replicas[at];
  const Interval own = interval_of(bucket, replica);
  const BucketPart& end = bucket.parts.back();
  const LayerId layer = end.layer_of(replica);
  const std::uint32_t shard = end.shards[replica];
  const std::int64_t values = own.size();
  const auto begin = [&](bool interval) { return interval ? 0 : own.begin; };
  const BufferId gradients = shares_gradients(bucket)
                                 ? shared.gradients[at]
                                 : parameters_of(layer).gradients[slot(layer, shard)].buffer;
  std::vector<Operand> operands = {{shared.parameters[at], 0, Role::parameters, Access::update,
                                    begin(shares_parameters(bucket)), values},
                                   {gradients, 0, Role::parameter_gradients, Access::read,
                                    begin(shares_gradients(bucket)), values}};
  if (const std::int64_t words = state_words(optimizer()); words > 0) {
    const Bytes bytes{values * state_bytes(optimizer(), options_.dtypes.parameters)};
    operands.push_back(
        {add_values(BufferKind::optimizer_state, layer, shard, words * values, bytes), 0,
         Role::optimizer_state, Access::update, 0, values});
  }
  return builder_.add(task(TaskKind::compute, Phase::update, layer, shard), after, operands);
}

void Lowering::update_shared(std::size_t b) {
  if (!shares_gradients(buckets_[b])) reduce_bucket(b);
  update_late([this, b] { update_intervals(b); });
}

void Lowering::update_intervals(std::size_t b) {
  const Bucket& bucket = buckets_[b];
  SharedBucket& shared = shared_[b];
  std::vector<TaskId> updates;
  for (std::size_t at = 0; at < shared.replicas.size(); ++at) {
    std::vector<TaskId>& own = shared.updated.emplace_back(1, shared.reduced[at]);
    const std::size_t replica = shared.replicas[at];
    for (const BucketPart& part : bucket.parts) {
      after_.clear();
      add_readers(part.layer_of(replica), part.shards[replica]);
      own.insert(own.end(), after_.begin(), after_.end());
    }
    TaskId& update = updates.emplace_back();
    if (interval_of(bucket, replica).empty()) continue;
    update = update_interval(bucket, shared, at, own);
    own.push_back(update);
  }
  builder_.set_updates(shared.sum, std::move(updates));
}

// At the end of the step, when no sum waits behind it, and as the next step's forward pass needs
// them.
void Lowering::gather_updated() {
  for (std::size_t b = buckets_.size(); b-- > 0;) {
    if (shares_parameters(buckets_[b])) continue;
    Group all = bucket_group(buckets_[b], shared_[b].algorithm, GroupWork::all_gather);
    all.buffers = shared_[b].parameters;
    Task kind;
    kind.kind = TaskKind::gather;
    kind.phase = Phase::forward;
    join_bucket(buckets_[b], builder_.add_group(std::move(all)), kind, shared_[b].updated);
  }
}

// Which passes read which buckets, in the order in which they are lowered. Each gathers as the one
// before it on any of its devices begins, so that a device has two at most at once.
void Lowering::plan_openings(std::span<const Instance> instances, const Stages& stages) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(cluster_.device_count(), kNone);
  std::vector<std::size_t> seen(buckets_.size(), kNone);
  const auto read = [&](LayerId layer, std::size_t instance, Phase phase) {
    for (const InBucket& lies : parameters_of(holders_[layer()]).shared) {
      if (!shares_parameters(bucket_of(lies))) continue;
      if (std::exchange(seen[lies.bucket], instance) == instance) continue;
      Opening opening{lies.bucket, phase, instances[instance].round};
      std::size_t before = kNone;
      for (std::size_t replica : shared_[lies.bucket].replicas) {
        std::size_t& on = last[buckets_[lies.bucket].devices[replica]()];
        if (on != kNone && (before == kNone || on > before)) before = on;
        const bool known =
            std::find(opening.before.begin(), opening.before.end(), on) != opening.before.end();
        if (on != kNone && !known) opening.before.push_back(on);
        on = openings_.size();
      }
      if (before != kNone) openings_[before].next.push_back(openings_.size());
      opens_[{instance, layer}].push_back(openings_.size());
      openings_.push_back(std::move(opening));
    }
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> recomputed;  // round and segment
  const bool all = stages.stages() <= 1;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (instances[i].pass == Pass::backward_weights) continue;
    const std::size_t first = all ? 0 : stages.chunks[instances[i].chunk].first();
    const std::size_t end = all ? graph_.size() : stages.chunks[instances[i].chunk].last() + 1;
    if (instances[i].pass == Pass::forward) {
      for (std::size_t k = first; k < end; ++k) read(LayerId(k), i, Phase::forward);
      continue;
    }
    for (std::size_t k = end; k-- > first;) {
      const LayerId layer(k);
      if (is_input(layer) || !requires_gradient_[k]) continue;
      const std::uint32_t segment = strategy_.segment(layer);
      if (segment > 0 && recomputed.emplace(instances[i].round, segment).second) {
        for (LayerId again : recomputed_with(layer)) read(again, i, Phase::backward_data);
      }
      read(layer, i, Phase::backward_data);
    }
  }
}

// Of the round that reads them, though another may be under way: so all rounds gather alike.
void Lowering::gather_parameters(Opening& opening, std::vector<std::vector<TaskId>> after) {
  builder_.recompute(false);
  const std::uint32_t under_way = builder_.set_round(opening.round);
  const Bucket& bucket = buckets_[opening.bucket];
  const SharedBucket& shared = shared_[opening.bucket];
  for (std::size_t replica : shared.replicas) {
    opening.buffers.push_back(
        add_bucket_values(BufferKind::gathered_parameters, bucket, replica, bucket.values));
  }
  Group all = bucket_group(bucket, shared.algorithm, GroupWork::all_gather);
  all.buffers = shared.parameters;
  all.results = opening.buffers;
  Task kind;
  kind.kind = TaskKind::gather;
  kind.phase = opening.phase;
  // Nothing else says that the last step's update has come to pass.
  for (std::size_t before : opening.before) {
    for (TaskId gathered : openings_[before].ready) {
      const auto on = [&](std::size_t k) { return bucket.devices[shared.replicas[k]]; };
      for (std::size_t k = 0; k < after.size(); ++k) {
        if (builder_.so_far()[gathered].device == on(k)) after[k].push_back(gathered);
      }
    }
  }
  opening.ready = join_bucket(bucket, builder_.add_group(std::move(all)), kind, after);
  builder_.set_round(under_way);
  builder_.recompute(recomputes_after_.valid());
}

void Lowering::open_parameters(LayerId layer, Pass pass) {
  const auto at = opens_.find({instance_, layer});
  if (at == opens_.end()) return;
  const std::vector<std::size_t> opened = std::move(at->second);
  opens_.erase(at);
  for (std::size_t number : opened) {
    Opening& opening = openings_[number];
    const SharedBucket& shared = shared_[opening.bucket];
    if (opening.buffers.empty()) {
      gather_parameters(opening, std::vector<std::vector<TaskId>>(shared.replicas.size()));
    }
    for (std::size_t k = 0; k < shared.replicas.size(); ++k) {
      for (const BucketPart& part : buckets_[opening.bucket].parts) {
        const LayerId holder = part.layer_of(shared.replicas[k]);
        LayerParameters& own = parameters_of(holder);
        own.ready.resize(own.buffers.size());
        const std::size_t slot_of = slot(holder, part.shards[shared.replicas[k]]);
        own.buffers[slot_of] = {opening.buffers[k], part.first};
        own.ready[slot_of] = opening.ready[k];
      }
    }
  }
  std::map<DeviceId, std::uint32_t> here;
  for (std::uint32_t shard : lowered(layer)) here.emplace(device_of(layer, shard), shard);
  for (std::size_t number : opened) {
    for (std::size_t next : openings_[number].next) {
      const SharedBucket& shared = shared_[openings_[next].bucket];
      std::vector<std::vector<TaskId>> after;
      for (std::size_t replica : shared.replicas) {
        after_.clear();
        const auto beside = here.find(buckets_[openings_[next].bucket].devices[replica]);
        if (beside != here.end() && pass == Pass::forward) {
          add_input_ready(layer, beside->second, after_);
          wait_to_recompute(layer, beside->second);
        } else if (beside != here.end()) {
          wait_for_gradient(layer, beside->second);
        }
        after.push_back(after_);
      }
      gather_parameters(openings_[next], std::move(after));
    }
  }
}

void Lowering::wait_for_parameters(LayerId layer, std::size_t shard) {
  const LayerId holder = holders_[layer()];
  const LayerParameters& own = parameters_of(holder);
  if (own.ready.empty()) return;
  const std::size_t at = holder == layer ? slot(layer, shard) : slot_beside(holder, layer, shard);
  if (own.ready[at].valid()) after_.push_back(own.ready[at]);
}

}  // namespace strata
