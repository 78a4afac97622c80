#include "sim/search/solve.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/cost/cost_model.h"
#include "sim/plan/lower.h"
#include "sim/profile/profile.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/memory_floor.h"
#include "sim/search/within_memory.h"
#include "sim/simulate/simulate.h"
#include "tests/sanitized.h"
#include "tests/sim/search/search_cases.h"

namespace strata {
namespace {

using strata::testing::load;
using strata::testing::under_eq1;
using strata::testing::with_memory;

Seconds eq1_seconds(const Case& input, const Strategy& strategy) {
  return predict(input, strategy).eq1_seconds();
}

TEST(Solve, IsProvedAndNoWorseThanTheBaselines) {
  for (const char* model : {"lenet5", "alexnet", "vgg16"}) {
    for (const char* cluster : {"p100-1x1", "p100-1x2", "p100-2x2"}) {
      SCOPED_TRACE(std::string(model) + " on " + cluster);
      const Case input = load(model, cluster);
      const Solved solved = solve(input, under_eq1());
      const Scored& best = solved.best.front();
      EXPECT_TRUE(solved.optimal);
      EXPECT_EQ(solved.lower_bound, best.eq1);
      EXPECT_EQ(best.eq1, eq1_seconds(input, best.strategy));
      ASSERT_EQ(solved.baselines.size(), 3u);
      for (const Scored& usual : solved.baselines) EXPECT_LE(best.eq1, usual.eq1);
      EXPECT_TRUE(validate(best.strategy, input.graph, input.cluster).empty());
    }
  }
}

TEST(Solve, DepthFirstSearchFindsTheSameTime) {
  const Case input = load("lenet5", "p100-1x2");
  SolveOptions options = under_eq1();
  options.algorithm = SearchAlgorithm::dfs;
  const Solved found = solve(input, options);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.best.front().eq1, solve(input, under_eq1()).best.front().eq1);
  EXPECT_GT(found.final_nodes, 0u);
}

TEST(Solve, DepthFirstSearchRefusesWhatItCannot) {
  const Case input = load("lenet5", "p100-1x2");
  SolveOptions options = under_eq1();
  options.algorithm = SearchAlgorithm::dfs;
  EXPECT_NO_THROW(solve(input, options));
  options.k_best = 2;
  EXPECT_THROW(solve(input, options), InputError);
  options.k_best = 1;
  options.objective = Objective::simulated;
  EXPECT_THROW(solve(input, options), InputError);
}

TEST(Solve, TheKBestAreDifferentAndInOrder) {
  const Case input = load("lenet5", "p100-1x4");
  SolveOptions options = under_eq1();
  options.k_best = 5;
  const Solved solved = solve(input, options);
  ASSERT_EQ(solved.best.size(), 5u);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_LE(solved.best[i - 1].eq1, solved.best[i].eq1);
    EXPECT_NE(solved.best[i - 1].strategy.configs().back(), Config{});
    EXPECT_FALSE(std::ranges::equal(solved.best[i - 1].strategy.configs(),
                                    solved.best[i].strategy.configs()));
  }
}

// What Eq. 1 says on the way is no step.
TEST(Solve, ASearchUnderSimulationTellsOfSimulatedStepsAlone) {
  const Case input = load("alexnet", "p100-1x4");
  std::vector<SolveProgress> told;
  SolveOptions options;
  options.limits.progress = [&](const SolveProgress& at) { told.push_back(at); };
  const Solved solved = solve(input, options);
  std::erase_if(told, [](const SolveProgress& at) { return at.best == kInfinity; });
  ASSERT_FALSE(told.empty());
  for (const SolveProgress& at : told) {
    EXPECT_GE(at.best, solved.least().value);
    EXPECT_EQ(at.lower_bound, solved.lower_bound.value);
  }
  EXPECT_EQ(told.back().best, solved.least().value);
}

TEST(Solve, UnderSimulationNothingIsWorseThanTheBaselinesOrTheOptimumOfEq1) {
  for (const char* model : {"lenet5", "alexnet"}) {
    const Case input = load(model, "p100-2x2");
    SolveOptions options;
    options.evaluations = 60;
    const Solved solved = solve(input, options);
    EXPECT_FALSE(solved.optimal) << "on these devices some communication shows in every step";
    EXPECT_GT(solved.lower_bound, Seconds{0});
    EXPECT_LT(solved.lower_bound, solved.best.front().step);
    EXPECT_GT(solved.gap(), 0);
    EXPECT_LT(solved.gap(), 1);
    EXPECT_LE(solved.evaluations, 60u);
    EXPECT_LE(solved.best.front().step, solve(input, under_eq1()).best.front().step);
    for (const Scored& usual : solved.baselines) EXPECT_LE(solved.best.front().step, usual.step);
  }
}

