// The engine's speed and memory.
//
//   cmake --preset bench && cmake --build --preset bench --target engine_bench
//   build/bench/bin/engine_bench [--benchmark_filter=Ring]
//
// peak_MB is the most memory that the process has held so far, so run a benchmark alone (with the
// filter) to read its own; build_s is the time to build the workload, apart from the simulation.

#include <chrono>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "tests/bench/workloads.h"

namespace strata::bench {
namespace {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(benchmark::State& state, const Workload& workload) {
  for (auto _ : state) benchmark::DoNotOptimize(simulate(workload));
  EngineStatistics statistics;
  const ActivityTimes times = simulate(workload, {nullptr, &statistics});
  state.counters["activities"] = static_cast<double>(workload.size());
  state.counters["makespan_s"] = to_seconds(times.makespan).value;
  state.counters["events"] = static_cast<double>(statistics.events);
  state.counters["solves"] = static_cast<double>(statistics.rate_solves);
  state.counters["flows_solved"] = static_cast<double>(statistics.flows_resolved);
  state.counters["peak_MB"] = peak_megabytes();
}

// 100,000 computations and 200,000 flows on 64 hosts around a switch.
void IrregularDag(benchmark::State& state) {
  const Star star;
  const LayeredDag dag = make_layered_dag(star, 100, 1000, 1);
  run(state, to_workload(star, dag));
}
BENCHMARK(IrregularDag)->Unit(benchmark::kMillisecond);

// 2,095,104 messages.
void RingWrittenOut(benchmark::State& state) {
  const auto start = std::chrono::steady_clock::now();
  const Workload workload = make_ring_messages({.hosts = 1024}, 1e9);
  state.counters["build_s"] = seconds_since(start);
  run(state, workload);
}
BENCHMARK(RingWrittenOut)->Unit(benchmark::kMillisecond);

void RingAsOneActivity(benchmark::State& state) {
  run(state, make_ring_activity({.hosts = 1024}, 1e9));
}
BENCHMARK(RingAsOneActivity)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace strata::bench
