// What `strata solve` takes, cost tables and search apart, by all cores; and what one prediction
// takes by the number of devices, where one of each class is simulated.
//
//   cmake --preset bench && cmake --build --preset bench --target study_bench
//   build/bench/bin/study_bench
//
// The time is that of both together. tables, search: seconds of each. C: the most configs of a
// layer, K: the final nodes, E: edges, all as in the paper; pruned: configs that a bound ruled out.

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "sim/search/solve.h"

namespace strata::bench {
namespace {

// Between two layers that choose for themselves.
std::size_t edges(const Case& input) {
  const SearchSpace space(input.graph, input.cluster);
  std::size_t count = 0;
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const auto to = space.variable_of(LayerId(i));
    for (LayerId producer : input.graph[LayerId(i)].inputs) {
      const auto from = space.variable_of(producer);
      count += from && to && *from != *to;
    }
  }
  return count;
}

void Solve(benchmark::State& state, const std::string& model, const std::string& cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  const Case input = load_case(request);
  SolveOptions options;
  options.objective = Objective::eq1;
  options.simulate = false;
  double tables = 0, search = 0;
  Solved solved;
  for (auto _ : state) {
    solved = solve(input, options);
    tables += solved.table_seconds;
    search += solved.solve_seconds;
    state.SetIterationTime(solved.table_seconds + solved.solve_seconds);
  }
  if (!solved.optimal) state.SkipWithError("not solved to optimality");
  const auto runs = benchmark::Counter::kAvgIterations;
  state.counters["tables"] = {tables, runs};
  state.counters["search"] = {search, runs};
  state.counters["C"] = static_cast<double>(solved.max_configs);
  state.counters["K"] = static_cast<double>(solved.final_nodes);
  state.counters["E"] = static_cast<double>(edges(input));
  state.counters["pruned"] = static_cast<double>(solved.pruned);
}

BENCHMARK_CAPTURE(Solve, lenet5_1x4, "lenet5", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, alexnet_1x4, "alexnet", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, vgg16_1x4, "vgg16", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, inception_v3_1x4, "inception_v3", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, resnet152_1x4, "resnet152", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, densenet121_1x4, "densenet121", "p100-1x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, inception_v3_4x4, "inception_v3", "p100-4x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, inception_v3_16x4, "inception_v3", "p100-16x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, inception_v3_64x4, "inception_v3", "p100-64x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, inception_v3_256x4, "inception_v3", "p100-256x4")->UseManualTime();
BENCHMARK_CAPTURE(Solve, resnet152_16x4, "resnet152", "p100-16x4")->UseManualTime();

void Predict(benchmark::State& state, const std::string& model, const std::string& strategy) {
  CaseRequest request;
  request.model = model;
  request.cluster = fmt::format("p100-{}x4", state.range(0) / 4);
  const Case input = load_case(request);
  const int devices = static_cast<int>(input.cluster.device_count());
  const Strategy cut =
      strategy == "data" ? data_parallel(input.graph, devices) : owt_parallel(input.graph, devices);
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  std::size_t tasks = 0;
  for (auto _ : state) tasks = predict(input, cut, options).plan.size();
  state.counters["tasks"] = static_cast<double>(tasks);
}

BENCHMARK_CAPTURE(Predict, inception_v3_data, "inception_v3", "data")
    ->RangeMultiplier(4)
    ->Range(4, 16384);
BENCHMARK_CAPTURE(Predict, inception_v3_owt, "inception_v3", "owt")
    ->RangeMultiplier(4)
    ->Range(4, 16384);

}  // namespace
}  // namespace strata::bench
