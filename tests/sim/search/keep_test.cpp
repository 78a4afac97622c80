// A search that leaves layers alone, against trying every strategy that does.

#include "sim/search/keep.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/explain/choices.h"
#include "sim/search/asked_strategy.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::pick;
using testing::Random;

Case keep_case(const std::string& model, const std::string& cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  return load_case(request);
}

Solved solve_around(const Case& input, const KeptLayers& kept, const SearchOptions& space = {}) {
  SolveOptions options;
  options.space = space;
  options.kept = kept;
  options.objective = Objective::eq1;
  options.simulate = false;
  return solve(input, options);
}

// Every strategy of the space, its kept layers' variables as they are kept: the least Eq. 1.
Seconds least_of_all(const Case& input, const SearchSpace& space, const KeptLayers& kept) {
  Seconds least{kInfinity};
  std::vector<std::uint32_t> choices(space.size(), 0);
  for (std::size_t turned = 0; turned < choices.size();) {
    const Strategy free = space.strategy("", choices);
    std::vector<Config> configs(free.configs().begin(), free.configs().end());
    for (const LayerId layer : kept.layers) {
      for (const LayerId shares : space[*space.variable_of(layer)].layers) {
        configs[shares()] = kept.strategy[layer];
      }
    }
    least = std::min(least, score_eq1(input, Strategy("", configs)).eq1);
    for (turned = 0; turned < choices.size(); ++turned) {
      if (++choices[turned] < space[turned].cuts->size()) break;
      choices[turned] = 0;
    }
  }
  return least;
}

// A choice for each variable out of a space with more degrees than are searched.
KeptLayers random_kept(Random& random, const Case& input, const SearchSpace& space) {
  const SearchSpace all(input.graph, input.cluster, {DegreeSet::all, false, true});
  std::vector<std::uint32_t> choices;
  for (std::size_t v = 0; v < all.size(); ++v) {
    choices.push_back(static_cast<std::uint32_t>(random() % all[v].cuts->size()));
  }
  KeptLayers kept{all.strategy("kept", choices), {}};
  for (std::size_t v = 0; v < space.size(); ++v) {
    if (random() % 3 == 0) kept.layers.push_back(space[v].layers.back());
  }
  return kept;
}

TEST(Keep, FindsWhatTryingEveryStrategyFinds) {
  int with_kept = 0, outside = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Case input = keep_case("lenet5", seed % 2 == 0 ? "p100-1x3" : "p100-2x2");
    input.graph = testing::random_network(random, pick(random, 2, 5));
    const SearchOptions options{DegreeSet::pow2, false, false};
    const SearchSpace space(input.graph, input.cluster, options);
    if (space.log10_strategies() > 3.5) continue;
    const KeptLayers kept = random_kept(random, input, space);
    const Solved solved = solve_around(input, kept, options);
    const Scored& best = solved.best.front();
    EXPECT_TRUE(keeps(best.strategy, kept));
    EXPECT_TRUE(validate(best.strategy, input.graph, input.cluster).empty());
    const Seconds least = least_of_all(input, space, kept);
    // A baseline that keeps them, and that the space does not hold, may be better than all of it.
    if (solved.outside) {
      EXPECT_LT(best.eq1, least);
    } else {
      EXPECT_NEAR(best.eq1.value, least.value, 1e-9 * least.value);
    }
    EXPECT_EQ(solved.optimal, !solved.outside);
    with_kept += !kept.layers.empty();
    outside += !space.choices(best.strategy);
  }
  EXPECT_GT(with_kept, 40);
  EXPECT_GT(outside, 10);  // kept cuts that no search considers
}

TEST(Keep, KeepingWhatIsOptimalChangesNothing) {
  const Case input = keep_case("alexnet", "p100-2x2");
  const Strategy best = load_strategy("eq1", input);
  const Solved solved = solve_around(
      input, {best, {input.graph.find("features_6"), input.graph.find("classifier_1")}});
  EXPECT_EQ(solved.best.front().eq1, score_eq1(input, best).eq1);
  EXPECT_TRUE(solved.optimal);
}

