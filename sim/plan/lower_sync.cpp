#include <algorithm>
#include <numeric>

#include "sim/graph/regions.h"
#include "sim/plan/lowering.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

std::vector<DeviceId> devices_of(const Config& config, std::span<const std::uint32_t> shards) {
  std::vector<DeviceId> devices;
  for (std::uint32_t shard : shards) devices.push_back(config.devices[shard]);
  return devices;
}

}  // namespace

std::uint32_t Lowering::group_shape(SyncAlgorithm algorithm, const std::vector<DeviceId>& devices,
                                    Bytes bytes, GroupWork work) {
  const Collective& collective = sync_costs_.collective(algorithm, devices, work);
  const std::uint32_t protocols = collective.fastest(bytes);
  const auto [at, fresh] = shapes_.try_emplace({algorithm, work, protocols, devices}, 0);
  if (fresh) {
    at->second = builder_.add_group_shape(
        {sync_costs_.ring(devices), lowered_phases(collective.phases(protocols))});
  }
  return at->second;
}

// Where one device of each class is lowered, its host's links stand for those that are loaded
// alike.
std::vector<CollectivePhase> Lowering::lowered_phases(std::vector<CollectivePhase> phases) const {
  if (!classes_) return phases;
  for (CollectivePhase& phase : phases) {
    std::erase_if(phase.loads, [this](const LinkLoad& load) {
      return classes_->representative(load.link) != load.link;
    });
  }
  return phases;
}

std::vector<std::uint32_t> Lowering::lowered_of(LayerId layer,
                                                std::span<const std::uint32_t> shards) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t shard : shards) {
    if (is_lowered(device_of(layer, shard))) result.push_back(shard);
  }
  return result;
}

bool Lowering::have_copy_engines(std::span<const Task> participants) const {
  return std::all_of(participants.begin(), participants.end(),
                     [&](const Task& task) { return cluster_[task.device].copy_engine; });
}

std::vector<Task> Lowering::participants(const Bucket& bucket) const {
  const BucketPart& end = bucket.parts.back();
  std::vector<Task> tasks;
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!is_lowered(bucket.devices[k])) continue;
    tasks.push_back(task(TaskKind::collective, Phase::update, end.layer_of(k), end.shards[k]));
  }
  return tasks;
}

// Without copy engines, every participant sums its part of the tensor, reading the others' memory,
// and then fetches the parts that they summed: the bytes of a ring, in two tasks that occupy it.
std::vector<TaskId> Lowering::sum_by_hand(std::uint32_t group, std::span<const Task> participants,
                                          std::span<const TaskId> made) {
  std::vector<TaskId> reduced, gathered;
  for (Task task : participants) {
    task.kind = TaskKind::reduce;
    reduced.push_back(builder_.join_group(group, task, made));
  }
  for (const Task& task : participants) {
    gathered.push_back(builder_.gather_group(group, task, reduced));
  }
  return gathered;
}

const std::vector<StatisticsSum>& Lowering::statistics_sums(LayerId layer, Phase phase) {
  const bool forward = phase == Phase::forward_statistics;
  auto& known = forward ? shared_by_rounds_.forward_statistics[layer()]
                        : shared_by_rounds_.backward_statistics[layer()];
  if (known) return *known;
  known.emplace();
  const PerDim<bool> over = statistics(graph_[layer], held_box(layer, 0)).over;
  for (const auto& all : shard_groups(strategy_[layer].degrees, over)) {
    std::vector<std::uint32_t> shards = lowered_of(layer, all);
    if (all.size() < 2 || shards.empty()) continue;
    const Statistics values = statistics(graph_[layer], held_box(layer, shards.front()));
    const Bytes bytes{4 * (forward ? values.forward_values : values.backward_values)};
    const ReplicaGroup replicas{devices_of(strategy_[layer], all), bytes};
    const SyncAlgorithm algorithm =
        sync_costs_.cheapest(statistics_algorithms(), std::span(&replicas, 1), 0);
    Group sum{GroupPurpose::statistics, algorithm, group_shape(algorithm, replicas.devices, bytes),
              bytes};
    if (forward) sum.how = values.forward_by;
    sum.values = forward ? values.forward_values : values.backward_values;
    sum.layers = {{layer, bytes}};
    for (std::uint32_t shard : shards) {
      sum.counts.push_back(elements_over(over, held_box(layer, shard)));
    }
    known->push_back({std::move(sum), std::move(shards)});
  }
  return *known;
}

