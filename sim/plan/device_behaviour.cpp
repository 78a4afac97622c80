#include "sim/plan/device_behaviour.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/regions.h"
#include "sim/plan/gradient_norm.h"
#include "sim/plan/plan.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 22;

// What a cut dim of an edge depends on; of dims that are whole, everybody reads as much.
using CutDim = std::tuple<Dim, std::int64_t, std::int64_t, DimAccess>;
// Its flags, in the end: read in row-major order, of a network input, of copies, and that the
// gradient stays where it is. Of a layer by itself: the parameters that it holds.
using EdgeKey = std::tuple<std::size_t, std::size_t, std::vector<CutDim>, std::int64_t, Bits>;

/// How a group loads links; halves of an all-reduce load them as it does.
using Loading = std::pair<SyncAlgorithm, GroupWork>;

/// The behaviour so far, and what it has from which actions: those of blocks are alike.
struct Observer {
  const BehaviourOf& of;
  DeviceBehaviour found;
  bool understands = true;
  std::vector<const Config*> configs = {};
  std::set<EdgeKey> sizes = {}, edges = {}, returns = {};
  /// Of a cut and a layer's output: over which dims, and how many values.
  std::set<std::tuple<std::size_t, PerDim<bool>, Extents, std::int64_t>> statistics = {};
  std::set<std::pair<std::size_t, Extents>> partials = {};
  std::map<std::vector<DeviceId>, std::size_t> group_of = {};  // in found.groups
  std::vector<std::set<Loading>> loadings = {};                // of each group
  std::vector<bool> buckets = {};                              // that were seen
  std::vector<std::uint32_t> ordinals = parameter_ordinals(of.graph);

  const Config& config(LayerId layer) const { return of.strategy[layer]; }
  /// Equal configs have equal numbers.
  std::size_t number_of(const Config& config) {
    for (std::size_t k = 0; k < configs.size(); ++k) {
      if (configs[k] == &config || *configs[k] == config) return k;
    }
    configs.push_back(&config);
    return configs.size() - 1;
  }
  Bits& alone(DeviceId device) { return found.alone[device()]; }
};

// Whether all shards are of equal size.
bool cuts_evenly(const Layer& layer, const Degrees& degrees) {
  const auto divides = [&](Dim dim) { return layer.output[dim] % degrees[dim] == 0; };
  return degrees.r == 1 && std::ranges::all_of(kDims, divides);
}

// What shards compute, by themselves.
void observe_sizes(Observer& by, LayerId layer) {
  const Layer& l = by.of.graph[layer];
  const Config& config = by.config(layer);
  const Degrees& degrees = config.degrees;
  const Degrees owners = output_degrees(degrees);
  std::vector<CutDim> dims;
  for (Dim dim : kDims) {
    if (owners[dim] > 1) dims.emplace_back(dim, l.output[dim], 0, access::Same{});
  }
  const std::int64_t terms = degrees.r > 1 ? l.reduction : 1;
  const Bits held =
      mixed(l.parameters.weight, l.parameters.bias, static_cast<std::uint64_t>(l.format),
            static_cast<std::uint64_t>(!l.routing.load.empty()));
  if (!by.sizes.emplace(by.number_of(config), 0, std::move(dims), terms, held).second) return;
  const Partition cut = partition(l, degrees);
  const auto bits_of = [&](std::int64_t shard) {
    const Tile tile = cut.tile(shard);
    Bits bits = mixed(by.sizes.size(), terms_in(l, tile), shard_parameters(l, tile).total());
    for (Dim dim : kDims) {
      if (owners[dim] > 1) bits = mixed(bits, tile[dim].size(), cut.box(shard)[dim].size());
    }
    if (!l.routing.load.empty()) bits = mixed(bits, std::bit_cast<Bits>(load_of(l, tile)));
    return bits;
  };
  const bool alike = cuts_evenly(l, degrees) && l.routing.load.empty();
  Bits bits = 0;
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    if (shard == 0 || !alike) bits = bits_of(shard);
    by.alone(config.devices[static_cast<std::size_t>(shard)]) += bits;
  }
}

bool is_too_much(const EdgeReads& reads) {
  std::size_t pairs = 0;
  for (const auto& owned : reads.owners) pairs += owned.size();
  return reads.in_pieces || pairs > kMostPairs;
}