// The regret of a choice, as `explain` has it, is what insisting on it costs.
TEST(Keep, KeepingAChoiceCostsItsRegret) {
  const Case input = keep_case("lenet5", "p100-1x4");
  const Strategy best = load_strategy("eq1", input);
  const LayerId conv = input.graph.find("conv2");
  const Explanation why = explain(input, {}, best, conv);
  for (const ChoiceCosts& choice : why.choices) {
    std::vector<Config> configs(best.configs().begin(), best.configs().end());
    configs[conv()] = choice.config;
    const Seconds forced = solve_around(input, {Strategy("", configs), {conv}}).best.front().eq1;
    EXPECT_NEAR((forced - why.optimum).value, choice.regret.value, 1e-9 * forced.value);
  }
}

TEST(Keep, KeepingEverythingIsTheStrategyItself) {
  const Case input = keep_case("lenet5", "p100-1x4");
  const Strategy model = model_parallel(input.graph, 4);
  KeptLayers kept{model, {}};
  for (std::size_t i = 1; i < input.graph.size(); ++i) kept.layers.emplace_back(i);
  EXPECT_EQ(solve_around(input, kept, {DegreeSet::pow2, true, false}).best.front().eq1,
            score_eq1(input, model).eq1);
}

TEST(Keep, ADepthFirstSearchAndAMemoryLimitKeepThemToo) {
  const Case input = keep_case("lenet5", "p100-1x2");
  const KeptLayers kept{model_parallel(input.graph, 2), {input.graph.find("conv2")}};
  SolveOptions options;
  options.objective = Objective::eq1;
  options.kept = kept;
  const Seconds least = solve(input, options).best.front().eq1;
  options.algorithm = SearchAlgorithm::dfs;
  EXPECT_EQ(solve(input, options).best.front().eq1, least);
  options.algorithm = SearchAlgorithm::elimination;
  options.memory_limit = Bytes{std::int64_t{1} << 34};
  const Solved within = solve(input, options);
  EXPECT_EQ(within.best.front().eq1, least);
  EXPECT_TRUE(keeps(within.best.front().strategy, kept));
}

std::string refusal(const Case& input, const KeptLayers& kept) {
  try {
    solve_around(input, kept);
  } catch (const InputError& error) {
    return error.message();
  }
  return {};
}

TEST(Keep, RefusesTwoCutsOfOneChoice) {
  const Case input = keep_case("lenet5", "p100-1x2");
  const LayerId conv = input.graph.find("conv1"), tanh = input.graph.find("tanh1");
  std::vector<Config> configs(input.graph.size(), config_on_first_devices(kWhole));
  configs[tanh()] = config_on_first_devices({{2, 1, 1, 1, 1}});
  EXPECT_THAT(refusal(input, {Strategy("", configs), {conv, tanh}}),
              HasSubstr("layer tanh1: is kept as n=2 and shares its cut with conv1, kept as one "
                        "device"));
}

TEST(Keep, RefusesDevicesThatNoSearchUses) {
  const Case input = keep_case("lenet5", "p100-1x4");
  std::vector<Config> configs(input.graph.size(), config_on_first_devices(kWhole));
  const LayerId conv = input.graph.find("conv1");
  configs[conv()] = {{{2, 1, 1, 1, 1}}, {DeviceId(3), DeviceId(1)}};
  EXPECT_THAT(refusal(input, {Strategy("", configs), {conv}}), HasSubstr("layer conv1: cannot be"));
}

TEST(Keep, LayersAreKnownByName) {
  const Case input = keep_case("lenet5", "p100-1x2");
  const std::vector<std::string> good = {"conv1", "fc1"}, wrong = {"conv9"}, data = {"input"};
  EXPECT_EQ(layers_named(input.graph, good).size(), 2u);
  EXPECT_THROW(layers_named(input.graph, wrong), InputError);
  EXPECT_THROW(layers_named(input.graph, data), InputError);
}

// Every cut that a search makes is told by its shards' devices.
TEST(Keep, ACutIsKnownByItsConfig) {
  const Case input = keep_case("alexnet", "p100-2x2");
  const SearchSpace space(input.graph, input.cluster, {DegreeSet::all, false, true});
  for (std::size_t v = 0; v < space.size(); ++v) {
    for (const Cut& cut : *space[v].cuts) {
      const auto found = cut_of(config_of(cut));
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(config_of(*found), config_of(cut));
    }
  }
  EXPECT_FALSE(cut_of({{{2, 1, 1, 1, 1}}, {DeviceId(1), DeviceId(0)}}).has_value());
}

}  // namespace
}  // namespace strata
