#include "sim/search/layer_chain.h"

#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/step/redistribution.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

std::vector<LayerId> computing_layers(const Graph& graph) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!is_input(graph[LayerId(i)].op)) layers.push_back(LayerId(i));
  }
  return layers;
}

bool reads_only(const Graph& graph, LayerId layer, LayerId producer) {
  const std::vector<LayerId>& inputs = graph[layer].inputs;
  return inputs.size() == 1 && inputs.front() == producer;
}

// Each layer but the first one reads the one before it, and nothing else; the first one has
// weights, all others give gradients back.
bool is_chain(const Graph& graph) {
  const std::vector<LayerId> layers = computing_layers(graph);
  const std::vector<LayerCounts> counts = count_actions(graph, KernelTraits{});
  if (layers.size() < 2) return false;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const LayerCounts& own = counts[layers[k]()];
    const bool returns = own.computes(Phase::backward_data);
    if (k == 0 ? !own.computes(Phase::backward_weights) || returns
               : !returns || !reads_only(graph, layers[k], layers[k - 1])) {
      return false;
    }
  }
  return true;
}

std::int64_t common_elements(const Box& a, const Box& b) {
  std::int64_t elements = 1;
  for (Dim dim : kDims) {
    const Interval both = intersect(a[dim], b[dim]);
    if (both.empty()) return 0;
    elements *= both.end - both.begin;
  }
  return elements;
}

bool all_connected(const Cluster& cluster) {
  for (std::size_t from = 0; from < cluster.device_count(); ++from) {
    for (std::size_t to = 0; to < cluster.device_count(); ++to) {
      if (from != to && !cluster.connects(DeviceId(from), DeviceId(to))) return false;
    }
  }
  return true;
}

}  // namespace

bool LayerChain::applies(const Case& input) {
  const std::size_t devices = input.cluster.device_count();
  if (devices < 2 || devices > ExchangeBound::kMostDevices || input.rounds > 1) return false;
  if (input.exchanges != Exchanges::pairwise) return false;
  const auto copies = [](const Device& device) { return device.copy_engine; };
  const std::span<const Device> all = input.cluster.devices();
  return std::all_of(all.begin(), all.end(), copies) && is_chain(input.graph) &&
         all_connected(input.cluster);
}

LayerChain::LayerChain(const Case& input, const ExchangeBound& exchange)
    : input_(input),
      exchange_(exchange),
      layers_(computing_layers(input.graph)),
      first_ordinal_(parameter_ordinals(input.graph)[layers_.front()()]),
      sync_costs_(input.cluster) {}

ChainShards LayerChain::shards(std::size_t k, const Cut& cut, ShardTimer& timer) const {
  const Layer& layer = input_.graph[layers_[k]];
  const Config config = config_of(cut);
  const Partition parts = partition(layer, cut.degrees);
  ChainShards result;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    const auto number = static_cast<std::int64_t>(shard);
    result.devices.push_back(device());
    result.has[device()] = true;
    result.times[device()] = timer.times(layers_[k], cut, number, device);
    result.owned.push_back(parts.box(number));
    if (k == 0) continue;
    result.needed.push_back(needed_input(input_.graph, layers_[k], 0, parts.tile(number)));
  }
  if (cut.degrees.r == 1) return result;
  Traffic back{};
  result.sums.resize(input_.cluster.device_count());
  for (const NeededBox& box : partial_boxes(layer, config)) {
    const std::size_t owner = config.devices[box.consumer_shard]();
    const std::size_t term = config.devices[box.producer_shard]();
    const auto bytes = static_cast<double>(volume(box.box) * element_bytes(input_.dtypes.values));
    result.sums[owner][term] = true;
    result.partial[term][owner] += bytes;
    back[owner][term] += bytes;
  }
  result.collected = exchange_.arrivals(result.partial);
  result.spread = exchange_.arrivals(back);
  return result;
}

double LayerChain::least(const ChainShards& shards, const Times& times) {
  double least = times[shards.devices.front()];
  for (const std::size_t device : shards.devices) least = std::min(least, times[device]);
  return least;
}

