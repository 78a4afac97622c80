// Updates of parameters: by layer, by bucket, or each replica its interval; by the device, or by
// its host.

#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"

namespace strata {
namespace {

// What the device that updates the shard's parameters keeps of them; invalid for nothing.
BufferId add_state(Expansion& to, LayerId layer, std::size_t shard, std::int64_t values) {
  const std::int64_t words = state_words(to.optimizer());
  if (words == 0) return {};
  return add_values(to, BufferKind::optimizer_state, layer, shard, words * values,
                    Bytes{values * state_bytes(to.optimizer(), to.options.dtypes.parameters)});
}

/// Some of the parameters that lie in a device's memory.
struct HeldValues {
  BufferId buffer;
  std::int64_t values = 0;
};

// Where there is a norm, no update comes before it.
void wait_for_norm(const Expansion& to, DeviceId device, std::vector<TaskId>& after) {
  if (const TaskId norm = to.normed[device()]; norm.valid()) after.push_back(norm);
}

void refuse_without_host(const Device& device) {
  if (device.copy_engine) return;
  throw InputError(
      fmt::format("`offload` optimizer: device {} has no copy engine that reaches a memory of its "
                  "host; allowed: devices with one",
                  device.full_name()));
}

// Gradients go to the memory of the device's host; its cores update parameters there, where they
// read and write what an update on the device would; parameters come back.
TaskId update_on_host(Expansion& to, LayerId layer, std::uint32_t shard,
                      std::span<const TaskId> after, View gradients,
                      std::span<const HeldValues> updated) {
  const DTypes& types = to.options.dtypes;
  const std::int64_t gradient = element_bytes(types.gradients);
  const std::int64_t parameter = element_bytes(types.parameters);
  const std::int64_t passed = update_bytes(to.optimizer(), types.parameters, types.gradients);
  const Task task = to.task(TaskKind::transfer, Phase::update, layer, shard);
  refuse_without_host(to.cluster[task.device]);
  std::int64_t values = 0;
  std::vector<Piece> back;
  for (const HeldValues& held : updated) {
    back.push_back({task.device, {}, Bytes{held.values * parameter}, {}, View{held.buffer}});
    values += held.values;
  }
  const Piece sent{task.device, {}, Bytes{values * gradient}, gradients, {}};
  const Piece work{task.device, {}, Bytes{values * passed}, {}, {}};
  const auto add = [&](HostPart part, std::span<const Piece> pieces,
                       std::span<const TaskId> before) {
    return to.builder.add_on_host(part, task, pieces, before);
  };
  const TaskId arrived = add(HostPart::link_to_host, {&sent, 1}, after);
  const TaskId done = add(HostPart::memory, {&work, 1}, {&arrived, 1});
  return add(HostPart::link_to_device, back, {&done, 1});
}

// The update may overwrite parameters only once the device's own backward passes have read them.
TaskId update_interval(Expansion& to, const Bucket& bucket, const SharedBucket& shared,
                       std::size_t at, std::span<const TaskId> after, bool on_host) {
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
  if (on_host) {
    const HeldValues updated[] = {{shared.parameters[at], values}};
    return update_on_host(to, layer, shard, after, View{gradients}, updated);
  }
  std::vector<Operand> operands = {
      {shared.parameters[at], 0, Role::parameters, Access::update,
       begin(shares_parameters(sync, bucket)), values},
      {gradients, 0, Role::parameter_gradients, Access::read, begin(has_part), values}};
  if (const BufferId state = add_state(to, layer, shard, values); state.valid()) {
    operands.push_back({state, 0, Role::optimizer_state, Access::update, 0, values});
  }
  return to.builder.add(to.task(TaskKind::compute, Phase::update, layer, shard), after, operands);
}

void update_layer_on_host(Expansion& to, LayerId layer, std::uint32_t shard) {
  const LayerParameters& own = to.parameters[layer()];
  const std::size_t at = to.shards.slot(layer, shard);
  const BufferId parameters = own.buffers[at].buffer;
  std::vector<TaskId> after = {own.added[at]};
  wait_for_readers(to, layer, shard, after);
  wait_for_norm(to, to.shards.device(layer, shard), after);
  const HeldValues updated[] = {{parameters, to.builder.so_far()[parameters].values}};
  update_on_host(to, layer, shard, after, View{own.gradients[at].buffer}, updated);
}

// The gradients of a bucket lie in one buffer, so that all of it goes to the host at once.
void update_bucket_on_host(Expansion& to, const Bucket& bucket, std::size_t replica,
                           TaskId summed) {
  std::vector<TaskId> after = {summed};
  wait_for_norm(to, bucket.devices[replica], after);
  std::vector<HeldValues> updated;
  for (const BucketPart& part : bucket.parts) {
    const LayerId layer = part.layer_of(replica);
    const std::uint32_t shard = part.shards[replica];
    wait_for_readers(to, layer, shard, after);
    const BufferId parameters = parameters_of(to, layer, shard).buffer;
    updated.push_back({parameters, to.builder.so_far()[parameters].values});
  }
  const BucketPart& end = bucket.parts.back();
  const LayerId layer = end.layer_of(replica);
  const std::uint32_t shard = end.shards[replica];
  const std::size_t at = to.shards.slot(layer, shard);
  update_on_host(to, layer, shard, after, View{to.parameters[layer()].gradients[at].buffer},
                 updated);
}

}  // namespace

// The update may overwrite the parameters only once the layer's own backward pass has read them.
TaskId add_update(Expansion& to, LayerId layer, std::size_t shard, std::span<const TaskId> after,
                  std::span<const Piece> sent) {
  const LayerParameters& own = to.parameters[layer()];
  const std::size_t at = to.shards.slot(layer, shard);
  const Values& gradients = own.gradients[at];
  std::vector<TaskId> waits(after.begin(), after.end());
  wait_for_readers(to, layer, shard, waits);
  wait_for_norm(to, to.shards.device(layer, shard), waits);
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

void expand(Expansion& to, const Action&, const UpdateLayer& update) {
  const LayerId layer = update.layer;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    if (update.on_host) {
      update_layer_on_host(to, layer, shard);
      continue;
    }
    const TaskId gradient = to.parameters[layer()].added[to.shards.slot(layer, shard)];
    add_update(to, layer, shard, std::span(&gradient, 1));
  }
}

// One after another, as a device does them anyway: only the last one ends the use of the buffer.
void expand(Expansion& to, const Action&, const UpdateBucket& update) {
  const Bucket& bucket = to.step.buckets[update.bucket];
  const std::vector<TaskId>& summed = to.summed[update.bucket];
  if (summed.empty()) return;
  if (update.on_host) {
    std::size_t at = 0;
    for (std::size_t replica = 0; replica < bucket.devices.size(); ++replica) {
      if (!to.shards.has_tasks(bucket.devices[replica])) continue;
      update_bucket_on_host(to, bucket, replica, summed[at++]);
    }
    return;
  }
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
    wait_for_norm(to, bucket.devices[replica], own);
    if (interval_of(bucket, replica).empty()) continue;
    task = update_interval(to, bucket, shared, at, own, update.on_host);
    own.push_back(task);
  }
  if (!update.on_host) to.builder.set_updates(shared.sum, std::move(updates));
}

void expand(Expansion& to, const Action&, const GatherUpdated& gather) {
  const Bucket& bucket = to.step.buckets[gather.bucket];
  if (!is_expanded(to, bucket)) return;
  const SharedBucket& shared = to.shared[gather.bucket];
  const auto layers = static_cast<double>(bucket.parts.size());
  const auto hops = static_cast<double>(bucket.devices.size() - 1);
  const Seconds passing{layers * hops * to.options.sync.broadcast_hop.value};
  Group all = bucket_group(to, bucket, shared.algorithm, GroupWork::all_gather, passing);
  all.buffers = shared.parameters;
  Task kind;
  kind.kind = TaskKind::gather;
  kind.phase = Phase::forward;
  join_bucket(to, bucket, to.builder.add_group(std::move(all)), kind, shared.updated);
}

}  // namespace strata
