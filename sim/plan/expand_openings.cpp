// Parameters that replicas share: each pass gathers what it reads, while the one before it
// computes.

#include <algorithm>
#include <map>
#include <utility>

#include "sim/plan/expansion.h"

namespace strata {
namespace {

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

}  // namespace

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

}  // namespace strata
