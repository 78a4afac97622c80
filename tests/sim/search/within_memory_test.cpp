// Searches under a limit of memory, and the floor of memory that they reckon with.

#include "sim/search/within_memory.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/plan/lower.h"
#include "sim/search/memory_floor.h"
#include "tests/sim/search/search_cases.h"

namespace strata {
namespace {

using strata::testing::load;
using strata::testing::under_eq1;
using strata::testing::with_memory;

TEST(MemoryLimit, IsKeptOrProvedImpossible) {
  const Case input = load("alexnet", "p100-1x4");
  SolveOptions options = under_eq1();
  const Solved free = solve(input, options);
  options.memory_limit = free.best.front().peak_memory;
  const Solved same = solve(input, options);
  EXPECT_EQ(same.best.front().eq1, free.best.front().eq1);
  EXPECT_TRUE(same.optimal);
  // A little less: another strategy, no faster, within the limit and its bound.
  options.memory_limit = Bytes{free.best.front().peak_memory.value - 1};
  const Solved less = solve(input, options);
  if (!less.best.empty()) {
    EXPECT_LE(less.best.front().peak_memory, *options.memory_limit);
    EXPECT_GE(less.best.front().eq1, free.best.front().eq1);
    EXPECT_LE(less.lower_bound, less.best.front().eq1);
  }
  options.memory_limit = Bytes{less.least_memory.value - 1};
  const Solved none = solve(input, options);
  EXPECT_TRUE(none.best.empty());
  EXPECT_GT(none.least_memory, *options.memory_limit);
}

TEST(MemoryLimit, IsWhatTheDevicesHaveUnlessOneIsSet) {
  for (const Objective objective : {Objective::eq1, Objective::simulated}) {
    SCOPED_TRACE(kObjectiveNames[static_cast<std::size_t>(objective)]);
    Case input = load("alexnet", "p100-1x4");
    SolveOptions options;
    options.objective = objective;
    options.evaluations = 60;
    const Solved free = solve(input, options);
    EXPECT_TRUE(free.best.front().fits);
    // A device of which the fastest needs a little too much.
    Profile small = load_profile("p100");
    small.memory_capacity.value = Bytes{free.best.front().peak_memory.value - 1};
    input.models.back() = make_cost_model(small);
    const Solved less = solve(input, options);
    ASSERT_FALSE(less.best.empty());
    EXPECT_TRUE(less.best.front().fits);
    EXPECT_GE(less.least(), free.least());
    EXPECT_LE(less.lower_bound, less.least());
    const Strategy best = best_strategy(input, options);
    const Prediction p = predict(input, best);
    EXPECT_LE(p.peak_memory.back(), small.memory_capacity.value);
    for (auto& model : input.models) model = make_cost_model(small);
    const Solved all_small = solve(input, options);
    EXPECT_EQ(all_small.best.empty(), objective == Objective::eq1) << "its optimum needs the least";
    for (const Scored& scored : all_small.best) {
      EXPECT_LT(scored.peak_memory, free.best.front().peak_memory);
    }
    // Nothing fits: the name still stands for a strategy.
    small.memory_capacity.value = Bytes{1};
    for (auto& model : input.models) model = make_cost_model(small);
    EXPECT_TRUE(solve(input, options).best.empty());
    EXPECT_EQ(best_strategy(input, options).size(), input.graph.size());
    options.memory_limit = Bytes{std::int64_t{1} << 40};
    EXPECT_FALSE(solve(input, options).best.front().fits);
  }
}

TEST(Shortage, IsOfTheDeviceThatLacksTheMost) {
  Case input = with_memory(load("lenet5", "p100-1x4"), Bytes{1000});
  input.models[2] = with_memory(input, Bytes{500}).models[0];
  EXPECT_EQ(shortage(input, std::vector<Bytes>{{1000}, {1000}, {500}, {0}}), std::nullopt);
  const std::vector<Bytes> peaks = {{1100}, {1300}, {900}, {10}};
  EXPECT_EQ(shortage(input, peaks), (Shortage{DeviceId(2u), Bytes{900}, Bytes{500}}));
}

// What is proved is proved of the first device; the second may do without any shard.
TEST(MemoryLimit, OfASecondDeviceAloneProvesNothing) {
  Case input = load("lenet5", "p100-1x2");
  input.models[1] = with_memory(input, Bytes{10}).models[0];
  const Solved solved = solve(input, {});
  ASSERT_TRUE(solved.best.empty());
  const std::string text = none_found(input, solved, std::nullopt);
  EXPECT_NE(text.find("nothing that was tried fits within the memory that each device has"),
            std::string::npos)
      << text;
  input.models[0] = input.models[1];
  const std::string both = none_found(input, solve(input, {}), std::nullopt);
  EXPECT_NE(both.find("no strategy within the memory of a device (10 B), proved"),
            std::string::npos)
      << both;
}

TEST(MemoryLimit, HoldsForASearchThatIsStopped) {
  const Case input = load("alexnet", "p100-1x4");
  SolveOptions options;
  options.evaluations = 30;
  const Scored fastest = solve(input, options).best.front();
  const Case small = with_memory(input, Bytes{fastest.peak_memory.value - 1});
  for (const Objective objective : {Objective::eq1, Objective::simulated}) {
    options.objective = objective;
    options.limits.time_limit = kInfinity;
    const Seconds least = solve(small, options).least();
    options.limits.time_limit = 0;
    const Solved stopped = solve(small, options);
    for (const Scored& scored : stopped.best) EXPECT_TRUE(scored.has_peak() && scored.fits);
    EXPECT_FALSE(stopped.optimal && stopped.stopped);
    // It may end before the clock looks.
    if (stopped.optimal) {
      EXPECT_EQ(stopped.least(), least);
    }
    EXPECT_TRUE(solve(with_memory(input, Bytes{1}), options).best.empty());
  }
}

TEST(MemoryLimit, MakesTheAnswerNoMatterOfThreads) {
  const Case input = load("alexnet", "p100-2x2");
  SolveOptions options;
  options.evaluations = 150;
  const Solved free = solve(input, options);
  const Case small = with_memory(input, Bytes{free.best.front().peak_memory.value - 1});
  options.limits.threads = 1;
  const Solved one = solve(small, options);
  options.limits.threads = 4;
  const Solved four = solve(small, options);
  ASSERT_FALSE(one.best.empty());
  EXPECT_EQ(one.best.front().strategy, four.best.front().strategy);
  EXPECT_EQ(one.best.front().step, four.best.front().step);
  EXPECT_EQ(one.evaluations, four.evaluations);
  EXPECT_TRUE(one.best.front().fits);
}

// One that cannot be simulated may fit: nothing is proved of what costs more.
TEST(WithinMemory, APeakThatIsNotKnownProvesNothing) {
  const Case input = load("lenet5", "p100-1x2");
  const SearchSpace space(input.graph, input.cluster, {});
  const CostTables tables = eq1_tables(input, space);
  const auto floor = memory_floor(input, space);
  const Bytes limit{std::int64_t{1} << 40};
  std::optional<Choices> first;  // the cheapest
  const auto within = [&](Bytes of_first) {
    first.reset();
    SolveLimits limits;
    limits.threads = 1;
    return within_memory(
        tables, floor, limit, {}, 1,
        [&](const Choices& choices) {
          if (!first) first = choices;
          return choices == *first ? of_first : Bytes{1};
        },
        limits);
  };
  const WithinMemory known = within(limit + Bytes{1}), unknown = within(kAnyMemory);
  ASSERT_FALSE(known.best.empty());
  EXPECT_EQ(known.best.front().choices, unknown.best.front().choices);
  EXPECT_EQ(known.lower_bound, known.best.front().seconds);
  EXPECT_EQ(unknown.lower_bound, tables.seconds(*first));
}

// The referee of the floor is the simulation.
TEST(MemoryFloor, NoStrategyKeepsLess) {
  std::mt19937 random(5);
  for (const char* model : {"lenet5", "alexnet", "googlenet", "resnet18", "textcnn",
                            "gpt:layers=1,hidden=32,heads=4,seq=16,vocab=64,dropout=0.1"}) {
    Case input = load(model, "p100-2x2");
    if (model == std::string_view("alexnet")) input.dtypes = fp32_parameters(DType::bf16);
    const SearchSpace space(input.graph, input.cluster, {DegreeSet::all, false, true});
    input.gathers_again = model != std::string_view("alexnet");
    input.optimizer = Optimizer::adam;
    change_kernels(input, [&](KernelTraits& kernels) {
      if (model != std::string_view("alexnet")) kernels.attention = AttentionKernel::unfused;
      kernels.keeps_masks = input.gathers_again;
    });
    const auto floor = memory_floor(input, space);
    for (int round = 0; round < 8; ++round) {
      Choices choices;
      std::int64_t least = 0;
      for (std::size_t v = 0; v < space.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random() % floor[v].size()));
        least += floor[v][choices[v]];
      }
      const Prediction p = predict(input, space.strategy("random", choices));
      EXPECT_LE(least, p.peak_memory.front().value) << model << ", seed 5, round " << round;
      EXPECT_GT(least, 0);
    }
  }
}

