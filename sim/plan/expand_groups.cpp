// Sums over devices: of statistics, and of gradients over replicas.

#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

// How many groups each of which does the same one stands for that has tasks.
double groups_alike(const DeviceClasses& classes, const std::vector<DeviceId>& devices) {
  std::int64_t members = 0;
  for (const DeviceId device : devices) {
    if (classes.is_representative(device)) members += classes.members(device);
  }
  return static_cast<double>(members) / static_cast<double>(devices.size());
}

// Where one device of each class has tasks, its domain's links stand for those that are loaded
// alike; the links that domains share are loaded by all groups.
std::vector<CollectivePhase> phases_of_classes(const Expansion& to,
                                               const std::vector<DeviceId>& devices,
                                               std::vector<CollectivePhase> phases) {
  if (!to.classes) return phases;
  const double alike = groups_alike(*to.classes, devices);
  for (CollectivePhase& phase : phases) {
    for (LinkLoad& load : phase.loads) {
      if (to.classes->is_shared(load.link)) load.weight *= alike;
    }
    std::erase_if(phase.loads, [&](const LinkLoad& load) {
      return to.classes->representative(load.link) != load.link;
    });
  }
  return phases;
}

const std::vector<StatisticsSum>& statistics_sums(Expansion& to, LayerId layer, Phase phase) {
  const bool forward = phase == Phase::forward_statistics;
  auto& known = forward ? to.by_rounds.forward_statistics[layer()]
                        : to.by_rounds.backward_statistics[layer()];
  if (known) return *known;
  known.emplace();
  const Layer& l = to.graph[layer];
  const PerDim<bool> over = statistics(l, to.shards.held(layer, 0)).over;
  for (const auto& all : shard_groups(to.strategy[layer].degrees, over)) {
    std::vector<std::uint32_t> shards = to.shards.of(layer, all);
    if (all.size() < 2 || shards.empty()) continue;
    const Statistics values = statistics(l, to.shards.held(layer, shards.front()));
    const Bytes bytes = values.bytes(phase);
    const ReplicaGroup replicas{devices_of(to.strategy[layer], all), bytes};
    const SyncAlgorithm algorithm = to.memo.sync_costs().cheapest_for_statistics(replicas);
    Group sum{GroupPurpose::statistics, algorithm,
              group_shape(to, algorithm, replicas.devices, bytes), bytes};
    if (forward) sum.how = values.forward_by;
    sum.values = values.values(phase);
    sum.layers = {{layer, bytes}};
    for (const std::uint32_t shard : shards) {
      sum.counts.push_back(elements_over(over, to.shards.held(layer, shard)));
    }
    known->push_back({std::move(sum), std::move(shards)});
  }
  return *known;
}

// Replaces the participants' partial statistics in `made`, by slot, by what ends the sum.
void join_statistics(Expansion& to, const SumStatistics& sum, std::uint32_t group,
                     std::span<const std::uint32_t> shards, std::vector<TaskId>& made) {
  std::vector<Task> participants;
  for (const std::uint32_t shard : shards) {
    participants.push_back(to.task(TaskKind::collective, sum.phase, sum.layer, shard));
  }
  if (have_copy_engines(to, participants)) {
    for (const Task& participant : participants) {
      TaskId& ends = made[to.shards.slot(sum.layer, participant.shard)];
      ends = to.builder.join_group(group, participant, std::span(&ends, 1));
    }
    return;
  }
  std::vector<TaskId> partial;
  for (const std::uint32_t shard : shards) {
    partial.push_back(made[to.shards.slot(sum.layer, shard)]);
  }
  const std::vector<TaskId> gathered = sum_by_hand(to, group, participants, partial);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    made[to.shards.slot(sum.layer, shards[i])] = gathered[i];
  }
}

TaskId gradient_of(const Expansion& to, const BucketPart& part, std::size_t replica) {
  const LayerId layer = part.layer_of(replica);
  return to.parameters[layer()].added[to.shards.slot(layer, part.shards[replica])];
}

std::vector<TaskId> sum_gradients(Expansion& to, const Bucket& bucket, std::uint32_t group) {
  const std::vector<Task> tasks = participants(to, bucket);
  if (!have_copy_engines(to, tasks)) {
    std::vector<TaskId> made;
    for (const BucketPart& part : bucket.parts) {
      for (std::size_t k = 0; k < part.shards.size(); ++k) {
        made.push_back(gradient_of(to, part, k));
      }
    }
    return sum_by_hand(to, group, tasks, made);
  }
  std::vector<std::vector<TaskId>> after;
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    std::vector<TaskId>& own = after.emplace_back();
    for (const BucketPart& part : bucket.parts) own.push_back(gradient_of(to, part, k));
  }
  Task kind;
  kind.phase = Phase::update;
  return join_bucket(to, bucket, group, kind, after);
}

void sum_by_collective(Expansion& to, std::uint32_t b, SyncAlgorithm algorithm) {
  const Bucket& bucket = to.step.buckets[b];
  Group sum = bucket_group(to, bucket, algorithm, GroupWork::all_reduce);
  const BucketPart& end = bucket.parts.back();
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    const LayerId holder = end.layer_of(k);
    const std::size_t at = to.shards.slot(holder, end.shards[k]);
    sum.buffers.push_back(to.parameters[holder()].gradients[at].buffer);
  }
  to.summed[b] = sum_gradients(to, bucket, to.builder.add_group(std::move(sum)));
}