LayerChain::Traffic LayerChain::needed(const ChainShards& earlier, const ChainShards& later) const {
  Traffic traffic{};
  const std::int64_t size = element_bytes(input_.dtypes.values);
  for (std::size_t reader = 0; reader < later.devices.size(); ++reader) {
    for (const Box& box : later.needed[reader]) {
      for (std::size_t owner = 0; owner < earlier.devices.size(); ++owner) {
        const std::int64_t elements = common_elements(box, earlier.owned[owner]);
        traffic[earlier.devices[owner]][later.devices[reader]] +=
            static_cast<double>(elements * size);
      }
    }
  }
  return traffic;
}

// Of a layer that is cut in r: when each shard has added up what the others of its sums made
// (forward), or has the gradient from all of them, who end or have it at these times.
LayerChain::Times LayerChain::meet(const ChainShards& shards, const Times& ends,
                                   bool forward) const {
  Times met{};
  const double first = least(shards, ends);
  const Times& arrivals = forward ? shards.collected : shards.spread;
  for (const std::size_t to : shards.devices) {
    met[to] = std::max(ends[to], first + arrivals[to]);
    for (const std::size_t from : shards.devices) {
      const double bytes = forward ? shards.partial[from][to] : shards.partial[to][from];
      if (from == to || bytes == 0) continue;
      met[to] = std::max(met[to], ends[from] + exchange_.arrival(from, to, bytes));
    }
  }
  return met;
}

// When all shards of each one's sums have what comes for them.
LayerChain::Times LayerChain::wait_for_sums(const Traffic& traffic,
                                            const ChainShards& shards) const {
  Times times{};
  for (const std::size_t device : shards.devices) {
    times[device] = exchange_.last_arrival(traffic, shards.sums[device]);
  }
  return times;
}

double LayerChain::forward(const Traffic& traffic, const ChainShards& later, bool last) const {
  Times ends = exchange_.arrivals(traffic);
  for (const std::size_t device : later.devices) {
    ends[device] += later.times[device].forward + (last ? later.times[device].data : 0);
  }
  // The gradient of the last layer waits for its terms alone.
  if (last || later.sums.empty()) return least(later, ends);
  Times met = meet(later, ends, true);
  const Times arrived = wait_for_sums(traffic, later);
  for (const std::size_t device : later.devices) {
    double quickest = later.times[device].forward;
    for (const std::size_t term : later.devices) {
      if (later.sums[device][term]) quickest = std::min(quickest, later.times[term].forward);
    }
    met[device] = std::max(met[device], arrived[device] + quickest);
  }
  return least(later, met);
}

// When the gradient of its output is at each shard of the earlier layer.
LayerChain::Times LayerChain::gradients(const Traffic& traffic, const ChainShards& earlier) const {
  Times arrived = exchange_.arrivals(traffic);
  if (earlier.sums.empty()) return arrived;
  Times met = meet(earlier, arrived, false);
  const Times all = wait_for_sums(traffic, earlier);
  for (const std::size_t device : earlier.devices) {
    met[device] = std::max(met[device], all[device]);
  }
  return met;
}

double LayerChain::begin(const ChainShards& first) const {
  Times ends{};
  for (const std::size_t device : first.devices) ends[device] = first.times[device].forward;
  return least(first, first.sums.empty() ? ends : meet(first, ends, true));
}

LayerChain::Link LayerChain::link(std::size_t k, const ChainShards& earlier, const Cut& earlier_cut,
                                  const ChainShards& later) const {
  Link link{0, needed(earlier, later), {}};
  for (const std::size_t from : earlier.devices) {
    for (const std::size_t to : later.devices) link.backward[to][from] = link.forward[from][to];
  }
  link.seconds = forward(link.forward, later, k + 1 == layers_.size());
  Times ends = gradients(link.backward, earlier);
  for (const std::size_t device : earlier.devices) {
    // The device's own gradient of the parameters comes before what waits for that of the inputs.
    const bool waits = later.has[device] && link.forward[device][device] > 0;
    if (waits) ends[device] = std::max(ends[device], later.times[device].weights);
    ends[device] += earlier.times[device].data + (k == 1 ? earlier.times[device].weights : 0);
  }
  link.seconds += k == 1 ? update(earlier, earlier_cut, ends) : least(earlier, ends);
  return link;
}