EdgeKey edge_key(Observer& by, LayerId layer, std::size_t input) {
  const Graph& graph = by.of.graph;
  const LayerId producer = graph[layer].inputs[input];
  const AccessMap access = access_map(graph, layer, input);
  const Config &from = by.config(producer), &to = by.config(layer);
  const Degrees owners = output_degrees(from.degrees), readers = output_degrees(to.degrees);
  std::vector<CutDim> dims;
  for (Dim dim : kDims) {
    const bool cut = owners[dim] > 1 || readers[dim] > 1 || to.degrees.r > 1 || access.row_major;
    if (!cut) continue;
    dims.emplace_back(dim, graph[producer].output[dim], graph[layer].output[dim], access.dims[dim]);
  }
  const Bits flags = Bits{access.row_major} | Bits{is_input(graph[producer].op)} << 1U |
                     Bits{by.of.step[producer].repeats} << 2U |
                     Bits{by.of.step[producer].whole_gradient} << 3U;
  return {by.number_of(from), by.number_of(to), std::move(dims), graph[layer].reduction, flags};
}

// How much a shard reads and, where it reads one shard of its own device, where that lies in it:
// it may read it there.
void observe_places(Observer& by, LayerId layer, LayerId producer, const EdgeReads& reads) {
  const Layer& made = by.of.graph[producer];
  const Partition owned = partition(made, by.config(producer).degrees);
  std::map<DeviceId, std::int64_t> owner_on;
  // A network's data lie nowhere before they are read.
  const std::size_t owners = is_input(made.op) ? 0 : by.config(producer).devices.size();
  for (std::size_t s = 0; s < owners; ++s) {
    owner_on.emplace(by.config(producer).devices[s], static_cast<std::int64_t>(s));
  }
  for (std::size_t k = 0; k < reads.boxes.size(); ++k) {
    for (const std::uint32_t reader : reads.readers[k]) {
      const DeviceId device = by.config(layer).devices[reader];
      const auto own = owner_on.find(device);
      const bool alone = reads.owners[k].size() == 1 && own != owner_on.end() &&
                         reads.owners[k].front().shard == own->second;
      Bits bits = by.edges.size();
      for (const Box& box : reads.boxes[k]) {
        for (Dim dim : kDims) bits = mixed(bits, box[dim].size());
        if (!alone) continue;
        const Box lies = owned.held(own->second);
        for (Dim dim : kDims) bits = mixed(bits, box[dim].begin - lies[dim].begin);
      }
      by.alone(device) += mixed(bits);
    }
  }
}

// Links that are loaded alike by one protocol are so by each.
void add_loads(Observer& by, const Loading& loading, std::size_t number) {
  const auto [algorithm, work] = loading;
  if (algorithm == SyncAlgorithm::ps || !by.loadings[number].insert(loading).second) return;
  const auto bits_of = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  SumGroup& group = by.found.groups[number];
  const DomainSymmetry& domains = by.of.domains;
  const bool shuffles = work == GroupWork::all_to_all;
  Bits at = static_cast<Bits>(algorithm) + (shuffles ? 0xA2A : 0), shared = 0;
  for (const CollectivePhase& phase :
       by.of.sync_costs.collective(algorithm, group.devices, work).phases(0)) {
    at = mixed(at, bits_of(phase.latency.value), bits_of(phase.bytes_per_byte));
    for (const LinkLoad& load : phase.loads) {
      if (domains.is_shared(load.link)) {
        shared += mixed(load.link.value, bits_of(load.weight), bits_of(load.share));
        continue;
      }
      const std::uint32_t domain = domains.domain(load.link);
      const bool own = domains.splits(domain);
      const Bits link = own ? domains.own_number(load.link) : domains.number(load.link);
      by.found.loads.push_back({domain, own ? domains.owner(load.link) : DeviceId(), number,
                                mixed(at, link, bits_of(load.weight), bits_of(load.share))});
    }
  }
  group.sums = mixed(group.sums, at, shared);
}

// What the same devices sum one after another is one group's.
void add_group(Observer& by, const std::vector<DeviceId>& devices, Bits sums,
               std::span<const SyncAlgorithm> algorithms, GroupWork work = GroupWork::all_reduce) {
  const auto [at, fresh] = by.group_of.try_emplace(devices, by.found.groups.size());
  if (fresh) {
    by.found.groups.push_back({devices});
    by.loadings.emplace_back();
  }
  SumGroup& group = by.found.groups[at->second];
  group.sums = mixed(group.sums, sums);
  for (const SyncAlgorithm algorithm : algorithms) add_loads(by, {algorithm, work}, at->second);
}

Bits contents_of(const Bucket& bucket) {
  Bits contents = 0x6BC;
  for (const BucketPart& part : bucket.parts) contents = mixed(contents, part.layer(), part.first);
  return contents;
}

