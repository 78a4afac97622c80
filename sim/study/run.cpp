#include "sim/study/run.h"

#include <limits>

#include <fmt/format.h>

#include "sim/plan/lower.h"
#include "sim/study/dataset.h"
#include "sim/study/evaluate.h"
#include "sim/study/host_memory.h"
#include "sim/study/solve.h"
#include "sim/text/units.h"

namespace strata {
namespace {

using Progress = std::function<void(const RunProgress&)>;

// What it takes to start: everything is read and checked before the first device works.
struct Inputs {
  Case input;
  Strategy strategy;
  NetworkWeights weights;
  Dataset data;
  std::optional<Dataset> test;
};

Case load_case(const Runner& runner, const RunRequest& request) {
  Cluster cluster = runner.cluster(request.devices);
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  Graph graph =
      load_model(request.model, request.batch.value_or(request.batch_per_device * devices));
  class_count(graph);  // a network without a loss has nothing to train
  return {std::move(graph), std::move(cluster), request.sync, DType::fp32, {}};
}

// Costs are needed to search and to predict, not to run.
void load_costs(Case& input, const RunRequest& request) try {
  if (request.strategy != "optimal" && request.profiles.empty()) return;
  input.models = load_cost_models(input.cluster, request.profiles);
} catch (InputError& error) {
  if (request.profiles.empty()) {
    throw InputError(
        fmt::format("--strategy optimal needs to know what layers cost: {}; strata profile makes "
                    "one for --profile",
                    error.message()));
  }
  throw;
}

Inputs load(const Runner& runner, const RunRequest& request) {
  Case input = load_case(runner, request);
  load_costs(input, request);
  Strategy strategy = load_strategy(request.strategy, input, request.space);
  Inputs all{std::move(input), std::move(strategy), {}, {}, {}};
  const Graph& graph = all.input.graph;
  all.weights = request.weights.empty() ? initial_weights(graph, request.seed)
                                        : read_weights(request.weights, graph);
  all.data = request.data.empty() ? synthetic_dataset(graph, request.seed)
                                  : load_dataset(request.data, graph);
  if (!request.test_data.empty()) all.test = load_dataset(request.test_data, graph);
  return all;
}

Plan lower_to_run(const Case& input, const Strategy& strategy) {
  LowerOptions options;
  options.sync = input.sync;
  options.max_flows_per_edge = std::numeric_limits<std::size_t>::max();
  return lower(input.graph, input.cluster, strategy, options);
}

void check_memory(const RunRequest& request, const Cluster& cluster, const Plan& plan,
                  Bytes parameters) {
  if (cluster.devices().front().kind != "cpu") return;
  const auto free = request.memory ? request.memory : available_memory();
  // The whole network's weights before and after, and all that --check compares.
  const std::int64_t copies = request.tolerance ? 6 : 2;
  const Bytes need = memory_estimate(plan, cluster) + parameters * copies;
  if (!free || need <= *free) return;
  throw EnvironmentError(fmt::format(
      "not enough memory: {} on {} needs about {}, {} is free; a smaller --batch needs less",
      request.model, request.devices, format_bytes(need), format_bytes(*free)));
}

Timeline predict_steps(const Case& input, const Strategy& strategy, const Plan& plan) {
  std::vector<const CostModel*> models;
  for (const auto& model : input.models) models.push_back(model.get());
  LayerCosts costs(input.graph, input.dtype);
  return simulate(plan, input.cluster, task_costs(plan, input.graph, strategy, costs, models),
                  PredictOptions{}.steps);
}

// A training from the request's weights, and what it leaves.
struct Outcome {
  Training training;
  NetworkWeights weights, gradients;
};

Outcome train(Runner& runner, const RunRequest& request, const Inputs& inputs, const Plan& plan,
              const TrainOptions& options) {
  const Graph& graph = inputs.input.graph;
  ExecutionOptions execution;
  execution.learning_rate = static_cast<float>(request.learning_rate);
  execution.seed = request.seed;
  execution.keep_gradients = request.tolerance.has_value();
  const auto run = start(runner, request.devices, graph, plan, execution, inputs.weights);
  Outcome outcome;
  const auto batch_of = [&](std::uint64_t step) { return inputs.data.batch(step); };
  outcome.training = strata::train(*run, plan, batch_of, options);
  if (outcome.training.stopped) return outcome;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    outcome.weights.push_back(run->parameters(LayerId(i)));
    outcome.gradients.push_back(run->gradients(LayerId(i)));
  }
  return outcome;
}

TrainOptions train_options(const RunRequest& request, const std::atomic<bool>* cancelled,
                           const Progress& progress, std::string_view stage) {
  TrainOptions options{request.steps, request.warmup, cancelled, {}};
  if (!progress) return options;
  options.progress = [&progress, stage, of = request.steps](std::size_t steps, double loss) {
    progress({stage, steps, of, loss});
  };
  return options;
}

Differences differences(const Graph& graph, const Outcome& cut, const Outcome& whole) {
  return {relative_difference(std::span<const double>(cut.training.losses), whole.training.losses),
          largest_difference(graph, cut.gradients, whole.gradients),
          largest_difference(graph, cut.weights, whole.weights)};
}

}  // namespace

RunReport run(Runner& runner, const RunRequest& request, const std::atomic<bool>* cancelled,
              const Progress& progress) {
  Inputs inputs = load(runner, request);
  const Case& input = inputs.input;
  const Plan plan = lower_to_run(input, inputs.strategy);
  const Plan alone = lower_to_run(input, on_one_device(input.graph));
  const Bytes parameters{input.graph.parameters() * static_cast<std::int64_t>(sizeof(float))};
  check_memory(request, input.cluster, plan, parameters);
  if (request.tolerance) check_memory(request, input.cluster, alone, parameters);

  Outcome cut =
      train(runner, request, inputs, plan, train_options(request, cancelled, progress, "training"));
  RunReport report{input.graph, input.cluster, inputs.strategy, plan, {}, {}, {}, {}, {}};
  if (!input.models.empty()) report.predicted = predict_steps(input, inputs.strategy, plan);
  if (request.tolerance && !cut.training.stopped) {
    const Outcome whole = train(runner, request, inputs, alone,
                                train_options(request, cancelled, progress, "one device"));
    if (whole.training.stopped) cut.training.stopped = true;
    if (!whole.training.stopped) report.differences = differences(input.graph, cut, whole);
  }
  report.training = std::move(cut.training);
  report.weights = std::move(cut.weights);
  if (inputs.test && !report.training.stopped) {
    report.test = evaluate(runner, request, report, *inputs.test, cancelled);
  }
  return report;
}

}  // namespace strata
