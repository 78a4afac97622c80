#include "sim/search/asked_strategy.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/rounds.h"
#include "sim/search/solve.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

// A group on every device, where the batch has a micro-batch for each. The graph may be of a
// smaller round, and a strategy that is made of it would leave devices without work.
std::int64_t most_groups(const Case& input) {
  const auto devices = static_cast<std::int64_t>(input.cluster.device_count());
  if (!input.cut) return devices;
  return std::clamp<std::int64_t>(input.cut->batch / input.cut->samples, 1, devices);
}

}  // namespace

Strategy load_strategy(const std::string& strategy, const Case& input, const SearchOptions& space) {
  for (Strategy& usual : baselines(input)) {
    if (usual.name() != strategy) continue;
    if (data_parallel_groups(input.graph, usual) > 1) check_round(input, most_groups(input));
    return std::move(usual);
  }
  if (const auto objective = searched_objective(strategy)) {
    SolveOptions options;
    options.space = space;
    options.objective = *objective;
    return best_strategy(input, options);
  }
  if (is_hybrid(strategy)) {
    const auto devices = static_cast<int>(input.cluster.device_count());
    return hybrid_parallel(input.graph, devices, strategy);
  }
  if (strategy.ends_with(".json")) return read_strategy(strategy, input.graph, input.cluster);
  throw InputError(fmt::format(
      "unknown strategy '{}'; allowed: data, model, owt, {}, eq1, optimal, or a file ending in "
      ".json",
      strategy, kHybridForm));
}

const std::string& name_of(const AskedStrategy& asked) {
  const auto* const strategy = std::get_if<Strategy>(&asked);
  return strategy != nullptr ? strategy->name() : std::get<std::string>(asked);
}

Strategy resolve(const AskedStrategy& asked, const Case& input) {
  const auto* const strategy = std::get_if<Strategy>(&asked);
  if (strategy == nullptr) {
    const auto& name = std::get<std::string>(asked);
    // On one device, which sizes of several do not divide, all strategies are the same.
    const bool alone = is_hybrid(name) && input.cluster.device_count() == 1;
    return alone ? data_parallel(input.graph, 1).called(name) : load_strategy(name, input);
  }
  if (strategy->size() != input.graph.size()) {
    throw InputError(fmt::format("strategy {} has {} layers, the network {}", strategy->name(),
                                 strategy->size(), input.graph.size()));
  }
  const std::vector<std::string> wrong = validate(*strategy, input.graph, input.cluster);
  if (!wrong.empty()) throw InputError(fmt::format("{}", fmt::join(wrong, "\n")));
  return *strategy;
}

}  // namespace strata
