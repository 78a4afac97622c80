#include "sim/train/run.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/network.h"
#include "sim/case/rounds.h"
#include "sim/measure/calibrate.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/train/dataset.h"
#include "sim/train/evaluate.h"
#include "sim/train/run_memory.h"
#include "sim/trust/cost_warnings.h"

namespace strata {
namespace {

using Progress = std::function<void(const RunProgress&)>;

std::size_t warmup_of(const RunRequest& request) {
  return request.warmup.value_or(request.steps > 1 ? 1 : 0);
}

void check_settings(const RunRequest& request) {
  if (warmup_of(request) >= request.steps) {
    throw InputError(
        fmt::format("`warmup` {}: leaves no step to time; allowed: 0 to {}, one less than `steps`",
                    warmup_of(request), request.steps - 1));
  }
  if (request.tolerance && !request.check) {
    throw InputError("`tolerance` is given without `check`; allowed: both, or neither");
  }
}

Network network_of(const RunRequest& request, const Cluster& cluster) {
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  Network network = load_network(request.input, batch_of(request.input.training, devices),
                                 request.weights.empty() ? FileWeights::read : FileWeights::skip);
  check_runs(network.graph);
  if (request.saves_weights) check_weight_files(network.graph);
  class_count(network.graph);  // a network without a loss has nothing to train
  return network;
}

// Where copy engines bring bytes, links say how fast; a device that copies itself asks the profile.
void take_links_from_costs(Case& input) {
  if (!input.cluster[DeviceId(0)].copy_engine) return;
  input.cluster = with_measured_links(input.cluster, *input.models.front());
}

void load_profiles(Case& input, const RunRequest& request) try {
  input.models = load_cost_models(input.cluster, request.input.profiles);
} catch (InputError& error) {
  if (request.input.profiles.empty()) {
    throw InputError(
        fmt::format("strategy optimal needs the costs of layers: {}", error.message()));
  }
  throw;
}

SearchCosts measure(Runner& runner, const Case& input, const RunRequest& request,
                    const std::atomic<bool>* cancelled, const Progress& progress) {
  CostProgress told;
  if (progress) {
    told = [&](std::size_t done, std::size_t of) { progress({kMeasuringCosts, done, of, 0}); };
  }
  const Graph graph = in_largest_rounds(input).graph;
  CostKeeping keeping = *request.costs;
  keeping.optimizer = request.input.training.optimizer;
  return measure_for_search(runner, request.devices, graph, request.input.training.dtype,
                            request.space, keeping, cancelled, told);
}

// One process measures its machine, and devices of one kind at a time.
bool can_measure(const Runner& runner, const Cluster& cluster) {
  const auto devices = cluster.devices();
  return runner.is_one_process() &&
         std::all_of(devices.begin(), devices.end(),
                     [&](const Device& device) { return device.kind == devices.front().kind; });
}

// Costs are needed to search and to predict, not to run.
std::optional<CostsUsed> load_costs(Runner& runner, Case& input, const RunRequest& request,
                                    const std::atomic<bool>* cancelled, const Progress& progress) {
  if (!searched_objective(request.strategy) && request.input.profiles.empty()) return std::nullopt;
  CostsUsed used;
  if (request.input.profiles.empty() && request.costs && can_measure(runner, input.cluster)) {
    SearchCosts costs = measure(runner, input, request, cancelled, progress);
    input.models.assign(input.cluster.device_count(), make_cost_model(costs.profile));
    used = std::move(costs.used);
  } else {
    load_profiles(input, request);
    used.files = request.input.profiles;
  }
  take_links_from_costs(input);
  return used;
}

// What it takes to train.
struct Inputs {
  const Case& input;  // of one round
  NetworkWeights weights;
  Dataset data;
  std::optional<Dataset> test;
};

Inputs load(const RunRequest& request, const Case& input, const Network& network) {
  const Graph& graph = network.graph;  // of the whole batch
  Inputs all{input, {}, {}, {}};
  all.weights = request.weights.empty() ? starting_weights(network, request.seed)
                                        : read_weights(request.weights, graph);
  all.data = request.data.empty() ? synthetic_dataset(graph, request.seed)
                                  : load_dataset(request.data, graph);
  if (!request.test_data.empty()) all.test = load_dataset(request.test_data, graph);
  return all;
}

Timeline predict_steps(const Case& input, const Strategy& strategy, const Plan& plan) {
  std::vector<const CostModel*> models;
  for (const auto& model : input.models) models.push_back(model.get());
  LayerCosts costs(input.graph, compute_settings(input));
  return simulate(plan, input.cluster, task_costs(plan, input.graph, strategy, costs, models),
                  PredictOptions{}.steps);
}

// A loss tells of the weights that a step began with; nothing tells of those that the last one
// left.
void check_finite(const Graph& graph, const NetworkWeights& weights, std::size_t steps) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (std::all_of(weights[i].begin(), weights[i].end(), [](float x) { return std::isfinite(x); }))
      continue;
    throw RunFailed(
        fmt::format("step {}: layer {}: its parameters are not finite after the update; a smaller "
                    "`lr` may help",
                    steps - 1, graph[LayerId(i)].name));
  }
}

