// The search under a memory limit against the referee that tries every strategy.

#include "sim/solver/memory_limit.h"

#include <numeric>

#include <gtest/gtest.h>

#include "random_problem.h"

namespace strata {
namespace {

using Memory = std::vector<std::vector<std::int64_t>>;

Memory random_memory(std::mt19937& random, const CostTables& tables) {
  Memory memory;
  for (const CostTables::Vector& variable : tables.variables) {
    std::vector<std::int64_t>& bytes = memory.emplace_back(variable->size());
    for (std::int64_t& b : bytes) b = std::uniform_int_distribution<int>(0, 12)(random) * 1000;
  }
  return memory;
}

std::int64_t bytes_of(const Memory& memory, const Choices& choices) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) sum += memory[v][choices[v]];
  return sum;
}

void expect_exhaustive(const CostTables& tables, const Memory& memory, std::int64_t limit,
                       std::size_t count, unsigned seed) {
  std::vector<Solution> fitting = all_strategies(tables);
  std::erase_if(fitting, [&](const Solution& s) { return bytes_of(memory, s.choices) > limit; });
  const MemoryResult result = solve_within(tables, memory, limit, {}, count);
  ASSERT_EQ(result.best.size(), std::min(count, fitting.size())) << "seed " << seed;
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    ASSERT_EQ(result.best[i].seconds, fitting[i].seconds) << "seed " << seed << " rank " << i;
    ASSERT_LE(bytes_of(memory, result.best[i].choices), limit) << "seed " << seed;
    ASSERT_TRUE(result.best[i].optimal()) << "seed " << seed << " rank " << i;
  }
  if (fitting.empty()) {
    ASSERT_EQ(result.lower_bound, kInfinity) << "seed " << seed;
  } else {
    ASSERT_EQ(result.bytes, bytes_of(memory, result.best[0].choices)) << "seed " << seed;
  }
}

TEST(SolveWithin, EqualsExhaustiveSearchForTightAndLooseLimits) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const Memory memory = random_memory(random, tables);
    std::int64_t least = 0;
    for (const auto& bytes : memory) least += *std::min_element(bytes.begin(), bytes.end());
    for (const std::int64_t limit : {least, least + 3000, least + 9000, least + 100000}) {
      expect_exhaustive(tables, memory, limit, 1, seed);
    }
    expect_exhaustive(tables, memory, least + 9000, 3, seed);
  }
}

// 2 variables, each 8 bytes in 1 s or 2 bytes in 5 s, and no edges: 16 bytes 2 s, 10 bytes 6 s,
// 4 bytes 10 s. Between 10 and 16 bytes, a byte more would save 4 s / 6 bytes.
CostTables two_choices_each() {
  CostTables tables;
  tables.quantum = 0x1p-30;
  tables.variables.assign(2,
                          std::make_shared<const std::vector<double>>(std::vector<double>{1, 5}));
  return tables;
}

TEST(SolveWithin, TradesTimeForMemory) {
  const Memory memory = {{8, 2}, {8, 2}};
  const auto seconds = [&](std::int64_t limit) {
    return solve_within(two_choices_each(), memory, limit, {}).best.at(0).seconds;
  };
  EXPECT_EQ(seconds(16), 2);
  EXPECT_EQ(seconds(15), 6);
  EXPECT_EQ(seconds(10), 6);
  EXPECT_EQ(seconds(9), 10);
  EXPECT_NEAR(solve_within(two_choices_each(), memory, 13, {}).seconds_per_byte, 4.0 / 6, 1e-12);
}

TEST(SolveWithin, SaysHowMuchTheSmallestNeeds) {
  const MemoryResult result = solve_within(two_choices_each(), {{8, 2}, {8, 2}}, 3, {});
  EXPECT_FALSE(result.fits());
  EXPECT_EQ(result.least_bytes, 4);
  EXPECT_EQ(result.lower_bound, kInfinity);
}

TEST(SolveWithin, CalledOffAtOnceStillFitsAndBounds) {
  const std::atomic<bool> cancelled = true;
  SolveLimits limits;
  limits.cancelled = &cancelled;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const CostTables tables = random_problem(random, random_shape(random));
    const Memory memory = random_memory(random, tables);
    std::vector<Solution> fitting = all_strategies(tables);
    std::erase_if(fitting, [&](const Solution& s) { return bytes_of(memory, s.choices) > 9000; });
    const MemoryResult result = solve_within(tables, memory, 9000, {}, 1, limits);
    ASSERT_LE(result.lower_bound, fitting.empty() ? kInfinity : fitting[0].seconds) << seed;
    ASSERT_LE(result.bytes, 9000) << seed;
  }
}

}  // namespace
}  // namespace strata