TEST(Solve, UnderSimulationOneDeviceIsProvedOptimal) {
  SolveOptions options;
  const Solved solved = solve(load("alexnet", "p100-1x1"), options);
  EXPECT_TRUE(solved.optimal);
  EXPECT_NEAR(solved.gap(), 0, 1e-6);
}

TEST(Solve, UnderSimulationAStopLeavesTheStartThatIsBestUnderEq1) {
  const Case input = load("vgg16", "p100-4x4");
  SolveOptions options;
  options.evaluations = 1;
  const Solved all = solve(input, under_eq1());
  for (const double limit : {0.0, 1e-4, 1e-3, 5e-3, 1e-2, 2e-2, 3e-2}) {
    options.limits.time_limit = limit;
    const Solved solved = solve(input, options);
    ASSERT_FALSE(solved.best.empty());
    if (solved.evaluations == 0) continue;
    EXPECT_LE(solved.best.front().step, all.best.front().step) << limit;
  }
}

// Its steps differ in turns: some are shorter than what the devices compute.
TEST(Solve, UnderSimulationNothingIsSaidOfStepsThatCannotBeSustained) {
  CaseRequest request;
  request.model = "textcnn";
  request.cluster = "p100-1x4";
  request.training.batch = 4;
  request.training.sync.algorithm = SyncAlgorithm::ps;
  const Case input = load_case(request);
  SolveOptions options;
  options.evaluations = 20;
  const Solved solved = solve(input, options);
  EXPECT_FALSE(solved.optimal);
  EXPECT_LE(solved.lower_bound, solved.best.front().step);
}

TEST(Solve, UnderSimulationTheBoundIsOfTheSpaceThoughABaselineOutsideIsBetter) {
  SolveOptions options;
  options.space.degrees = DegreeSet::pow2;
  const Solved solved = solve(load("alexnet", "p100-1x3"), options);
  EXPECT_TRUE(solved.outside);
  EXPECT_FALSE(solved.optimal);
  EXPECT_GT(solved.lower_bound, Seconds{0});
}

TEST(Solve, ABaselineOutsideTheSpaceIsNotLost) {
  // Powers of two use two of three devices.
  const Case input = load("alexnet", "p100-1x3");
  SolveOptions in_powers_of_two = under_eq1();
  in_powers_of_two.space.degrees = DegreeSet::pow2;
  const Solved solved = solve(input, in_powers_of_two);
  EXPECT_TRUE(solved.outside);
  EXPECT_FALSE(solved.optimal);
  for (const Scored& usual : solved.baselines) {
    EXPECT_LE(solved.best.front().eq1, usual.eq1);
  }
  const Strategy best = best_strategy(input, in_powers_of_two);
  EXPECT_EQ(best.called(""), solved.best.front().strategy.called(""));
  EXPECT_TRUE(solve(input, under_eq1()).optimal)
      << "the usual degrees of three devices are its divisors";
  SolveOptions options = under_eq1();
  options.space.degrees = DegreeSet::all;
  const Solved all = solve(input, options);
  EXPECT_TRUE(all.optimal);
  EXPECT_LE(all.best.front().eq1, solved.best.front().eq1);
}

TEST(Solve, WhatIsSearchedForHasStrategiesNames) {
  const Case input = load("lenet5", "p100-1x4");
  const Strategy fastest = load_strategy("optimal", input), eq1 = load_strategy("eq1", input);
  EXPECT_EQ(fastest, solve(input).best.front().strategy.called("optimal"));
  EXPECT_EQ(eq1, solve(input, under_eq1()).best.front().strategy.called("eq1"));
  EXPECT_EQ(load_strategy("owt", input).name(), "owt");
  EXPECT_THROW(load_strategy("best", input), InputError);
}

TEST(Solve, CalledOffBeforeItStartsItHasNothing) {
  const std::atomic<bool> cancelled{true};
  SolveOptions options;
  options.limits.cancelled = &cancelled;
  const Case input = load("lenet5", "p100-1x4");
  const Solved solved = solve(input, options);
  EXPECT_TRUE(solved.stopped);
  EXPECT_FALSE(solved.optimal);
  EXPECT_TRUE(solved.best.empty());
  EXPECT_EQ(none_found(input, solved, {}),
            "lenet5 on p100-1x4: stopped before a strategy within the memory of a device (17.18 "
            "GB) was found");
}

