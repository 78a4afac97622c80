#include "sim/measure/search_costs.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/measure/calibrate.h"
#include "sim/measure/kept_costs.h"

namespace strata {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostRounds = 5;

Seconds since(Clock::time_point began) {
  return {std::chrono::duration<double>(Clock::now() - began).count()};
}

/// Every row that the search needs once, however many layers have it.
struct Needed {
  std::size_t rows = 0;
  std::vector<MeasureRequest> missing;
};

Needed needed(const Graph& graph, const Cluster& cluster, const SearchOptions& space, DType dtype,
              Optimizer optimizer, const std::optional<Profile>& known) {
  std::set<CostKey> seen, kept;
  if (known) {
    for (const MeasuredCost& row : known->measured) kept.insert(row.key);
  }
  Needed result;
  for (const MeasureRequest& request : shapes_of(graph, SearchSpace(graph, cluster, space))) {
    CostKey key = cost_key(graph, request.layer, request.output, dtype, request.phase, optimizer);
    if (!seen.insert(key).second) continue;
    ++result.rows;
    if (!kept.contains(key)) result.missing.push_back(request);
  }
  return result;
}

// Part k has the k-th missing shape of every layer, all its phases: a pass through the network, so
// that caches hold what they would hold in a step (Sweeps do the same).
std::vector<std::vector<MeasureRequest>> parts_of(const std::vector<MeasureRequest>& missing) {
  std::vector<std::vector<MeasureRequest>> parts;
  std::map<LayerId, std::vector<Tile>> shapes;
  for (const MeasureRequest& request : missing) {
    std::vector<Tile>& tiles = shapes[request.layer];
    const auto at = std::find(tiles.begin(), tiles.end(), request.output);
    const auto part = static_cast<std::size_t>(at - tiles.begin());
    if (at == tiles.end()) tiles.push_back(request.output);
    parts.resize(std::max(parts.size(), part + 1));
    parts[part].push_back(request);
  }
  return parts;
}

std::vector<Bytes> missing_moves(const Graph& graph, const std::optional<Profile>& known) {
  std::vector<Bytes> sizes = move_sizes(graph);
  if (!known) return sizes;
  std::erase_if(sizes, [&](Bytes size) {
    return std::any_of(known->moves.begin(), known->moves.end(),
                       [&](const MeasuredMove& move) { return move.bytes == size; });
  });
  return sizes;
}

// At least one, and more while they fit in the time.
void take_rounds(Measurer& measurer, Seconds time, const std::atomic<bool>* cancelled) {
  const auto began = Clock::now();
  for (std::size_t round = 1; round <= kMostRounds; ++round) {
    measurer.round(cancelled);
    const double one = since(began).value / static_cast<double>(round);
    if (since(began).value + one > time.value) return;
  }
}

std::pair<std::string, std::string> dates(const Profile& profile) {
  std::string oldest = profile.provenance.date, newest = oldest;
  for (const Provenance& part : profile.earlier) {
    oldest = std::min(oldest, part.date);
    newest = std::max(newest, part.date);
  }
  return {oldest, newest};
}

Origin origin_of(const Runner& runner, const std::string& devices, const CostKeeping& keeping) {
  Origin origin = strata::origin_of(runner, devices);
  origin.machine = fmt::format("{}; {}{} of {}", origin.machine, devices,
                               keeping.recorded ? " playing graphs" : "", keeping.machine);
  origin.date = keeping.date;
  origin.command = keeping.command;
  return origin;
}

}  // namespace

SearchCosts measure_for_search(Runner& runner, const std::string& devices, const Graph& graph,
                               DType dtype, const SearchOptions& space, const CostKeeping& keeping,
                               const std::atomic<bool>* cancelled, const CostProgress& progress) {
  const Cluster cluster = runner.cluster(devices);
  Origin origin = origin_of(runner, devices, keeping);
  KeptCosts costs(keeping.folder, {devices, origin.kind, origin.machine, origin.devices});
  const Needed need = needed(graph, cluster, space, dtype, keeping.optimizer, costs.profile());
  SearchCosts result;
  result.used.folder = costs.folder();
  result.used.kept = need.rows - need.missing.size();
  if (costs.profile()) std::tie(result.used.oldest, result.used.newest) = dates(*costs.profile());

  std::vector<Bytes> moves = missing_moves(graph, costs.profile());
  const auto began = Clock::now();
  const auto parts = parts_of(need.missing);
  for (const std::vector<MeasureRequest>& part : parts) {
    if (progress) progress(result.used.measured, need.missing.size());
    throw_if_cancelled(cancelled);
    const auto measurer = runner.measure(
        devices, graph,
        {part, std::exchange(moves, {}), dtype, keeping.recorded, keeping.optimizer});
    take_rounds(*measurer, keeping.time / static_cast<double>(parts.size()), cancelled);
    origin.method = measurer->method();
    costs.add(profile_of(measurer->costs(Sampled::calm), measurer->moves(), origin));
    result.used.measured += part.size();
  }
  result.used.took = parts.empty() ? Seconds{} : since(began);
  result.used.warnings = costs.warnings();
  result.profile = costs.profile().value_or(Profile{});
  return result;
}

}  // namespace strata