TEST(MemoryFloor, NoStrategyKeepsLessInRoundsOrComputingAgain) {
  std::mt19937 random(7);
  std::size_t checked = 0;
  for (const char* model : {"lenet5", "alexnet", "resnet18",
                            "gpt:layers=3,hidden=32,heads=4,seq=16,vocab=64,dropout=0.1"}) {
    for (int round = 0; round < 40; ++round) {
      Case input = load(model, "p100-2x2");
      input.graph = input.graph.with_batch(16);
      input.recompute = static_cast<Recompute>(random() % kRecomputeNames.size());
      if (random() % 3 > 0)
        input.cut = MicroBatches{16, static_cast<std::int64_t>(1 + random() % 4)};
      if (round % 4 == 0) input.sync = {SyncAlgorithm::ring, kUsualBucket, Zero::nothing};
      if (round % 4 == 0) input.sync.offload = Offload::optimizer;
      input.optimizer = Optimizer::adam;
      change_kernels(input, [&](KernelTraits& kernels) {
        if (random() % 2 != 0) kernels.attention = AttentionKernel::unfused;
        kernels.keeps_masks = random() % 2 == 0;
      });
      const SearchSpace space(input.graph, input.cluster, {DegreeSet::pow2, false, true});
      const auto floor = memory_floor(input, space);
      Choices choices;
      std::int64_t least = 0;
      for (std::size_t v = 0; v < space.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random() % floor[v].size()));
        least += floor[v][choices[v]];
      }
      try {
        const Prediction p = predict(input, space.strategy("random", choices));
        EXPECT_LE(least, p.peak_memory.front().value) << model << ", seed 7, round " << round;
        ++checked;
      } catch (const InputError&) {  // micro-batches do not divide the batch
      }
      EXPECT_GT(least, 0);
    }
  }
  EXPECT_GT(checked, 80u);
}

}  // namespace
}  // namespace strata