SolveOptions brief() {
  SolveOptions options;
  options.evaluations = 150;
  return options;
}

// In the order in which a search comes to them.
std::vector<std::string> stages_of(const Case& input) {
  std::vector<std::string> stages;
  SolveOptions options = brief();
  options.limits.progress = [&](const SolveProgress& at) {
    if (std::ranges::find(stages, at.stage) == stages.end()) stages.emplace_back(at.stage);
  };
  solve(input, options);
  return stages;
}

Solved called_off_in(const std::string& stage, const Case& input) {
  std::atomic<bool> cancelled{false};
  SolveOptions options = brief();
  options.limits.cancelled = &cancelled;
  options.limits.progress = [&](const SolveProgress& at) {
    if (at.stage == stage) cancelled = true;
  };
  return solve(input, options);
}

TEST(Solve, CalledOffInAnyStageItHasTheBestSoFar) {
  const Case input = load("alexnet", "p100-2x2");
  const Bytes peak = solve(input, brief()).best.front().peak_memory;
  std::set<std::string> all;
  for (const std::int64_t percent : {400, 97, 50}) {
    const Case tight = with_memory(input, Bytes{peak.value * percent / 100});
    for (const std::string& stage : stages_of(tight)) {
      SCOPED_TRACE(stage);
      all.insert(stage);
      const Solved solved = called_off_in(stage, tight);
      const bool ends_there = stage == "prediction" || solved.best.empty();
      EXPECT_TRUE(solved.stopped || ends_there);
      EXPECT_FALSE(solved.optimal && solved.stopped);
      for (const Scored& scored : solved.best) {
        EXPECT_TRUE(scored.simulated() && scored.has_peak() && scored.fits);
        EXPECT_EQ(scored.step, predict(tight, scored.strategy).step_seconds());
      }
      const bool has_begun = stage != "the usual strategies";
      if (percent > 100) {
        EXPECT_EQ(!solved.best.empty(), has_begun) << "the baselines come first";
      }
    }
  }
  for (const char* stage : {"the usual strategies", "cost tables", "memory", "simulation"}) {
    EXPECT_TRUE(all.contains(stage)) << stage;
  }
}

TEST(Solve, WithoutTablesTheUsualStrategiesAreTried) {
  SolveOptions options;
  options.space.degrees = DegreeSet::all;
  const Case input = load("vgg16", "p100-256x4");
  const Solved solved = solve(input, options);
  EXPECT_TRUE(solved.no_tables);
  EXPECT_FALSE(solved.optimal);
  EXPECT_EQ(solved.lower_bound, Seconds{});
  ASSERT_FALSE(solved.best.empty());
  EXPECT_TRUE(solved.best.front().simulated() && solved.best.front().fits);
  options.objective = Objective::eq1;
  EXPECT_THROW(solve(input, options), InputError);
}

// Whatever moves bytes outlasts the simulation's clock, so all but one device idles.
TEST(Solve, WhatCannotBeSimulatedIsNoAnswer) {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = "p100-1x4";
  request.sets = {{"link.intra.bandwidth", "1e-6B/s"}};
  const Case input = load_case(request);
  const Solved solved = solve(input);
  ASSERT_FALSE(solved.best.empty());
  EXPECT_TRUE(solved.best.front().simulated());
  for (const Config& config : solved.best.front().strategy.configs()) {
    EXPECT_EQ(config.devices.size(), 1u);
  }
  for (const Scored& usual : solved.baselines) EXPECT_FALSE(usual.simulated());
}

TEST(Solve, WhereNothingFitsTheNearestIsNamed) {
  Case input = load("llama:layers=2,hidden=64,heads=4,seq=64,vocab=64", "p100-1x4");
  const Case small = with_memory(input, Bytes{1000});
  const Solved solved = solve(small);
  EXPECT_TRUE(solved.best.empty());
  ASSERT_TRUE(solved.nearest);
  EXPECT_FALSE(solved.nearest->fits);
  for (const Scored& usual : solved.baselines) {
    EXPECT_LE(solved.nearest->peak_memory, usual.peak_memory);
  }
  const Searched found = search_for_best(small, {});
  EXPECT_EQ(found.none_fits, none_found(small, solved, {}));
  EXPECT_NE(found.none_fits.find("the nearest of those that were tried is " +
                                 solved.nearest->strategy.name()),
            std::string::npos);
  EXPECT_EQ(predict(small, found.strategy).largest_peak(), solved.nearest->peak_memory);
  EXPECT_EQ(search_for_best(input, {}).none_fits, "");
}