double LayerChain::computed(std::size_t k, const ChainShards& earlier,
                            const ChainShards& later) const {
  Times there{}, back{};
  for (const std::size_t device : later.devices) {
    const bool last = k + 1 == layers_.size();
    there[device] = later.times[device].forward + (last ? later.times[device].data : 0);
  }
  for (const std::size_t device : earlier.devices) {
    back[device] = earlier.times[device].data + (k == 1 ? earlier.times[device].weights : 0);
  }
  return least(later, there) + least(earlier, back);
}

// When the first of the first layer's shards has its new parameters.
double LayerChain::update(const ChainShards& first, const Cut& cut, const Times& gradients) const {
  const Layer& layer = input_.graph[layers_.front()];
  const Partition parts = partition(layer, cut.degrees);
  const auto groups = replica_shards(layer, cut.degrees);
  Times updated{};
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const std::vector<std::uint32_t>& replicas = groups[k];
    const Tile tile = parts.tile(static_cast<std::int64_t>(replicas.front()));
    const auto bytes = static_cast<double>(
        shard_parameters(layer, tile).total() *
        std::min(element_bytes(input_.dtypes.parameters), element_bytes(input_.dtypes.gradients)));
    std::vector<DeviceId> devices;
    double last = 0;
    for (const std::uint32_t shard : replicas) {
      devices.push_back(DeviceId(first.devices[shard]));
      last = std::max(last, gradients[first.devices[shard]]);
    }
    const SyncAlgorithm sync = input_.sync.algorithm;
    if (sync == SyncAlgorithm::ps && replicas.size() > 1) {
      const std::size_t server = server_replica(first_ordinal_, k, replicas.size());
      update_at_server(first, replicas, devices[server](), bytes, gradients, updated);
      continue;
    }
    if (sync == SyncAlgorithm::automatic && replicas.size() > 1) {
      for (DeviceId device : devices) updated[device()] = last;
      continue;
    }
    std::sort(devices.begin(), devices.end());
    const bool shares = replicas.size() > 1 && input_.sync.shares();  // each does a part of it
    const double seconds = replicas.size() > 1 ? sum_seconds(devices, bytes) : 0;
    for (DeviceId device : devices) {
      updated[device()] = last + seconds + (shares ? 0 : first.times[device()].update);
    }
  }
  return least(first, updated);
}

void LayerChain::update_at_server(const ChainShards& first, std::span<const std::uint32_t> replicas,
                                  std::size_t server, double bytes, const Times& gradients,
                                  Times& updated) const {
  Traffic traffic{};
  double earliest = gradients[server], ready = gradients[server];
  for (const std::uint32_t shard : replicas) {
    const std::size_t device = first.devices[shard];
    if (device == server) continue;
    traffic[device][server] = bytes;
    earliest = std::min(earliest, gradients[device]);
    ready = std::max(ready, gradients[device] + exchange_.arrival(device, server, bytes));
  }
  ready = std::max(ready, earliest + exchange_.arrivals(traffic)[server]);
  for (const std::uint32_t shard : replicas) {
    const std::size_t device = first.devices[shard];
    updated[device] = device == server ? ready : ready + exchange_.arrival(server, device, bytes);
  }
}

// At least, of a collective that is alone on its links.
double LayerChain::sum_seconds(const std::vector<DeviceId>& devices, double bytes) const {
  double seconds = 0;
  const Collective& collective = sync_costs_.collective(input_.sync.algorithm, devices);
  const Bytes whole{static_cast<std::int64_t>(bytes)};
  for (const CollectivePhase& phase : collective.phases(collective.fastest(whole))) {
    if (phase.loads.empty()) continue;
    double slowest = 0;
    for (const LinkLoad& load : phase.loads) {
      slowest = std::max(slowest, load.demand() / input_.cluster[load.link].bandwidth.value);
    }
    seconds += phase.latency.value + phase.bytes_per_byte * bytes * slowest;
  }
  return seconds;
}

}  // namespace strata
