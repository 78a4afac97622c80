#include "tests/sim/record/recorded_cases.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/strategy/search_space.h"
#include "tests/paths.h"
#include "tests/sim/plan/random_case.h"

namespace strata::testing {
namespace {

Strategy random_of_space(std::uint64_t seed, const Case& input) {
  const SearchSpace space(input.graph, input.cluster, {.reductions = ReductionCuts::none});
  Random random(seed);
  std::vector<std::uint32_t> choices;
  for (std::size_t v = 0; v < space.size(); ++v) {
    choices.push_back(static_cast<std::uint32_t>(random() % space[v].cuts->size()));
  }
  return space.strategy("random-space", choices);
}

Strategy random_of_all(std::string name, std::uint64_t seed, const Case& input) {
  Random random(seed);
  const Strategy drawn = random_strategy(random, input.graph, input.cluster.device_count(), false);
  return {std::move(name), {drawn.configs().begin(), drawn.configs().end()}};
}

bool same_cuts(const Strategy& a, const Strategy& b) {
  return std::ranges::equal(a.configs(), b.configs());
}

bool has_replicas(const Graph& graph, const Strategy& strategy) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Degrees& degrees = strategy[LayerId(i)].degrees;
    const bool copied = product(degrees) > degrees[Dim::c];
    if (copied && graph[LayerId(i)].parameters.total() > 0) return true;
  }
  return false;
}

}  // namespace

std::span<const std::string_view> recorded_clusters() {
  static constexpr std::string_view kClusters[] = {"p100-1x1", "p100-1x2", "p100-1x4", "p100-4x4",
                                                   "cpu:4"};
  return kClusters;
}

Case recorded_case(std::string_view network, std::string_view cluster) {
  CaseRequest request;
  request.model = network, request.cluster = cluster;
  if (cluster.starts_with("cpu"))
    request.profiles = {source_path("tests/sim/measure/toy_cpu.toml")};
  return load_case(request);
}

std::vector<Strategy> recorded_strategies(const Case& input) {
  const auto devices = static_cast<int>(input.cluster.device_count());
  std::vector<Strategy> strategies;
  for (Strategy strategy :
       {data_parallel(input.graph, devices), model_parallel(input.graph, devices),
        owt_parallel(input.graph, devices), random_of_all("random-1", 1, input),
        random_of_all("random-2", 2, input), random_of_space(3, input)}) {
    const auto same = [&](const Strategy& earlier) { return same_cuts(earlier, strategy); };
    if (std::ranges::none_of(strategies, same)) strategies.push_back(std::move(strategy));
  }
  return strategies;
}

std::span<const SyncAlgorithm> recorded_syncs(const Case& input, const Strategy& strategy) {
  static constexpr SyncAlgorithm kOne[] = {SyncAlgorithm::ring};
  static constexpr SyncAlgorithm kOfCores[] = {SyncAlgorithm::ring, SyncAlgorithm::ps,
                                               SyncAlgorithm::automatic};
  static constexpr SyncAlgorithm kAll[] = {SyncAlgorithm::ring, SyncAlgorithm::ps,
                                           SyncAlgorithm::tree, SyncAlgorithm::hierarchical,
                                           SyncAlgorithm::automatic};
  if (!has_replicas(input.graph, strategy)) return kOne;
  if (input.cluster[DeviceId(0)].copy_engine) return kAll;
  return kOfCores;
}

}  // namespace strata::testing