TEST(Solve, StopsOnceTheGapIsProved) {
  const Case input = load("vgg16", "p100-1x4");
  SolveOptions options;
  const Solved all = solve(input, options);
  options.gap = 0.5;
  const Solved early = solve(input, options);
  EXPECT_LT(early.evaluations, all.evaluations);
  EXPECT_LE(early.gap(), 0.5);
  EXPECT_FALSE(early.stopped);
}

// A flag that is set tells each part of a prediction in turn: lowering, the engine, Eq. 1.
TEST(Prediction, EndsWhenItIsCalledOff) {
  const Case input = load("lenet5", "p100-1x4");
  const Strategy data = baselines(input).front();
  const std::atomic<bool> cancelled{true};
  PredictOptions options;
  options.cancelled = &cancelled;
  EXPECT_THROW(predict(input, data, options), Cancelled);
  EXPECT_THROW(score_eq1(input, data, nullptr, &cancelled), Cancelled);
  const Prediction p = predict(input, data);
  EXPECT_THROW(build_workload(p.plan, input.cluster, p.costs, 1, {}, &cancelled), Cancelled);
  EXPECT_THROW(simulate(p.plan, input.cluster, p.costs, 1, {}, false, &cancelled), Cancelled);
}

TEST(Prediction, IsGivenUpWhereAPlanHasTooManyTasks) {
  const Case input = load("lenet5", "p100-1x4");
  const Strategy data = baselines(input).front();
  PredictOptions options;
  options.most_tasks = predict(input, data).plan.size();
  EXPECT_NO_THROW(predict(input, data, options));
  options.most_tasks /= 2;
  EXPECT_THROW(predict(input, data, options), TooManyTasks);
}

// The referee tries all strategies in the rounds that each of them has.
TEST(MicroBatches, NoStrategyIsFasterThanWhatIsProved) {
  constexpr int kDrawn = testing::kSanitized ? 30 : 150;
  std::size_t found_fastest = 0, cases = 0;
  for (const char* model : {"lenet5", "llama:layers=1,hidden=16,heads=2,seq=8,vocab=16"}) {
    for (const std::int64_t micro_batch : {1, 2, 4}) {
      Case input = load(model, "p100-1x4");
      input.graph = input.graph.with_batch(16);
      input.cut = MicroBatches{16, micro_batch};
      SolveOptions options;
      options.space.degrees = DegreeSet::pow2;
      const Solved solved = solve(input, options);
      ASSERT_FALSE(solved.best.empty());
      const Scored& best = solved.best.front();
      EXPECT_EQ(best.step, predict(input, best.strategy).step_seconds());
      EXPECT_EQ(best.eq1, predict(input, best.strategy).eq1_seconds());
      EXPECT_EQ(result_of(input, best).batch, 16);
      const SearchSpace space(input.graph, input.cluster, options.space);
      std::mt19937_64 random(3);
      Seconds fastest{kInfinity};
      for (int i = 0; i < kDrawn; ++i) {
        Choices choices;
        const auto at = static_cast<std::uint32_t>(random());
        for (std::size_t v = 0; v < space.size(); ++v) {
          const auto count = static_cast<std::uint32_t>(space[v].cuts->size());
          choices.push_back((i % 2 == 0 ? at : static_cast<std::uint32_t>(random())) % count);
        }
        const Scored scored = score_simulated(input, space.strategy("", choices), nullptr, false);
        EXPECT_LE(solved.lower_bound, (1 + 1e-9) * scored.step);
        fastest = std::min(fastest, scored.step);
      }
      found_fastest += best.step <= (1 + 1e-9) * fastest;
      ++cases;
    }
  }
  EXPECT_EQ(found_fastest, cases);
}

TEST(MicroBatches, AreCutForAsManyGroupsAsDivideTheBatch) {
  Case input = load("lenet5", "p100-1x4");
  input.graph = input.graph.with_batch(6);
  input.cut = MicroBatches{6, 1};  // of 4 groups: no whole number of rounds
  EXPECT_EQ(in_largest_rounds(input).graph.batch(), 3);
  const Solved solved = solve(input);
  ASSERT_FALSE(solved.best.empty());
  EXPECT_TRUE(std::ranges::none_of(
      solved.baselines, [](const Scored& scored) { return scored.strategy.name() == "data"; }));
  input.cut = MicroBatches{6, 7};
  EXPECT_THROW(solve(input), InputError);
}

}  // namespace
}  // namespace strata