// The server has room for every gradient that arrives, until it has added them up.
std::vector<TaskId> send_to_server(Expansion& to, const BucketPart& part, std::size_t server,
                                   Bytes bytes, std::vector<Piece>& sent) {
  const LayerId layer = part.layer_of(server);
  const std::uint32_t at = part.shards[server];
  const DeviceId device = to.shards.device(layer, at);
  const auto gradients = [&](std::size_t replica) {
    const LayerId holder = part.layer_of(replica);
    const std::size_t slot = to.shards.slot(holder, part.shards[replica]);
    return View{to.parameters[holder()].gradients[slot].buffer};
  };
  const BufferId parameters = to.parameters[layer()].buffers[to.shards.slot(layer, at)].buffer;
  const std::int64_t values = to.builder.so_far()[parameters].values;
  std::vector<TaskId> arrivals;
  for (std::size_t k = 0; k < part.shards.size(); ++k) {
    if (k == server) continue;
    const View arrived{add_values(to, BufferKind::server_gradients, layer, at, values, bytes)};
    const Piece gradient{
        to.shards.device(part.layer_of(k), part.shards[k]), {}, bytes, gradients(k), arrived};
    const TaskId made = gradient_of(to, part, k);
    arrivals.push_back(
        to.builder.add_transfer(to.task(TaskKind::transfer, Phase::update, layer, at), 0,
                                std::span(&gradient, 1), std::span(&made, 1)));
    sent.push_back({device, {}, bytes, arrived, gradients(server)});
  }
  return arrivals;
}

// The bucket holds one parameter shard, the k-th of its layer's.
void update_at_server(Expansion& to, std::size_t k, const Bucket& bucket) {
  const BucketPart& part = bucket.parts.front();
  const auto buffer = [&](std::size_t replica) {
    const LayerId holder = part.layer_of(replica);
    const std::size_t slot = to.shards.slot(holder, part.shards[replica]);
    return View{to.parameters[holder()].buffers[slot].buffer};
  };
  const DTypes& types = to.options.dtypes;
  const Bytes gradients{bucket.values * element_bytes(types.gradients)};
  const Bytes bytes{bucket.values * element_bytes(types.parameters)};
  const std::size_t server = server_replica(to.ordinals[part.layer()], k, part.shards.size());
  std::vector<Piece> sent;
  std::vector<TaskId> after = send_to_server(to, part, server, gradients, sent);
  after.push_back(gradient_of(to, part, server));
  const TaskId update = add_update(to, part.layer_of(server), part.shards[server], after, sent);
  for (std::size_t replica = 0; replica < part.shards.size(); ++replica) {
    if (replica == server || !to.shards.has_tasks(bucket.devices[replica])) continue;
    const LayerId holder = part.layer_of(replica);
    const std::uint32_t shard = part.shards[replica];
    const Piece parameters{bucket.devices[server], {}, bytes, buffer(server), buffer(replica)};
    std::vector<TaskId> updated = {update};
    wait_for_readers(to, holder, shard, updated);
    to.builder.add_transfer(to.task(TaskKind::transfer, Phase::update, holder, shard), 0,
                            std::span(&parameters, 1), updated);
  }
}

}  // namespace

std::uint32_t group_shape(Expansion& to, SyncAlgorithm algorithm,
                          const std::vector<DeviceId>& devices, Bytes bytes, GroupWork work,
                          Seconds more, const SentOnce& sent) {
  SyncCosts& costs = to.memo.sync_costs();
  const Collective& collective = costs.collective(algorithm, devices, work, sent);
  const std::uint32_t protocols = collective.fastest(bytes);
  const auto [at, fresh] =
      to.shapes.try_emplace({algorithm, work, protocols, devices, more.value, sent}, 0);
  if (fresh) {
    std::vector<CollectivePhase> phases = collective.phases(protocols);
    if (!phases.empty()) phases.front().latency += more;
    at->second = to.builder.add_group_shape(
        {costs.ring(devices), phases_of_classes(to, devices, std::move(phases))});
  }
  return at->second;
}

bool have_copy_engines(const Expansion& to, std::span<const Task> participants) {
  return std::all_of(participants.begin(), participants.end(),
                     [&](const Task& task) { return to.cluster[task.device].copy_engine; });
}

// Without copy engines, every participant sums its part of the tensor, reading the others' memory,
// and then fetches the parts that they summed: the bytes of a ring, in two tasks that occupy it.
std::vector<TaskId> sum_by_hand(Expansion& to, std::uint32_t group,
                                std::span<const Task> participants, std::span<const TaskId> made) {
  std::vector<TaskId> reduced, gathered;
  for (Task task : participants) {
    task.kind = TaskKind::reduce;
    reduced.push_back(to.builder.join_group(group, task, made));
  }
  for (const Task& task : participants) {
    gathered.push_back(to.builder.gather_group(group, task, reduced));
  }
  return gathered;
}

