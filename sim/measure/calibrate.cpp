#include "sim/measure/calibrate.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/what_if.h"
#include "sim/graph/step_phases.h"
#include "sim/measure/host_memory.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

// Of copies between devices: the smallest, one as networks have them, one whose latency matters
// little.
constexpr Bytes kLeast{1 << 10}, kTypicalMove{1 << 20}, kLargeMove{1 << 24};

// Above what fits in most caches, time is in proportion to the bytes.
constexpr Bytes kAnyMove{1 << 24}, kLargestMove{1 << 28};

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph), needs_(requires_gradient(graph)) {}

  void add(LayerId layer, const Degrees& degrees) {
    const Layer& l = graph_[layer];
    const Partition cut = partition(l, l.reduction == 1 ? output_degrees(degrees) : degrees);
    const PhaseSet phases = step_phases(graph_, layer, needs_);
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      const Tile tile = cut.tile(shard);
      if (!seen_[layer()]
               .insert(cost_key(graph_, layer, tile, DType::fp32, Phase::forward))
               .second) {
        continue;
      }
      for (int p = 0; p < kKernelPhases; ++p) {
        const auto phase = static_cast<Phase>(p);
        if (phases[phase]) requests_.push_back({layer, tile, phase});
      }
    }
  }
  std::vector<MeasureRequest> take() && { return std::move(requests_); }

 private:
  const Graph& graph_;
  std::vector<bool> needs_;
  std::map<std::size_t, std::set<CostKey>> seen_;
  std::vector<MeasureRequest> requests_;
};

// A profile is of one kind.
const std::string& kind_of(const Cluster& cluster) {
  const std::string& kind = cluster[DeviceId(0)].kind;
  for (const Device& device : cluster.devices()) {
    if (device.kind == kind) continue;
    throw InputError(
        fmt::format("{}: its devices are of kinds {} and {}, and a profile is of one; allowed: "
                    "devices of one kind, one command for each",
                    cluster.name(), kind, device.kind));
  }
  return kind;
}

// What the host has, shared by so many devices.
Sourced<Bytes> memory_of_host(std::size_t devices) {
  constexpr Bytes kUnknown{std::int64_t{1} << 40};
  const Bytes all = total_memory().value_or(kUnknown);
  return {{all.value / static_cast<std::int64_t>(devices)},
          "this machine's memory, shared by its devices"};
}

bool have_copy_engines(const Cluster& cluster) {
  return std::all_of(cluster.devices().begin(), cluster.devices().end(),
                     [](const Device& device) { return device.copy_engine; });
}

// The links that copies between neighbours are of.
std::string_view measured_links(const Cluster& cluster) {
  const auto links = cluster.links();
  const bool near = std::any_of(links.begin(), links.end(),
                                [](const Link& link) { return link.kind == "intra"; });
  return near ? "intra" : "*";
}

}  // namespace

std::vector<MeasureRequest> shapes_of(const Graph& graph, const Strategy& strategy) {
  Collector all(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    all.add(LayerId(i), strategy[LayerId(i)].degrees);
  }
  return std::move(all).take();
}

std::vector<MeasureRequest> shapes_of(const Graph& graph, const SearchSpace& space) {
  Collector all(graph);
  for (std::size_t v = 0; v < space.size(); ++v) {
    for (LayerId layer : space[v].layers) {
      for (const Cut& cut : *space.cuts_of(layer)) all.add(layer, cut.degrees);
    }
  }
  return std::move(all).take();
}

std::vector<MeasureRequest> shapes_of(const Graph& graph, const Cluster& cluster,
                                      const std::vector<AskedStrategy>& strategies) {
  std::vector<MeasureRequest> all;
  const Case input{graph, cluster, SyncAlgorithm::ring, DType::fp32, {}};
  for (const AskedStrategy& asked : strategies) {
    const auto* const name = std::get_if<std::string>(&asked);
    const auto more = name != nullptr && searched_objective(*name)
                          ? shapes_of(graph, SearchSpace(graph, cluster))
                          : shapes_of(graph, resolve(asked, input));
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<Bytes> move_sizes(const Graph& graph) {
  std::int64_t values = 0;
  for (const Layer& layer : graph.layers()) {
    values = std::max({values, volume(layer.output), layer.parameters.total()});
  }
  const std::int64_t largest =
      std::clamp(values * element_bytes(DType::fp32), kAnyMove.value, kLargestMove.value);
  std::vector<Bytes> sizes = {kLeast};
  while (sizes.back().value < largest) sizes.push_back({4 * sizes.back().value});
  return sizes;
}

Origin origin_of(const Runner& runner, const std::string& devices) {
  const Cluster cluster = runner.cluster(devices);
  Origin origin;
  origin.kind = kind_of(cluster);
  origin.machine = runner.description(devices);
  if (const auto own = runner.own_memory(devices)) {
    origin.memory = {*own, "the GPU's memory, shared by the devices on it"};
    return origin;
  }
  origin.memory = memory_of_host(cluster.device_count());
  origin.devices = static_cast<std::int64_t>(cluster.device_count());
  return origin;
}

Cluster with_measured_links(const Cluster& cluster, const CostModel& model) {
  const bool engines = have_copy_engines(cluster);
  const Bytes bytes = engines ? kLargeMove : kTypicalMove;
  const Cost copy = model.move(MoveKind::copy, bytes), least = model.move(MoveKind::copy, kLeast);
  if (cluster.device_count() == 1 || copy.source == CostSource::analytic) return cluster;
  const Seconds latency = engines ? std::min(least.seconds, copy.seconds / 2) : Seconds{};
  const BytesPerSecond rate{static_cast<double>(bytes.value) / (copy.seconds - latency).value};
  const std::string_view links = measured_links(cluster);
  const Cluster result = with_link_bandwidth(cluster, links, rate);
  return engines ? with_link_latency(result, links, latency) : result;
}

Case measured_case(Graph graph, const Cluster& cluster, const Profile& profile,
                   const GradientSync& sync, DTypes dtypes) {
  const std::shared_ptr<const CostModel> model = make_cost_model(profile);
  Case result{std::move(graph), with_measured_links(cluster, *model), sync, dtypes, {}};
  result.models.assign(cluster.device_count(), model);
  return result;
}

}  // namespace strata