std::vector<TaskId> Lowering::exchange_statistics(LayerId layer, Phase phase,
                                                  const std::vector<TaskId>& partial) {
  std::vector<TaskId> summed = partial;
  const LayerBuffers& own = buffers_of(layer);
  const auto& parts =
      phase == Phase::forward_statistics ? own.forward_statistics : own.backward_statistics;
  for (const StatisticsSum& sum : statistics_sums(layer, phase)) {
    Group group = sum.group;
    for (std::uint32_t shard : sum.shards) group.buffers.push_back(parts[slot(layer, shard)]);
    sum_statistics(layer, phase, builder_.add_group(std::move(group)), sum.shards, summed);
  }
  return summed;
}

// Replaces the participants' partial statistics in `made`, by shard, by what ends the sum.
void Lowering::sum_statistics(LayerId layer, Phase phase, std::uint32_t group,
                              std::span<const std::uint32_t> shards, std::vector<TaskId>& made) {
  std::vector<Task> participants;
  for (std::uint32_t shard : shards) {
    participants.push_back(task(TaskKind::collective, phase, layer, shard));
  }
  if (have_copy_engines(participants)) {
    for (const Task& participant : participants) {
      TaskId& ends = made[slot(layer, participant.shard)];
      ends = builder_.join_group(group, participant, std::span(&ends, 1));
    }
    return;
  }
  std::vector<TaskId> partial;
  for (std::uint32_t shard : shards) partial.push_back(made[slot(layer, shard)]);
  const std::vector<TaskId> gathered = sum_by_hand(group, participants, partial);
  for (std::size_t i = 0; i < shards.size(); ++i) made[slot(layer, shards[i])] = gathered[i];
}

std::vector<const Bucket*> Lowering::buckets_that_end_with(LayerId layer) {
  std::vector<const Bucket*> ended;
  for (std::size_t bucket : buckets_with_[layer()]) {
    if (--parts_left_[bucket] == 0) ended.push_back(&buckets_[bucket]);
  }
  return ended;
}

// Which algorithm is the cheapest is asked of all buckets that end at once: their loads add up. A
// server is for single layers.
SyncAlgorithm Lowering::algorithm_of(std::span<const Bucket* const> buckets) {
  if (options_.sync.algorithm != SyncAlgorithm::automatic) return options_.sync.algorithm;
  const std::int64_t size = element_bytes(options_.dtypes.gradients);
  std::vector<ReplicaGroup> groups;
  for (const Bucket* bucket : buckets) {
    groups.push_back({bucket->devices, Bytes{bucket->values * size}});
  }
  return sync_costs_.cheapest(
      options_.sync.may_serve() ? parameter_algorithms() : collective_algorithms(), groups,
      ordinals_[buckets.front()->parts.back().layer()]);
}

void Lowering::synchronise(LayerId layer) {
  const auto parts = replica_shards(strategy_[layer].degrees);
  if (parts.front().size() == 1 && !is_copied(layer)) {
    for (std::uint32_t shard : lowered(layer)) update_alone(layer, shard);
    return;
  }
  const std::vector<const Bucket*> ended = buckets_that_end_with(layer);
  if (ended.empty()) return;
  if (options_.sync.shares()) {
    for (const Bucket* bucket : ended) {
      update_shared(static_cast<std::size_t>(bucket - buckets_.data()));
    }
    return;
  }
  const SyncAlgorithm algorithm = algorithm_of(ended);
  for (std::size_t k = 0; k < ended.size(); ++k) {
    if (algorithm == SyncAlgorithm::ps) {
      update_with_server(k, *ended[k]);
    } else {
      update_with_collective(*ended[k], algorithm);
    }
  }
}

