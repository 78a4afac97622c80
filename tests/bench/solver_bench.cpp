// The elimination kernel's speed, and that of whole eliminations.
//
//   cmake --preset bench && cmake --build --preset bench --target solver_bench
//   build/bench/bin/solver_bench
//
// add_mins: additions with minimum per second, by one thread. of_peak: that over what a loop that
// stays in registers reaches, measured just before and after, in the same run.

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/solver/elimination.h"
#include "sim/solver/min_plus.h"
#include "tests/sim/solver/problems.h"

namespace strata::bench {
namespace {

constexpr std::size_t kSums = 16;  // that are under way in the loop in registers

// 16 sums of 4 registers with 4 others, each kept where it is the least so far. The barrier makes
// the compiler believe that the registers have changed.
#if defined(__x86_64__)
#define STRATA_CHANGED(a, b) asm volatile("" : "+v"(a), "+v"(b))
#define STRATA_TARGET(name) __attribute__((target(name)))
#else
#define STRATA_CHANGED(a, b) asm volatile("" : "+w"(a), "+w"(b))
#define STRATA_TARGET(name)
#endif
#define STRATA_REGISTER_LOOP(NAME, TARGET, LANES)                          \
  TARGET double NAME(std::size_t steps) {                                  \
    using Lanes = double __attribute__((vector_size(LANES * 8)));          \
    Lanes least[4][4], left[4], right[4];                                  \
    for (int i = 0; i < 4; ++i) {                                          \
      left[i] = right[i] = Lanes{} + i;                                    \
      for (int j = 0; j < 4; ++j) least[i][j] = Lanes{} + 1e9;             \
    }                                                                      \
    for (std::size_t step = 0; step < steps; ++step) {                     \
      for (int i = 0; i < 4; ++i) STRATA_CHANGED(left[i], right[i]);       \
      for (int i = 0; i < 4; ++i) {                                        \
        for (int j = 0; j < 4; ++j) {                                      \
          const Lanes sum = left[i] + right[j];                            \
          least[i][j] = sum < least[i][j] ? sum : least[i][j];             \
        }                                                                  \
      }                                                                    \
    }                                                                      \
    double sum = 0;                                                        \
    for (std::size_t i = 0; i < kSums; ++i) sum += least[i / 4][i % 4][0]; \
    return sum;                                                            \
  }

STRATA_REGISTER_LOOP(registers_portable, , 2)
#if defined(__x86_64__)
STRATA_REGISTER_LOOP(registers_avx2, STRATA_TARGET("avx2"), 4)
STRATA_REGISTER_LOOP(registers_avx512, STRATA_TARGET("avx512f"), 8)
#endif

double run_registers(const MinPlusKernel& kernel, std::size_t steps) {
#if defined(__x86_64__)
  if (kernel.lanes == 8) return registers_avx512(steps);
  if (kernel.lanes == 4) return registers_avx2(steps);
#endif
  return registers_portable(steps);
}

// Additions with minimum per second in registers: the best of some runs.
double peak(const MinPlusKernel& kernel) {
  constexpr std::size_t kSteps = 1'000'000;
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(run_registers(kernel, kSteps));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kSteps * kSums * kernel.lanes) / took.count());
  }
  return best;
}

std::vector<double> random_matrix(std::size_t size) {
  std::mt19937 random(1);
  std::vector<double> matrix(size * size);
  for (double& entry : matrix) entry = static_cast<double>(random());
  return matrix;
}

// A square product, packing included.
void MinPlus(benchmark::State& state, const MinPlusKernel* kernel) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<double> left = random_matrix(size), right = random_matrix(size);
  std::vector<double> out(size * size);
  double most = peak(*kernel);
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    min_plus(left.data(), right.data(), size, size, size, out.data(), *kernel);
    benchmark::ClobberMemory();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  most = std::max(most, peak(*kernel));
  const double rate = static_cast<double>(size * size * size) *
                      static_cast<double>(state.iterations()) / took.count();
  state.counters["add_mins"] = rate;
  state.counters["of_peak"] = rate / most;
}

const bool registered = [] {
  for (const MinPlusKernel* kernel : min_plus_kernels()) {
    const std::string name = std::string("MinPlus/") + kernel->name;
    auto* bench = benchmark::RegisterBenchmark(name.c_str(), MinPlus, kernel);
    for (const int size : {15, 32, 56, 84, 120, 200, 286, 455, 680, 1001}) bench->Arg(size);
  }
  return true;
}();

// 14 modules of 4 branches side by side, as Inception's: 127 variables, 168 tables.
testing::Pairs modules() {
  testing::Pairs edges;
  for (std::uint32_t in = 0; in < 14 * 9; in += 9) {
    std::uint32_t next = in + 1;
    for (const int length : {1, 2, 3, 2}) {
      std::uint32_t last = in;
      for (int i = 0; i < length; ++i) {
        edges.emplace_back(last, next);
        last = next++;
      }
      edges.emplace_back(last, in + 9);
    }
  }
  return edges;
}

// By all cores. `shared`: all modules have the same tables in memory, as equal layers do.
void Eliminate(benchmark::State& state, bool shared) {
  std::mt19937 random(1);
  CostTables tables =
      testing::make_tables(std::vector<std::size_t>(127, static_cast<std::size_t>(state.range(0))),
                           modules(), [&] { return static_cast<double>(random() % 100'000); });
  for (std::size_t i = 0; shared && i < tables.edges.size(); ++i) {
    tables.edges[i].table = tables.edges[i % 12].table;
    tables.variables[i % 127] = tables.variables[0];
  }
  const EliminationPlan plan = plan_elimination(tables);
  for (auto _ : state) benchmark::DoNotOptimize(eliminate(tables, plan));
  state.counters["operations"] = plan.operations;
}
BENCHMARK_CAPTURE(Eliminate, copied, false)->Arg(15)->Arg(84)->Arg(286)->UseRealTime();
BENCHMARK_CAPTURE(Eliminate, shared, true)->Arg(15)->Arg(84)->Arg(286)->Arg(1001)->UseRealTime();

}  // namespace
}  // namespace strata::bench