ExecutionOptions execution_options(const RunRequest& request) {
  ExecutionOptions options;
  options.learning_rate = static_cast<float>(request.learning_rate);
  options.constants = constants_of(request.input.training.optimizer, request.constants);
  options.seed = request.seed;
  options.keep_gradients = request.check;
  options.serial = request.serial;
  options.recorded = request.recorded;
  options.task_times = request.task_times;
  return options;
}

Trained train(Runner& runner, const RunRequest& request, const Inputs& inputs,
              const NetworkWeights& from, const Plan& plan, const ExecutionOptions& execution,
              const TrainOptions& options) {
  const Graph& graph = inputs.input.graph;
  const auto run = start(runner, request.devices, graph, plan, execution, from);
  Trained outcome;
  const auto batch_of = [&](std::uint64_t step) { return inputs.data.batch(step); };
  outcome.trained = strata::train(*run, plan, batch_of, options);
  if (outcome.trained.stopped) return outcome;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    outcome.weights.push_back(run->parameters(LayerId(i)));
    outcome.gradients.push_back(run->gradients(LayerId(i)));
  }
  check_finite(graph, outcome.weights, request.steps);
  return outcome;
}

// What comes after the training must not lose it.
template <class Work>
auto unless_cancelled(const Work& work) -> std::optional<decltype(work())> try {
  return work();
} catch (const Cancelled&) {
  return std::nullopt;
}

TrainOptions train_options(const RunRequest& request, const std::atomic<bool>* cancelled,
                           const Progress& progress, std::string_view stage) {
  TrainOptions options{request.steps, warmup_of(request), cancelled, {}};
  if (!progress) return options;
  options.progress = [&progress, stage, of = request.steps](std::size_t steps, double loss) {
    progress({stage, steps, of, loss});
  };
  return options;
}

// Nor must devices that lack what it takes to follow them layer by layer.
LayerCheck unless_lacking(const LayerCheckCase& input, const std::atomic<bool>* cancelled,
                          const LayerProgress& progress) try {
  return check_layers(input, cancelled, progress);
} catch (const EnvironmentError& error) {
  LayerCheck left_out;
  left_out.skipped = error.message();
  return left_out;
}

Check check(Runner& runner, const RunRequest& request, const Inputs& inputs, const Plan& plan,
            const Plan& alone, const Trained& cut, const std::atomic<bool>* cancelled,
            const Progress& progress) {
  const Graph& graph = inputs.input.graph;
  ExecutionOptions execution = execution_options(request);
  execution.recorded = false;  // so that recorded steps are compared with plain ones
  execution.task_times = false;
  const auto train_alone = [&](const NetworkWeights& from, std::string_view stage) {
    Trained one = train(runner, request, inputs, from, alone, execution,
                        train_options(request, cancelled, progress, stage));
    if (one.trained.stopped) throw Cancelled{};
    return one;
  };
  Check result = compare(graph, cut, inputs.weights,
                         {request.tolerance, request.input.training.dtype}, train_alone);
  result.layers.skipped = why_not_by_layer(runner, request, inputs.input, plan, alone);
  if (!result.layers.skipped.empty()) return result;
  LayerProgress told;
  if (progress) {
    told = [&](std::size_t steps, std::size_t of, double loss) {
      progress({"layer by layer", steps, of, loss});
    };
  }
  const auto batch_of = [&](std::uint64_t step) { return inputs.data.batch(step); };
  result.layers = unless_lacking({runner, request.devices, graph, plan, alone, execution,
                                  inputs.weights, batch_of, request.input.training.sync.shares()},
                                 cancelled, told);
  return result;
}

}  // namespace