// The update may overwrite the parameters only once the layer's own backward pass has read them.
TaskId Lowering::add_update(LayerId layer, std::size_t shard, std::span<const TaskId> after,
                            std::span<const Piece> sent) {
  const LayerParameters& own = parameters_of(layer);
  const std::size_t at = slot(layer, shard);
  const Values& gradients = own.gradients[at];
  after_.assign(after.begin(), after.end());
  add_readers(layer, shard);
  std::vector<Operand> operands = {
      {own.buffers[at].buffer, 0, Role::parameters, Access::update},
      {gradients.buffer, 0, Role::parameter_gradients, Access::read, gradients.first}};
  if (const BufferId state = add_state(layer, shard); state.valid()) {
    operands.push_back({state, 0, Role::optimizer_state, Access::update});
  }
  return builder_.add(task(TaskKind::compute, Phase::update, layer, shard), after_, operands, sent);
}

// Who reads the shard's parameters in a backward pass, into after_.
void Lowering::add_readers(LayerId layer, std::size_t shard) {
  const LayerParameters& own = parameters_of(layer);
  if (!own.read.empty()) after_.push_back(own.read[slot(layer, shard)]);
  if (!graph_[layer].weight_of.valid()) return;
  for (std::size_t i = layer() + 1; i < graph_.size(); ++i) {  // with this copy
    const LayerId other(i);
    if (holders_[i] != layer || parameters_of(other).read.empty()) continue;
    after_.push_back(parameters_of(other).read[slot_beside(other, layer, shard)]);
  }
}

void Lowering::update_late(std::function<void()> update) {
  if (!in_turn_) return update();
  late_updates_.push_back(std::move(update));
}

void Lowering::update_alone(LayerId layer, std::uint32_t shard) {
  update_late([this, layer, shard] {
    const TaskId gradient = parameter_gradient(layer, shard);
    add_update(layer, shard, std::span(&gradient, 1));
  });
}

// A device runs its parameter collectives one after another, in plan order: one stream.
std::vector<TaskId> Lowering::join_collective(const Bucket& bucket, std::uint32_t group) {
  std::vector<TaskId> joined;
  const std::vector<Task> tasks = participants(bucket);
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!is_lowered(bucket.devices[k])) continue;
    TaskId& stream = last_sync_[bucket.devices[k]()];
    after_.clear();
    for (const BucketPart& part : bucket.parts) after_.push_back(parameter_gradient(part, k));
    if (stream.valid()) after_.push_back(stream);
    stream = builder_.join_group(group, tasks[joined.size()], after_);
    joined.push_back(stream);
  }
  return joined;
}

std::vector<TaskId> Lowering::sum_gradients(const Bucket& bucket, std::uint32_t group) {
  const std::vector<Task> tasks = participants(bucket);
  if (have_copy_engines(tasks)) return join_collective(bucket, group);
  std::vector<TaskId> made;
  for (const BucketPart& part : bucket.parts) {
    for (std::size_t k = 0; k < part.shards.size(); ++k)
      made.push_back(parameter_gradient(part, k));
  }
  return sum_by_hand(group, tasks, made);
}

void Lowering::update_with_collective(const Bucket& bucket, SyncAlgorithm algorithm) {
  Group sum = bucket_group(bucket, algorithm, GroupWork::all_reduce);
  const BucketPart& end = bucket.parts.back();
  std::vector<std::size_t> brought;  // of the bucket's devices those that are lowered
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (is_lowered(bucket.devices[k])) brought.push_back(k);
  }
  for (std::size_t k : brought) {
    const LayerId holder = end.layer_of(k);
    sum.buffers.push_back(parameters_of(holder).gradients[slot(holder, end.shards[k])].buffer);
  }
  const std::vector<TaskId> summed = sum_gradients(bucket, builder_.add_group(std::move(sum)));
  update_late([this, &bucket, brought, summed] { update_all(bucket, brought, summed); });
}