std::vector<Task> participants(const Expansion& to, const Bucket& bucket) {
  const BucketPart& end = bucket.parts.back();
  std::vector<Task> tasks;
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    tasks.push_back(to.task(TaskKind::collective, Phase::update, end.layer_of(k), end.shards[k]));
  }
  return tasks;
}

Group bucket_group(Expansion& to, const Bucket& bucket, SyncAlgorithm algorithm, GroupWork work,
                   Seconds more) {
  const DTypes& types = to.options.dtypes;
  const std::int64_t size =
      element_bytes(work == GroupWork::all_gather ? types.parameters : types.gradients);
  const Bytes bytes{bucket.values * size};
  Group sum{GroupPurpose::parameters, algorithm,
            group_shape(to, algorithm, bucket.devices, bytes, work, more), bytes};
  sum.work = work;
  sum.values = bucket.values;
  sum.counts.assign(
      static_cast<std::size_t>(std::count_if(bucket.devices.begin(), bucket.devices.end(),
                                             [&](DeviceId d) { return to.shards.has_tasks(d); })),
      1);
  for (const BucketPart& part : bucket.parts) {
    const Tile shard = to.shards.tile(part.layer, part.shards.front());
    sum.layers.push_back({part.layer,
                          Bytes{shard_parameters(to.graph[part.layer], shard).total() * size},
                          part.first});
  }
  return sum;
}

// A server is for single layers.
SyncAlgorithm algorithm_of(Expansion& to, std::span<const Bucket* const> buckets) {
  const GradientSync& sync = to.options.sync;
  if (sync.algorithm != SyncAlgorithm::automatic) return sync.algorithm;
  const std::int64_t size = element_bytes(to.options.dtypes.gradients);
  std::vector<ReplicaGroup> groups;
  for (const Bucket* bucket : buckets) {
    groups.push_back({bucket->devices, Bytes{bucket->values * size}});
  }
  return to.memo.sync_costs().cheapest(
      sync.may_serve() ? parameter_algorithms() : collective_algorithms(), groups,
      to.ordinals[buckets.front()->parts.back().layer()]);
}

// A device runs its parameter collectives one after another, in plan order: one stream.
std::vector<TaskId> join_in_turn(Expansion& to, std::vector<Task> tasks, std::uint32_t group,
                                 const Task& kind, const std::vector<std::vector<TaskId>>& after) {
  const bool copies = have_copy_engines(to, tasks);
  std::vector<TaskId> all, joined;
  if (!copies) {
    for (const auto& own : after) all.insert(all.end(), own.begin(), own.end());
  }
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    Task& own = tasks[at];
    own.phase = kind.phase;
    if (!copies) {
      own.kind = kind.kind;
      joined.push_back(to.builder.join_group(group, own, all));
      continue;
    }
    TaskId& stream = to.last_sync[own.device()];
    std::vector<TaskId> waits = after[at];
    if (stream.valid()) waits.push_back(stream);
    stream = to.builder.join_group(group, own, waits);
    joined.push_back(stream);
  }
  return joined;
}

std::vector<TaskId> join_bucket(Expansion& to, const Bucket& bucket, std::uint32_t group,
                                const Task& kind, const std::vector<std::vector<TaskId>>& after) {
  return join_in_turn(to, participants(to, bucket), group, kind, after);
}

void expand(Expansion& to, const Action& action, const SumStatistics& sum) {
  Round& round = to.round_of(action);
  LayerTasks& tasks = round.tasks[sum.layer()];
  const LayerBuffers& own = round.buffers[sum.layer()];
  const bool forward = sum.phase == Phase::forward_statistics;
  tasks.summed = forward ? tasks.forward_statistics : tasks.backward_statistics;
  const auto& parts = forward ? own.forward_statistics : own.backward_statistics;
  for (const StatisticsSum& each : statistics_sums(to, sum.layer, sum.phase)) {
    Group group = each.group;
    for (const std::uint32_t shard : each.shards) {
      group.buffers.push_back(parts[to.shards.slot(sum.layer, shard)]);
    }
    join_statistics(to, sum, to.builder.add_group(std::move(group)), each.shards, tasks.summed);
  }
}

// Which algorithm is the cheapest is asked of all buckets that end at once: their loads add up.
void expand(Expansion& to, const Action&, const SumGradients& sum) {
  const Bucket& bucket = to.step.buckets[sum.bucket];
  if (!is_expanded(to, bucket)) return;
  std::vector<const Bucket*> at_once;
  for (std::uint32_t k = sum.first; k < sum.last; ++k) {
    const Bucket& other = to.step.buckets[to.step.summed_at_once[k]];
    if (is_expanded(to, other)) at_once.push_back(&other);
  }
  const SyncAlgorithm algorithm = algorithm_of(to, at_once);
  if (algorithm != SyncAlgorithm::ps) return sum_by_collective(to, sum.bucket, algorithm);
  const auto at = std::find(at_once.begin(), at_once.end(), &bucket);
  update_at_server(to, static_cast<std::size_t>(at - at_once.begin()), bucket);
}

}  // namespace strata
