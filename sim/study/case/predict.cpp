#include "sim/study/case/predict.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantile.h"
#include "sim/plan/lower.h"
#include "sim/simulate/jitter.h"
#include "sim/timeline/memory.h"

namespace strata {

namespace {

// What the simulation finds wrong with a case knows no names.
Timeline simulate_case(const Case& input, const Strategy& strategy, const Prediction& prediction,
                       const PredictOptions& options) try {
  Timeline timeline = simulate(prediction.plan, input.cluster, prediction.costs, options.steps,
                               input.overlap, options.record_link_rates);
  if (timeline.step_seconds().value > 0) return timeline;
  throw InputError("a step takes no time; allowed: a network with a layer that computes");
} catch (InputError& error) {
  error.add_context(fmt::format("{} on {}, strategy {}", input.graph.name(), input.cluster.name(),
                                strategy.name()));
  throw;
}

}  // namespace

Plan lower_to_run(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                  const GradientSync& sync, DType dtype) {
  LowerOptions options;
  options.sync = sync;
  options.dtypes = fp32_parameters(dtype);
  options.max_flows_per_edge = std::numeric_limits<std::size_t>::max();
  return lower(graph, cluster, strategy, options);
}

JitteredSteps predict_jitter(const Case& input, const Prediction& prediction,
                             const Jitter& jitter) {
  const std::vector<Cost> drawn = drawn_costs(prediction.costs, jitter.steps, jitter.seed);
  const Timeline timeline =
      simulate(prediction.plan, input.cluster, drawn, jitter.steps, input.overlap);
  std::vector<double> times;
  for (Seconds time : timeline.step_intervals(timeline.steady_window())) {
    times.push_back(time.value);
  }
  if (times.empty()) times.push_back(timeline.step_seconds().value);
  std::sort(times.begin(), times.end());
  return {{quantile(times, 0.5)}, {quantile(times, 0.95)}};
}

Prediction predict(const Case& input, const Strategy& strategy, const PredictOptions& options) {
  std::vector<const CostModel*> models;
  for (const auto& model : input.models) models.push_back(model.get());
  LowerOptions lowering;
  lowering.sync = input.sync;
  lowering.dtypes = input.dtypes;

  Prediction result;
  result.strategy = strategy;
  result.plan = lower(input.graph, input.cluster, strategy, lowering);
  LayerCosts costs(input.graph, input.dtypes.values);
  result.costs = task_costs(result.plan, input.graph, strategy, costs, models);
  result.timeline = simulate_case(input, strategy, result, options);
  Eq1 eq1(input.graph, input.cluster, models, input.sync.algorithm, input.dtypes);
  result.terms = eq1.terms(strategy);
  result.communication = communication(result.plan);
  result.sources = cost_sources(result.costs);
  result.peak_memory = peak_memory(result.plan, result.timeline);
  if (options.critical_path) result.path = path_shares(result.plan, result.timeline);
  return result;
}

}  // namespace strata