// One after another, as a device does them anyway: only the last one ends the use of the buffer.
void Lowering::update_all(const Bucket& bucket, std::span<const std::size_t> replicas,
                          std::span<const TaskId> summed) {
  std::vector<TaskId> updated(replicas.size());
  for (const BucketPart& part : bucket.parts) {
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const LayerId holder = part.layer_of(replicas[i]);
      const std::uint32_t shard = part.shards[replicas[i]];
      const TaskId after[] = {summed[i], updated[i]};
      updated[i] = add_update(holder, shard, std::span(after, updated[i].valid() ? 2 : 1));
    }
  }
}

// The server has room for every gradient that arrives, until it has added them up.
std::vector<TaskId> Lowering::send_to_server(const BucketPart& part, std::size_t server,
                                             Bytes bytes, std::vector<Piece>& sent) {
  const LayerId layer = part.layer_of(server);
  const std::uint32_t at = part.shards[server];
  const DeviceId device = device_of(layer, at);
  const auto gradients = [&](std::size_t replica) {
    const LayerId holder = part.layer_of(replica);
    return View{parameters_of(holder).gradients[slot(holder, part.shards[replica])].buffer};
  };
  const std::int64_t values =
      builder_.so_far()[parameters_of(layer).buffers[slot(layer, at)].buffer].values;
  std::vector<TaskId> arrivals;
  for (std::size_t k = 0; k < part.shards.size(); ++k) {
    if (k == server) continue;
    const View arrived{add_values(BufferKind::server_gradients, layer, at, values, bytes)};
    const Piece gradient{
        device_of(part.layer_of(k), part.shards[k]), bytes, {}, gradients(k), arrived};
    const TaskId made = parameter_gradient(part, k);
    arrivals.push_back(builder_.add_transfer(task(TaskKind::transfer, Phase::update, layer, at), 0,
                                             std::span(&gradient, 1), std::span(&made, 1)));
    sent.push_back({device, bytes, {}, arrived, gradients(server)});
  }
  return arrivals;
}

// The bucket holds one parameter shard, the k-th of its layer's.
void Lowering::update_with_server(std::size_t k, const Bucket& bucket) {
  const BucketPart& part = bucket.parts.front();
  const auto buffer = [&](std::size_t replica) {
    const LayerId holder = part.layer_of(replica);
    return View{parameters_of(holder).buffers[slot(holder, part.shards[replica])].buffer};
  };
  const Bytes gradients{bucket.values * element_bytes(options_.dtypes.gradients)};
  const Bytes bytes{bucket.values * element_bytes(options_.dtypes.parameters)};
  const std::size_t server = server_replica(ordinals_[part.layer()], k, part.shards.size());
  std::vector<Piece> sent;
  std::vector<TaskId> after = send_to_server(part, server, gradients, sent);
  after.push_back(parameter_gradient(part, server));
  const TaskId update = add_update(part.layer_of(server), part.shards[server], after, sent);
  for (std::size_t replica = 0; replica < part.shards.size(); ++replica) {
    if (replica == server || !is_lowered(bucket.devices[replica])) continue;
    const LayerId holder = part.layer_of(replica);
    const std::uint32_t shard = part.shards[replica];
    const Piece parameters{bucket.devices[server], bytes, {}, buffer(server), buffer(replica)};
    after_ = {update};
    add_readers(holder, shard);
    builder_.add_transfer(task(TaskKind::transfer, Phase::update, holder, shard), 0,
                          std::span(&parameters, 1), after_);
  }
}

}  // namespace strata
