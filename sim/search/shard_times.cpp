#include "sim/search/shard_times.h"

#include <algorithm>

#include "sim/engine/tick.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

/// Ticks are rounded to the nearest, and sums of seconds in their last bits.
constexpr double kRounding = 1 / kTicksPerSecond;

}  // namespace

LayerId ShardTimer::first_equal(LayerId layer) const {
  const LayerId first = costs_.first_equal(layer);
  return counts(first) == counts(layer) ? first : layer;
}

ShardTimes ShardTimer::times(LayerId layer, const Cut& cut, std::int64_t shard, DeviceId device) {
  const LayerCounts& its = counts(layer);
  const Tile tile = partition(input_.graph[layer], cut.degrees).tile(shard);
  const PhaseCosts& costs = costs_(layer, tile, *input_.models[device()]);
  const auto seconds = [&](Phase phase) {
    if (its.times(phase, 1) == 0) return 0.0;
    const Seconds time = costs[static_cast<std::size_t>(phase)].seconds;
    return std::max(0.0, time.value / input_.cluster[device].speed - kRounding);
  };
  return {seconds(Phase::forward_statistics) + seconds(Phase::forward),
          seconds(Phase::backward_statistics) + seconds(Phase::backward_data),
          seconds(Phase::backward_weights),
          input_.sync.updates_on_host() ? 0.0 : seconds(Phase::update)};
}

double ShardTimer::seconds(LayerId layer, const Cut& cut, DeviceId device) {
  const auto shard = shard_on(cut, device);
  if (!shard) return 0;
  return of_step(layer, times(layer, cut, *shard, device), !may_update_elsewhere(layer, cut));
}

void ShardTimer::add_seconds(LayerId layer, const Cut& cut, std::span<double> by_device) {
  const ShardDevices devices = config_of(cut).devices;
  const bool updates = !may_update_elsewhere(layer, cut);
  for (std::size_t shard = 0; shard < devices.size(); ++shard) {
    const DeviceId device = devices[shard];
    by_device[device()] +=
        of_step(layer, times(layer, cut, static_cast<std::int64_t>(shard), device), updates);
  }
}

double ShardTimer::of_step(LayerId layer, const ShardTimes& times, bool updates) const {
  const double of_round =
      counts(layer).times(Phase::forward, 1) * times.forward + times.data + times.weights;
  return input_.rounds * of_round + (updates ? times.update : 0);
}

std::optional<std::int64_t> ShardTimer::shard_on(const Cut& cut, DeviceId device) {
  if (device() == 0) return 0;
  if (static_cast<std::int64_t>(device()) >= cut.shards()) return std::nullopt;
  const ShardDevices devices = config_of(cut).devices;
  const auto at = std::find(devices.begin(), devices.end(), device);
  return at - devices.begin();
}

// A parameter server does it for all replicas, or each does a part of it.
bool ShardTimer::may_update_elsewhere(LayerId layer, const Cut& cut) const {
  if (!input_.sync.may_serve() && !input_.sync.shares()) return false;
  return replica_shards(input_.graph[layer], cut.degrees).front().size() > 1;
}

}  // namespace strata
