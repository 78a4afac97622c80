// The norm of all gradients, or whether one of them is infinite: a number of every device, summed
// over all that hold gradients, which all updates wait for.

#include "sim/plan/gradient_norm.h"

#include <algorithm>

#include "sim/plan/expansion.h"

namespace strata {
namespace {

/// What a device brings to the norm.
struct NormPart {
  Task task;                  ///< in the name of the last of its layers
  std::vector<TaskId> after;  ///< gradients that are complete
};

/// By device; of those that have tasks and gradients.
class NormParts {
 public:
  explicit NormParts(const Expansion& to) : to_(to), parts_(to.cluster.device_count()) {}

  void add(LayerId layer, std::uint32_t shard, TaskId after) {
    const Task task = to_.task(TaskKind::collective, Phase::backward_statistics, layer, shard);
    NormPart& part = parts_[task.device()];
    part.task = task;
    part.after.push_back(after);
  }
  std::vector<NormPart> present() {
    std::erase_if(parts_, [](const NormPart& part) { return part.after.empty(); });
    return std::move(parts_);
  }

 private:
  const Expansion& to_;
  std::vector<NormPart> parts_;
};

// Of layers without replicas.
void add_layers(const Expansion& to, NormParts& parts) {
  for (const Action& action : std::span(to.step.actions).subspan(to.step.end)) {
    const auto* const update = std::get_if<UpdateLayer>(&action.work);
    if (update == nullptr) continue;
    for (const std::uint32_t shard : to.shards.of(update->layer)) {
      const std::size_t at = to.shards.slot(update->layer, shard);
      parts.add(update->layer, shard, to.parameters[update->layer()].added[at]);
    }
  }
}

void add_bucket(const Expansion& to, std::uint32_t b, NormParts& parts) {
  const Bucket& bucket = to.step.buckets[b];
  if (bucket.frozen || !is_expanded(to, bucket)) return;
  const bool shares = to.options.sync.shares();
  const std::vector<TaskId>& ends = shares ? to.shared[b].reduced : to.summed[b];
  const BucketPart& end = bucket.parts.back();
  std::size_t at = 0;
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    if (!to.shards.has_tasks(bucket.devices[k])) continue;
    parts.add(end.layer_of(k), end.shards[k], ends[at++]);
  }
}

std::vector<NormPart> norm_parts(const Expansion& to) {
  NormParts parts(to);
  add_layers(to, parts);
  for (std::uint32_t b = 0; b < to.step.buckets.size(); ++b) add_bucket(to, b, parts);
  return parts.present();
}

// A number takes as long as on idle links, and takes nothing of these: a tree would tell devices
// apart by it that are alike.
GroupShape norm_shape(Expansion& to, SyncAlgorithm algorithm,
                      const std::vector<DeviceId>& devices) {
  SyncCosts& costs = to.memo.sync_costs();
  const Seconds time = costs.joint({devices}).time(algorithm, std::span(&kNormBytes, 1), 0);
  return {costs.ring(devices), {{0, time, {}}}};
}

std::uint32_t add_norm_group(Expansion& to, const std::vector<DeviceId>& devices,
                             const NormPart& first, std::size_t participants) {
  const ReplicaGroup all{devices, kNormBytes};
  const SyncAlgorithm algorithm = to.memo.sync_costs().cheapest_for_statistics(all);
  Group sum{GroupPurpose::statistics, algorithm,
            to.builder.add_group_shape(norm_shape(to, algorithm, devices)), kNormBytes};
  sum.values = 1;
  sum.layers = {{first.task.layer, kNormBytes}};
  sum.counts.assign(participants, 1);
  return to.builder.add_group(std::move(sum));
}

}  // namespace

std::vector<DeviceId> devices_with_gradients(const Strategy& strategy, const Step& step) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (!step.layers[i].trains) continue;
    const auto& own = strategy[LayerId(i)].devices;
    devices.insert(devices.end(), own.begin(), own.end());
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

void expand(Expansion& to, const Action&, const SumGradientNorm&) {
  const std::vector<DeviceId> devices = devices_with_gradients(to.strategy, to.step);
  const std::vector<NormPart> parts = norm_parts(to);
  if (devices.size() < 2 || parts.empty()) return;
  const std::uint32_t group = add_norm_group(to, devices, parts.front(), parts.size());
  std::vector<Task> tasks;
  std::vector<TaskId> all;
  for (const NormPart& part : parts) {
    tasks.push_back(part.task);
    all.insert(all.end(), part.after.begin(), part.after.end());
  }
  if (!have_copy_engines(to, tasks)) {
    const std::vector<TaskId> gathered = sum_by_hand(to, group, tasks, all);
    for (std::size_t i = 0; i < tasks.size(); ++i) to.normed[tasks[i].device()] = gathered[i];
    return;
  }
  for (const NormPart& part : parts) {
    to.normed[part.task.device()] = to.builder.join_group(group, part.task, part.after);
  }
}

}  // namespace strata