// Devices that sum gradients, and which layers' at once.
Bits add_bucket(Observer& by, std::uint32_t b) {
  const Bucket& bucket = by.of.step.buckets[b];
  const GradientSync& sync = by.of.sync;
  const Bits contents = contents_of(bucket);
  by.buckets.resize(by.of.step.buckets.size());
  if (by.buckets[b]) return contents;
  by.buckets[b] = true;
  const SyncAlgorithm chosen = sync.algorithm;
  add_group(by, bucket.devices, mixed(contents, bucket.values),
            chosen != SyncAlgorithm::automatic ? std::span(&chosen, 1)
            : sync.may_serve()                 ? parameter_algorithms()
                                               : collective_algorithms());
  return contents;
}

// What a library exchanges among each group.
void add_groups(Observer& by, const ExchangeGroups& groups, Bits number, bool by_rings = false) {
  constexpr SyncAlgorithm kRing = SyncAlgorithm::ring;
  for (const ExchangeGroups::Group& group : groups.groups) {
    add_group(by, group.devices, mixed(0xE8C4, number, group.elements), std::span(&kRing, 1),
              group.cut_otherwise && !by_rings ? GroupWork::all_to_all : GroupWork::all_reduce);
  }
}

void add_groups_of_edge(Observer& by, LayerId layer, std::size_t input, bool returned,
                        Bits number) {
  if (by.of.exchanges == nullptr) return;
  const LayerId producer = by.of.graph[layer].inputs[input];
  add_groups(
      by,
      *by.of.exchanges->exchanges(layer, input, by.config(producer), by.config(layer), returned),
      number, by.of.graph[producer].routing.dispatch == TokenDispatch::allgather);
}

void observe(Observer& by, const Read& read) {
  const Graph& graph = by.of.graph;
  const LayerId layer = read.layer;
  const std::uint32_t input = read.input;
  const LayerId producer = graph[layer].inputs[input];
  const Config &owners = by.config(producer), &readers = by.config(layer);
  if (read.from != ReadFrom::producer) return;  // as another read was
  if (reads_own_shard(graph, layer, input, owners, readers)) return;
  if (!by.edges.insert(edge_key(by, layer, input)).second) return;
  EdgeReads reads = edge_reads(graph, layer, input, owners, readers);
  by.understands = by.understands && !is_too_much(reads);
  if (!by.understands) return;
  observe_places(by, layer, producer, reads);
  if (is_input(graph[producer].op)) return;
  add_groups_of_edge(by, layer, input, false, 2 * by.edges.size());
  by.found.reads.push_back({std::move(reads), owners.devices, readers.devices});
}

// Most gradients go back as the boxes came.
void observe(Observer& by, const ReturnGradient& back) {
  const Graph& graph = by.of.graph;
  const LayerId layer = back.layer;
  const std::uint32_t input = back.input;
  const LayerId producer = graph[layer].inputs[input];
  const StepLayer &made = by.of.step[producer], &reads = by.of.step[layer];
  if ((!made.repeats && !reads.repeats) || made.whole_gradient) return;
  const Config &owners = by.config(producer), &readers = by.config(layer);
  if (reads_own_shard(graph, layer, input, owners, readers)) return;
  if (!by.returns.insert(edge_key(by, layer, input)).second) return;
  EdgeReads returns = edge_returns(graph, layer, input, owners, readers);
  by.understands = by.understands && !is_too_much(returns);
  if (!by.understands) return;
  add_groups_of_edge(by, layer, input, true, 2 * by.returns.size() + 1);
  by.found.reads.push_back({std::move(returns), owners.devices, readers.devices});
}

void observe(Observer& by, const Compute& compute) {
  if (compute.phase == Phase::forward) observe_sizes(by, compute.layer);
}

// Shards that combine a statistic, by what is the cheapest for its values: as expand_groups.cpp
// does.
void observe(Observer& by, const SumStatistics& sum) {
  const Config& cut = by.config(sum.layer);
  const Layer& layer = by.of.graph[sum.layer];
  const Partition parts = partition(layer, cut.degrees);
  const Statistics first = statistics(layer, parts.held(0));
  if (!by.statistics.emplace(by.number_of(cut), first.over, layer.output, first.values(sum.phase))
           .second) {
    return;
  }
  for (const auto& shards : shard_groups(cut.degrees, first.over)) {
    if (shards.size() < 2) continue;
    const Statistics own = statistics(layer, parts.held(shards.front()));
    const ReplicaGroup group{devices_of(cut, shards), own.bytes(sum.phase)};
    const SyncAlgorithm algorithm = by.of.sync_costs.cheapest_for_statistics(group);
    add_group(by, group.devices, by.statistics.size(), std::span(&algorithm, 1));
  }
}

