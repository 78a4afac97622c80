#include "sim/plan/classify_devices.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/mixed_bits.h"
#include "sim/step/buckets.h"
#include "sim/step/redistribution.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

/// An edge whose shards read others than the one that lies on their device.
struct Exchange {
  EdgeReads reads;
  std::span<const DeviceId> producers, consumers;  // by shard
};

/// Devices that sum something together.
struct SumGroup {
  const std::vector<DeviceId>* devices = nullptr;
  Bits sums = 0;  ///< what, and how
  std::set<SyncAlgorithm> algorithms;
};

/// What a group puts on a link.
struct OwnLoad {
  std::uint32_t host = 0;  // whose link it is
  DeviceId device;         // likewise; invalid where the host's links are not its devices'
  std::size_t group = 0;   // among all groups
  Bits load = 0;           // on which of their links, and how much of what
};

class Refinement {
 public:
  Refinement(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
             const LowerOptions& options, std::span<const std::uint32_t> cost_models,
             SyncCosts& sync_costs, const HostSymmetry& hosts)
      : graph_(graph),
        strategy_(strategy),
        sync_(options.sync),
        cancelled_(options.cancelled),
        parameter_bytes_(element_bytes(options.dtypes.gradients)),
        sync_costs_(sync_costs),
        hosts_(hosts),
        needs_gradient_(requires_gradient(graph)),
        colours_(cluster.device_count()),
        sums_(hosts.hosts(), cluster.device_count()) {
    for (std::size_t d = 0; d < cost_models.size(); ++d) colours_[d] = mixed(cost_models[d]);
  }