OptimizerConstants constants_of(Optimizer optimizer, const AskedConstants& asked) {
  const OptimizerConstants usual = traits(optimizer).usual;
  const auto chosen = [&](std::string_view key, const std::optional<double>& value, double own,
                          bool is_decay_rate) {
    if (!value) return own;
    if (own == 0) {
      throw InputError(fmt::format("`optimizer` {} has no `{}`; allowed: another rule, or no `{}`",
                                   name(optimizer), key, key));
    }
    if (is_decay_rate && *value >= 1) {
      throw InputError(fmt::format("`{}` is {}; allowed: less than 1", key, *value));
    }
    // What is 0 in fp32 would divide zeros by it.
    if (!is_decay_rate && static_cast<float>(*value) == 0) {
      throw InputError(fmt::format("`{}` is {}; allowed: at least 1e-38", key, *value));
    }
    return *value;
  };
  return {chosen("beta1", asked.beta1, usual.beta1, true),
          chosen("beta2", asked.beta2, usual.beta2, true),
          chosen("epsilon", asked.epsilon, usual.epsilon, false),
          asked.weight_decay.value_or(usual.weight_decay)};
}

RunReport run(Runner& runner, const RunRequest& request, const std::atomic<bool>* cancelled,
              const Progress& progress) {
  check_settings(request);
  constants_of(request.input.training.optimizer,
               request.constants);  // refused before anything is measured
  Cluster cluster = runner.cluster(request.devices);
  Network network = network_of(request, cluster);
  Case input{network.graph,
             std::move(cluster),
             request.input.training.sync,
             fp32_parameters(request.input.training.dtype),
             {}};
  input.optimizer = request.input.training.optimizer;
  input.train = request.input.training.train;
  cut_in_time(request.input.training, input.graph.batch(), input);
  auto costs = load_costs(runner, input, request, cancelled, progress);
  const Strategy asked = load_strategy(request.strategy, input, request.space);
  input = in_rounds(input, asked);
  const Strategy strategy = with_recomputation(input, asked);
  const auto lowered_alone = [&] {
    Case of_one = input;  // in as many rounds, which need no order
    of_one.schedule = {};
    of_one.recompute = Recompute::none;
    return lower_to_run(of_one, on_one_device(input.graph));
  };
  const Plan plan = lower_to_run(input, strategy), alone = lowered_alone();
  check_memory(request, input, plan);
  if (request.check) check_memory(request, input, alone);
  const Inputs inputs = load(request, input, network);

  Trained cut = train(runner, request, inputs, inputs.weights, plan, execution_options(request),
                      train_options(request, cancelled, progress, "training"));
  RunReport report{network.graph, input.cluster, strategy, plan, {}, {}, {}, {}, {}};
  report.notes = std::move(network.notes);
  report.schedule = schedule_used(input, strategy, input.rounds);
  report.costs = std::move(costs);
  if (!input.models.empty()) {
    report.predicted = predict_steps(input, strategy, plan);
    report.doubts = cost_warnings(input);
  }
  if (request.recorded && !cut.trained.played) {
    report.doubts.emplace_back(
        "`graph`: no step that came from a recording was timed; the first two of all and the last "
        "of a run do not: `steps` 4 is enough");
  }
  if (request.check && !cut.trained.stopped) {
    report.check = unless_cancelled(
        [&] { return check(runner, request, inputs, plan, alone, cut, cancelled, progress); });
    cut.trained.stopped = !report.check;
  }
  report.trained = std::move(cut.trained);
  report.weights = std::move(cut.weights);
  if (inputs.test && !report.trained.stopped) {
    report.test = unless_cancelled(
        [&] { return evaluate(runner, request, report, *inputs.test, cancelled); });
    report.trained.stopped = !report.test;
  }
  return report;
}

}  // namespace strata
