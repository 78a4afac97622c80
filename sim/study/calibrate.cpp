#include "sim/study/calibrate.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/cluster/what_if.h"
#include "sim/graph/step_phases.h"
#include "sim/study/host_memory.h"
#include "sim/study/solve.h"

namespace strata {
namespace {

constexpr Bytes kTypicalMove{1 << 20};
// Rows shorter than this say more of the clock than of the device.
constexpr double kTrustedSeconds = 1e-4;

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph), needs_(requires_gradient(graph)) {}

  void add(LayerId layer, const Degrees& degrees) {
    const Partition cut(graph_[layer].output, degrees);
    const PhaseSet phases = step_phases(graph_, layer, needs_);
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      const Box box = cut.box(shard);
      if (!seen_[layer()]
               .insert(cost_key(graph_, layer, box, DType::fp32, Phase::forward))
               .second) {
        continue;
      }
      for (int p = 0; p < kPhaseCount; ++p) {
        const auto phase = static_cast<Phase>(p);
        if (phases[phase]) requests_.push_back({layer, box, phase});
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

double elements(const CostKey& key) {
  double sum = static_cast<double>(volume(key.output));
  for (const Extents& input : key.inputs) sum += static_cast<double>(volume(input));
  return sum;
}

// Two per multiply-accumulate, where the row is a product of matrices.
double flops(const CostKey& key) {
  const bool fully_connected = key.signature.starts_with("fc");
  const bool pointwise = key.signature.starts_with("conv") &&
                         key.signature.find("kernel=1x1x1") != std::string::npos &&
                         key.signature.find("groups=1 ") != std::string::npos;
  if (!fully_connected && !pointwise) return 0;
  const Extents& in = key.inputs.front();
  const auto depth = static_cast<double>(fully_connected ? volume(in) / in[Dim::n] : in[Dim::c]);
  return 2 * static_cast<double>(volume(key.output)) * depth;
}

FlopsPerSecond peak(const std::vector<MeasuredCost>& rows) {
  double best = 1e9;
  for (const MeasuredCost& row : rows) {
    if (row.key.phase != Phase::forward || row.seconds.value < kTrustedSeconds) continue;
    best = std::max(best, flops(row.key) / row.seconds.value);
  }
  return {best};
}

BytesPerSecond bandwidth(const std::vector<MeasuredCost>& rows,
                         const std::vector<MeasuredMove>& moves) {
  double best = 1e9;
  for (const MeasuredMove& move : moves) {
    if (move.kind != MoveKind::local || move.bytes < kTypicalMove) continue;
    best = std::max(best, 2 * static_cast<double>(move.bytes.value) / move.seconds.value);
  }
  for (const MeasuredCost& row : rows) {
    if (row.key.signature != "relu" || row.seconds.value < kTrustedSeconds) continue;
    best = std::max(best, 4 * elements(row.key) / row.seconds.value);
  }
  return {best};
}

template <class T>
Sourced<T> measured(T value) {
  return {value, "the fastest measured row"};
}
template <class T>
Sourced<T> assumed(T value) {
  return {value, "assumed: only for what was not measured"};
}

// Of all parts but the newest, each once: one command may measure several networks.
std::vector<Provenance> earlier_parts(const Profile& older, const Profile& newer) {
  std::vector<Provenance> all = older.earlier;
  all.push_back(older.provenance);
  all.insert(all.end(), newer.earlier.begin(), newer.earlier.end());
  std::vector<Provenance> parts;
  for (Provenance& part : all) {
    const bool known = std::find(parts.begin(), parts.end(), part) != parts.end();
    if (!known && part != newer.provenance) parts.push_back(std::move(part));
  }
  return parts;
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
    const SearchVariable& variable = space[v];
    for (LayerId layer : variable.layers) {
      for (const Cut& cut : *variable.cuts) all.add(layer, cut.degrees);
    }
  }
  return std::move(all).take();
}

std::vector<MeasureRequest> shapes_of(const Graph& graph, const Cluster& cluster,
                                      const std::vector<std::string>& strategies) {
  std::vector<MeasureRequest> all;
  const Case input{graph, cluster, SyncAlgorithm::ring, DType::fp32, {}};
  for (const std::string& strategy : strategies) {
    const auto more = strategy == "optimal" ? shapes_of(graph, SearchSpace(graph, cluster))
                                            : shapes_of(graph, load_strategy(strategy, input));
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<Bytes> move_sizes() {
  std::vector<Bytes> sizes;
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 28; bytes *= 4) sizes.push_back({bytes});
  return sizes;
}

Bytes memory_of_a_device(std::size_t devices) {
  constexpr Bytes kUnknown{std::int64_t{1} << 40};
  return {total_memory().value_or(kUnknown).value / static_cast<std::int64_t>(devices)};
}

Profile profile_of(std::vector<MeasuredCost> costs, std::vector<MeasuredMove> moves,
                   const Origin& origin) {
  Profile profile;
  profile.kind = origin.kind;
  profile.description = origin.machine;
  profile.devices = origin.devices;
  profile.measured = std::move(costs);
  profile.moves = std::move(moves);
  profile.memory_capacity = {origin.memory, "this machine's memory, shared by its devices"};
  profile.bandwidth = measured(bandwidth(profile.measured, profile.moves));
  profile.peaks[0] = measured(peak(profile.measured));
  Efficiency& e = profile.efficiency;
  e.launch = assumed(Seconds{1e-6});
  e.memory = e.gemm = assumed(1.0);
  e.winograd = assumed(0.0);
  e.direct = assumed(0.3);
  e.half_tile = e.half_depth = assumed(8.0);
  e.tile_m = e.tile_n = assumed(std::int64_t{16});
  e.split_k = assumed(std::int64_t{1} << 20);
  e.cores = assumed(std::int64_t{1});
  profile.provenance = {origin.date,
                        "Medians over rounds that take one sample of every shape and size, on all "
                        "devices at once. Of shards' times, sweeps beside which a loop of known "
                        "length took over 5 % longer are left out, where three others remain.",
                        origin.command};
  return profile;
}

Profile merged(const Profile& profile, const Profile& newer) {
  Profile result = newer;
  result.earlier = earlier_parts(profile, newer);
  if (profile.devices != newer.devices) result.devices = 0;
  const auto add_older = [](auto& rows, const auto& older, const auto& key) {
    std::set<std::decay_t<decltype(key(rows.front()))>> known;
    for (const auto& row : rows) known.insert(key(row));
    for (const auto& row : older) {
      if (!known.contains(key(row))) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
  };
  add_older(result.measured, profile.measured, [](const MeasuredCost& row) { return row.key; });
  add_older(result.moves, profile.moves,
            [](const MeasuredMove& row) { return std::pair(row.kind, row.bytes); });
  if (result.bandwidth.value < profile.bandwidth.value) result.bandwidth = profile.bandwidth;
  if (result.peaks[0]->value < profile.peaks[0]->value) result.peaks[0] = profile.peaks[0];
  return result;
}

Case measured_case(Graph graph, const Cluster& cluster, const Profile& profile,
                   SyncAlgorithm sync) {
  const std::shared_ptr<const CostModel> model = make_cost_model(profile);
  const Seconds copy = model->move(MoveKind::copy, kTypicalMove).seconds;
  const double rate = static_cast<double>(kTypicalMove.value) / copy.value;
  Case result{std::move(graph), cluster, sync, DType::fp32, {}};
  if (cluster.device_count() > 1) {
    result.cluster = with_link_bandwidth(cluster, "*", BytesPerSecond{rate});
  }
  result.models.assign(cluster.device_count(), model);
  return result;
}

}  // namespace strata