  /// Whether the strategy is one of those that are understood.
  bool look() {
    const std::vector<std::uint32_t> ordinals = parameter_ordinals(graph_);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const LayerId layer(i);
      if (is_input(graph_[layer].op)) continue;
      throw_if_cancelled(cancelled_);
      look_at_sizes(layer);
      for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
        if (!look_at_edge(layer, input)) return false;
      }
      look_at_sums(layer);
      look_at_statistics(layer);
      look_at_servers(layer, ordinals[i]);
    }
    look_at_buckets();
    return true;
  }

  /// The colours of the devices, once look() has seen what there is. `exchange`: those of one host
  /// may have one, too.
  std::vector<std::uint32_t> refine(bool exchange) {
    const std::vector<Bits> seen = colours_;
    paint_devices(host_colours({}), exchange);
    std::size_t distinct = 0;
    for (;;) {
      std::vector<Bits> sorted = colours_;
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      if (sorted.size() == distinct) {
        const std::vector<Bits> refined = std::exchange(colours_, seen);
        return numbered(refined, sorted);
      }
      distinct = sorted.size();
      paint_devices(refine_once(), exchange);
    }
  }

  /// Whether every group in which a device stands for others has those that stand for its members,
  /// and loads their links as it loads those of the members.
  bool keeps_groups(const DeviceClasses& classes) const {
    const bool whole = std::all_of(groups_.begin(), groups_.end(), [&](const SumGroup& group) {
      const std::set<DeviceId> members(group.devices->begin(), group.devices->end());
      return !is_lowered(group, classes) ||
             std::all_of(members.begin(), members.end(), [&](DeviceId device) {
               return members.contains(classes.representative(device));
             });
    });
    return whole && keeps_loads(classes);
  }

 private:
  static bool is_lowered(const SumGroup& group, const DeviceClasses& classes) {
    const auto stands = [&](DeviceId device) { return classes.is_representative(device); };
    return std::any_of(group.devices->begin(), group.devices->end(), stands);
  }

  bool keeps_loads(const DeviceClasses& classes) const {
    std::set<std::tuple<std::size_t, DeviceId, Bits>> kept;
    std::vector<bool> lowered(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) lowered[g] = is_lowered(groups_[g], classes);
    for (const OwnLoad& load : loads_) {
      if (load.device.valid() && classes.is_representative(load.device)) {
        kept.emplace(load.group, load.device, load.load);
      }
    }
    return std::all_of(loads_.begin(), loads_.end(), [&](const OwnLoad& load) {
      return !load.device.valid() || !lowered[load.group] ||
             kept.contains({load.group, classes.representative(load.device), load.load});
    });
  }

  const Config& config(LayerId layer) const { return strategy_[layer]; }

  /// Equal configs have equal numbers.
  std::size_t number_of(const Config& config) {
    for (std::size_t k = 0; k < configs_.size(); ++k) {
      if (configs_[k] == &config || *configs_[k] == config) return k;
    }
    configs_.push_back(&config);
    return configs_.size() - 1;
  }

  /// What a cut dim of an edge depends on; of dims that are whole, everybody reads as much.
  using CutDim = std::tuple<Dim, std::int64_t, std::int64_t, DimAccess>;
  /// Its flags, in the end: read in row-major order, of a network input, of copies, and that the
  /// gradient stays where it is.
  using EdgeKey = std::tuple<std::size_t, std::size_t, std::vector<CutDim>, std::int64_t, Bits>;

  std::vector<CutDim> cut_dims(const AccessMap& access, const Extents& from, const Extents& to,
                               const Degrees& producer, const Degrees& consumer) const {
    const Degrees owners = output_degrees(producer), readers = output_degrees(consumer);
    std::vector<CutDim> dims;
    for (Dim dim : kDims) {
      const bool cut = owners[dim] > 1 || readers[dim] > 1 || consumer.r > 1 || access.row_major;
      if (cut) dims.emplace_back(dim, from[dim], to[dim], access.dims[dim]);
    }
    return dims;
  }

  // What shards compute, by themselves.
  void look_at_sizes(LayerId layer) {
    const Layer& l = graph_[layer];
    const Degrees& degrees = config(layer).degrees;
    const Degrees owners = output_degrees(degrees);
    std::vector<CutDim> dims;
    for (Dim dim : kDims) {
      if (owners[dim] > 1) dims.emplace_back(dim, l.output[dim], 0, access::Same{});
    }
    const std::int64_t terms = degrees.r > 1 ? l.reduction : 1;
    if (!sizes_.emplace(number_of(config(layer)), 0, std::move(dims), terms, Bits{}).second) return;
    const Partition cut = partition(l, degrees);
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      const Tile tile = cut.tile(shard);
      Bits bits = mixed(sizes_.size(), terms_in(l, tile), shard_parameters(l, tile).total());
      for (Dim dim : kDims) {
        if (owners[dim] > 1) bits = mixed(bits, tile[dim].size(), cut.box(shard)[dim].size());
      }
      colours_[config(layer).devices[static_cast<std::size_t>(shard)]()] += bits;
    }
  }

  bool look_at_edge(LayerId layer, std::size_t input) {
    const LayerId producer = graph_[layer].inputs[input];
    const AccessMap access = access_map(graph_, layer, input);
    const Extents &from = graph_[producer].output, &to = graph_[layer].output;
    const Config &owners = config(producer), &readers = config(layer);
    if (reads_own_shard(graph_, layer, input, owners, readers)) return true;
    std::vector<CutDim> dims = cut_dims(access, from, to, owners.degrees, readers.degrees);
    const bool of_copies = has_copies(graph_[producer], owners);
    const bool copies = of_copies || has_copies(graph_[layer], readers);
    const bool whole = gets_whole_gradient(graph_, strategy_, producer);
    const bool from_network = is_input(graph_[producer].op);
    const EdgeKey key{number_of(owners), number_of(readers), std::move(dims),
                      graph_[layer].reduction,
                      Bits{access.row_major} | Bits{from_network} << 1U | Bits{of_copies} << 2U |
                          Bits{whole} << 3U};
    if (!edges_.insert(key).second) return true;
    EdgeReads reads = edge_reads(graph_, layer, input, owners, readers);
    if (is_too_much(reads)) return false;
    look_at_places(layer, producer, reads);
    if (from_network) return true;
    exchanges_.push_back({std::move(reads), owners.devices, readers.devices});
    if (!copies || whole) return true;
    EdgeReads returns = edge_returns(graph_, layer, input, owners, readers);
    if (is_too_much(returns)) return false;
    exchanges_.push_back({std::move(returns), owners.devices, readers.devices});
    return true;
  }

  static bool is_too_much(const EdgeReads& reads) {
    std::size_t pairs = 0;
    for (const auto& owned : reads.owners) pairs += owned.size();
    return reads.in_pieces || pairs > kMostPairs;
  }

  // How much a shard reads and, where it reads one shard of its own device, where that lies in it:
  // it may read it there.
  void look_at_places(LayerId layer, LayerId producer, const EdgeReads& reads) {
    const Partition owned = partition(graph_[producer], config(producer).degrees);
    std::map<DeviceId, std::int64_t> owner_on;
    // A network's data lie nowhere before they are read.
    const std::size_t owners = is_input(graph_[producer].op) ? 0 : config(producer).devices.size();
    for (std::size_t s = 0; s < owners; ++s) {
      owner_on.emplace(config(producer).devices[s], static_cast<std::int64_t>(s));
    }
    for (std::size_t k = 0; k < reads.boxes.size(); ++k) {
      for (const std::uint32_t reader : reads.readers[k]) {
        const DeviceId device = config(layer).devices[reader];
        const auto own = owner_on.find(device);
        const bool alone = reads.owners[k].size() == 1 && own != owner_on.end() &&
                           reads.owners[k].front().shard == own->second;
        Bits bits = edges_.size();
        for (const Box& box : reads.boxes[k]) {
          for (Dim dim : kDims) bits = mixed(bits, box[dim].size());
          if (!alone) continue;
          const Box lies = owned.held(own->second);
          for (Dim dim : kDims) bits = mixed(bits, box[dim].begin - lies[dim].begin);
        }
        colours_[device()] += mixed(bits);
      }
    }
  }

  // Of a layer that is cut in r: who adds up whose terms, or owns whose gradients.
  void look_at_sums(LayerId layer) {
    const Config& cut = config(layer);
    if (cut.degrees.r == 1) return;
    if (!partials_.emplace(number_of(cut), graph_[layer].output).second) return;
    EdgeReads sums;
    for (const NeededBox& box : partial_boxes(graph_[layer], cut)) {
      sums.boxes.emplace_back();
      sums.owners.push_back({{box.producer_shard, volume(box.box)}});
      sums.readers.push_back({box.consumer_shard});
    }
    exchanges_.push_back({std::move(sums), cut.devices, cut.devices});
  }

  // Shards that combine a statistic, which all groups of a cut do for the same layers.
  void look_at_statistics(LayerId layer) {
    const PhaseSet phases = step_phases(graph_, layer, needs_gradient_);
    if (!phases[Phase::forward_statistics] && !phases[Phase::backward_statistics]) return;
    const Config& cut = config(layer);
    const PerDim<bool> over =
        statistics(graph_[layer], partition(graph_[layer], cut.degrees).box(0)).over;
    if (!statistics_.emplace(number_of(cut), over).second) return;
    for (const auto& shards : shard_groups(cut.degrees, over)) {
      if (shards.size() < 2) continue;
      std::vector<DeviceId> devices;
      devices.reserve(shards.size());
      for (const std::uint32_t shard : shards) devices.push_back(cut.devices[shard]);
      add_group(std::move(devices), statistics_.size(), statistics_algorithms());
    }
  }

  // Devices that sum gradients, and which layers' at once.
  void look_at_buckets() {
    std::vector<bool> trains(graph_.size());
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      trains[i] = step_phases(graph_, LayerId(i), needs_gradient_)[Phase::update];
    }
    for (const Bucket& bucket : gradient_buckets(graph_, strategy_, trains, sync_.bucket_in_use(),
                                                 parameter_bytes_, sync_.unit())) {
      Bits contents = 0x6BC;
      for (const BucketPart& part : bucket.parts) {
        contents = mixed(contents, part.layer(), part.first);
      }
      if (sync_.shares()) look_at_intervals(bucket, contents);
      const SyncAlgorithm chosen = sync_.algorithm;
      add_group(bucket.devices, mixed(contents, bucket.values),
                chosen != SyncAlgorithm::automatic ? std::span(&chosen, 1)
                : sync_.may_serve()                ? parameter_algorithms()
                                                   : collective_algorithms());
    }
  }

  // How large the interval is that a device keeps and updates.
  void look_at_intervals(const Bucket& bucket, Bits contents) {
    for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
      const std::int64_t own = share_of(bucket.values, bucket.devices.size(), k).size();
      colours_[bucket.devices[k]()] += mixed(contents, 0x2E60, own);
    }
  }

  // No two parameter servers are alike.
  void look_at_servers(LayerId layer, std::uint32_t ordinal) {
    if (!sync_.may_serve() || !step_phases(graph_, layer, needs_gradient_)[Phase::update]) return;
    std::vector<bool> alone(graph_.size());
    alone[layer()] = true;
    const std::vector<Bucket> groups =
        gradient_buckets(graph_, strategy_, alone, Bytes{}, parameter_bytes_);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const std::vector<DeviceId>& devices = groups[k].devices;
      const DeviceId device = devices[server_replica(ordinal, k, devices.size())];
      colours_[device()] += mixed(0x5E47E4, device());
    }
  }

  // What the same devices sum one after another is one group's.
  void add_group(std::vector<DeviceId> devices, Bits sums,
                 std::span<const SyncAlgorithm> algorithms) {
    const auto [at, fresh] = group_of_.try_emplace(std::move(devices), groups_.size());
    if (fresh) groups_.push_back({&at->first, 0, {}});
    SumGroup& group = groups_[at->second];
    group.sums = mixed(group.sums, sums);
    for (const SyncAlgorithm algorithm : algorithms) add_loads(algorithm, group);
  }

  // How long the sum takes besides, and what it puts on the links.
  void add_loads(SyncAlgorithm algorithm, SumGroup& group) {
    if (algorithm == SyncAlgorithm::ps || !group.algorithms.insert(algorithm).second) return;
    Bits at = static_cast<Bits>(algorithm);
    // Links that are loaded alike by one protocol are so by each.
    for (const CollectivePhase& phase :
         sync_costs_.collective(algorithm, *group.devices).phases(0)) {
      at = mixed(at, bits_of(phase.latency.value), bits_of(phase.bytes_per_byte));
      for (const LinkLoad& load : phase.loads) {
        const std::uint32_t host = hosts_.host(load.link);
        const bool own = hosts_.splits(host);
        const Bits link = own ? hosts_.own_number(load.link) : hosts_.number(load.link);
        loads_.push_back({host, own ? hosts_.owner(load.link) : DeviceId(),
                          static_cast<std::size_t>(&group - groups_.data()),
                          mixed(at, link, bits_of(load.weight), bits_of(load.share))});
      }
    }
    group.sums = mixed(group.sums, at);
  }

  static Bits bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

  static std::vector<std::uint32_t> numbered(const std::vector<Bits>& colours,
                                             const std::vector<Bits>& sorted) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(colours.size());
    for (const Bits colour : colours) {
      const auto at = std::lower_bound(sorted.begin(), sorted.end(), colour);
      numbers.push_back(static_cast<std::uint32_t>(at - sorted.begin()));
    }
    return numbers;
  }

  // Devices of a host that can't be exchanged are like no others of it.
  void paint_devices(const std::vector<Bits>& hosts, bool exchange) {
    for (std::size_t d = 0; d < colours_.size(); ++d) {
      const DeviceId device(d);
      const std::uint32_t place = exchange ? hosts_.first_alike(device) : hosts_.number(device);
      colours_[d] = mixed(colours_[d], hosts[hosts_.host(device)], place);
    }
  }

  // `loads`: of each host's links. Devices that can be exchanged may stand in any order.
  std::vector<Bits> host_colours(const std::vector<Bits>& loads) const {
    std::vector<Bits> hosts;
    for (std::size_t h = 0; h < hosts_.hosts(); ++h) {
      Bits devices = 0;
      for (std::size_t k = 0; k < hosts_.device_count(h); ++k) {
        devices += mixed(colours_[hosts_.device(h, k)()]);
      }
      hosts.push_back(mixed(hosts_.type(h), loads.empty() ? 0 : loads[h], devices));
    }
    return hosts;
  }

  // Takes into each colour what the device has to do with which others.
  std::vector<Bits> refine_once() {
    std::vector<Bits> next = colours_;
    for (std::size_t k = 0; k < exchanges_.size(); ++k) add_exchange(exchanges_[k], k, next);
    std::vector<Bits> groups, loads(hosts_.hosts());
    for (const SumGroup& group : groups_) {
      Bits sum = group.devices->size();
      for (const DeviceId device : *group.devices) sum += mixed(colours_[device()]);
      groups.push_back(mixed(group.sums, sum));
    }
    std::vector<Bits> loaded = groups;
    for (const OwnLoad& load : loads_) {
      if (load.device.valid()) loaded[load.group] += mixed(colours_[load.device()], load.load);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const DeviceId device : *groups_[g].devices) next[device()] += mixed(loaded[g], 1);
    }
    for (const OwnLoad& load : loads_) {
      Bits& own = load.device.valid() ? next[load.device()] : loads[load.host];
      own += mixed(loaded[load.group], load.load);
    }
    colours_ = std::move(next);
    return host_colours(loads);
  }

  void add_exchange(const Exchange& exchange, Bits number, std::vector<Bits>& next) {
    for (std::size_t k = 0; k < exchange.reads.owners.size(); ++k) {
      const auto& owners = exchange.reads.owners[k];
      const auto& readers = exchange.reads.readers[k];
      for (const EdgeReads::Owner& owner : owners) {
        const DeviceId device = exchange.producers[owner.shard];
        sums_.add(hosts_.host(device), device, mixed(colours_[device()], owner.elements));
      }
      for (const std::uint32_t reader : readers) {
        const DeviceId device = exchange.consumers[reader];
        next[device()] += mixed(2 * number, sums_.seen_from(hosts_.host(device), device));
      }
      sums_.clear();
      for (const std::uint32_t reader : readers) {
        const DeviceId device = exchange.consumers[reader];
        sums_.add(hosts_.host(device), device, mixed(colours_[device()]));
      }
      for (const EdgeReads::Owner& owner : owners) {
        const DeviceId device = exchange.producers[owner.shard];
        next[device()] +=
            mixed(2 * number + 1, sums_.seen_from(hosts_.host(device), device), owner.elements);
      }
      sums_.clear();
    }
  }

  static constexpr std::size_t kMostPairs = std::size_t{1} << 22;

  const Graph& graph_;
  const Strategy& strategy_;
  const GradientSync sync_;
  const std::atomic<bool>* cancelled_;
  const std::int64_t parameter_bytes_;
  SyncCosts& sync_costs_;
  const HostSymmetry& hosts_;
  std::vector<bool> needs_gradient_;
  std::vector<Bits> colours_;  // by device
  Sums sums_;

  std::vector<const Config*> configs_;
  std::set<EdgeKey> sizes_, edges_;
  std::set<std::pair<std::size_t, PerDim<bool>>> statistics_;
  std::set<std::pair<std::size_t, Extents>> partials_;
  std::map<std::vector<DeviceId>, std::size_t> group_of_;  // in groups_
  std::vector<Exchange> exchanges_;
  std::vector<SumGroup> groups_;
  std::vector<OwnLoad> loads_;
};

// Who copies for itself does one thing after another, in an order that classes do not keep.
bool all_have_copy_engines(const Cluster& cluster) {
  return std::none_of(cluster.devices().begin(), cluster.devices().end(),
                      [](const Device& device) { return device.puts_together(); });
}

}  // namespace

DeviceClasses find_device_classes(const Graph& graph, const Cluster& cluster,
                                  const Strategy& strategy, const LowerOptions& options,
                                  std::span<const std::uint32_t> cost_models,
                                  SyncCosts& sync_costs) {
  DeviceClasses trivial(cluster.device_count());
  if (!all_have_copy_engines(cluster)) return trivial;
  const std::shared_ptr<const HostSymmetry> hosts = cluster.symmetry();
  if (!hosts->holds()) return trivial;
  Refinement refinement(graph, cluster, strategy, options, cost_models, sync_costs, *hosts);
  if (!refinement.look()) return trivial;
  for (const bool exchange : {true, false}) {
    DeviceClasses classes(hosts, refinement.refine(exchange));
    const bool alike = classes.representatives().size() < cluster.device_count();
    if (alike && refinement.keeps_groups(classes)) return classes;
  }
  return trivial;
}

}  // namespace strata