// Who adds up whose terms, or owns whose gradients.
void observe_partials(Observer& by, LayerId layer) {
  const Config& cut = by.config(layer);
  if (cut.degrees.r == 1) return;
  if (!by.partials.emplace(by.number_of(cut), by.of.graph[layer].output).second) return;
  EdgeReads sums;
  for (const NeededBox& box : partial_boxes(by.of.graph[layer], cut)) {
    sums.boxes.emplace_back();
    sums.owners.push_back({{box.producer_shard, volume(box.box)}});
    sums.readers.push_back({box.consumer_shard});
  }
  by.found.reads.push_back({std::move(sums), cut.devices, cut.devices});
  if (by.of.exchanges == nullptr) return;
  add_groups(by, *by.of.exchanges->exchanges_of_sums(layer, cut), by.partials.size());
}

void observe(Observer& by, const SumPartialOutputs& sum) {
  observe_partials(by, sum.layer);
}

void observe(Observer& by, const SumOutputGradient& sum) {
  observe_partials(by, sum.layer);
}

// No two parameter servers are alike.
void observe(Observer& by, const SumGradients& sum) {
  add_bucket(by, sum.bucket);
  if (!by.of.sync.may_serve()) return;
  const Step& step = by.of.step;
  std::size_t k = 0;
  while (step.summed_at_once[sum.first + k] != sum.bucket) ++k;
  const Bucket& bucket = step.buckets[sum.bucket];
  const std::size_t server =
      server_replica(by.ordinals[bucket.parts.front().layer()], k, bucket.devices.size());
  by.alone(bucket.devices[server]) += mixed(0x5E47E4, bucket.devices[server]());
}

// How large the interval is that a device keeps.
void add_intervals(Observer& by, std::uint32_t number) {
  const Bucket& bucket = by.of.step.buckets[number];
  const Bits contents = add_bucket(by, number);
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    const std::int64_t own = share_of(bucket.values, bucket.devices.size(), k).size();
    by.alone(bucket.devices[k]) += mixed(contents, 0x2E60, own);
  }
}

void observe(Observer& by, const UpdateInterval& update) {
  add_intervals(by, update.bucket);
}

// Devices of all groups that hold the same interval.
void observe(Observer& by, const SumIntervals& sum) {
  const Step& step = by.of.step;
  const SyncAlgorithm chosen = by.of.sync.algorithm;
  const auto algorithms =
      chosen != SyncAlgorithm::automatic ? std::span(&chosen, 1) : collective_algorithms();
  const Bucket& bucket = step.buckets[sum.first];
  for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
    std::vector<DeviceId> devices;
    for (std::uint32_t b = sum.first; b < sum.first + sum.alike; ++b) {
      devices.push_back(step.buckets[b].devices[k]);
    }
    const std::int64_t own = share_of(bucket.values, bucket.devices.size(), k).size();
    add_group(by, devices, mixed(0x5A11, contents_of(bucket), own), algorithms);
  }
}

// All devices that hold gradients combine one number, which occupies no link.
void observe(Observer& by, const SumGradientNorm&) {
  const std::vector<DeviceId> all = devices_with_gradients(by.of.strategy, by.of.step);
  if (all.size() > 1) add_group(by, all, 0x4024, {});
}

// What these do, devices do as other actions say: halves of a bucket's sum, boxes that were read
// before, updates of what they hold, and nothing.
void observe(Observer&, const ReduceScatter&) {}
void observe(Observer&, const GatherParameters&) {}
void observe(Observer&, const GatherUpdated&) {}
void observe(Observer&, const GatherInputsAgain&) {}
void observe(Observer&, const PutTogetherAgain&) {}
void observe(Observer&, const UpdateLayer&) {}
void observe(Observer&, const UpdateBucket&) {}
void observe(Observer&, const Forget&) {}

}  // namespace

// All rounds are alike but for what ends with the last of them.
std::optional<DeviceBehaviour> device_behaviour(const BehaviourOf& of, std::vector<Bits> alone) {
  Observer by{of, {std::move(alone), {}, {}, {}}};
  for (std::uint32_t b = 0; b < of.step.buckets.size(); ++b) {
    if (of.step.buckets[b].frozen) add_intervals(by, b);  // is gathered, and nobody sums it
  }
  for (const Action& action : of.step.actions) {
    if (action.round > 0 && !action.ends_rounds()) continue;
    throw_if_cancelled(of.cancelled);
    std::visit([&](const auto& work) { observe(by, work); }, action.work);
    if (!by.understands) return std::nullopt;
  }
  return std::move(by.found);
}

}  // namespace strata
