#include "sim/train/evaluate.h"

#include <numeric>

#include "sim/case/predict.h"

namespace strata {
namespace {

// Sums over the samples seen so far.
struct Sums {
  double loss = 0;
  std::int64_t correct = 0;

  void add(const Execution& execution, std::int64_t batch) {
    loss += static_cast<double>(batch) *
            std::accumulate(execution.losses.begin(), execution.losses.end(), 0.0);
    correct += std::accumulate(execution.correct.begin(), execution.correct.end(), std::int64_t{0});
  }
};

}  // namespace

Strategy on_one_device(const Graph& graph) {
  return {"one device", std::vector<Config>(graph.size(), config_on_first_devices(kWhole))};
}

std::unique_ptr<PlanRun> start(Runner& runner, const std::string& devices, const Graph& graph,
                               const Plan& plan, const ExecutionOptions& options,
                               const NetworkWeights& weights) {
  std::unique_ptr<PlanRun> run = runner.start(devices, graph, plan, options);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!weights[i].empty()) run->set_parameters(LayerId(i), weights[i]);
  }
  return run;
}

TestResult evaluate(Runner& runner, const RunRequest& request, const RunReport& trained,
                    const Dataset& test, const std::atomic<bool>* cancelled) {
  const ExecutionOptions options{
      .learning_rate = 0, .seed = request.seed, .training = false, .task_times = false};
  const std::int64_t batch = trained.graph.batch(), full = test.samples() / batch;
  const std::int64_t left = test.samples() % batch;
  Sums sums;
  if (full > 0) {
    const Graph of_round = trained.graph.with_batch(batch / trained.plan.rounds());
    const auto run =
        start(runner, request.devices, of_round, trained.plan, options, trained.weights);
    const BatchOf batch_of = [&](std::uint64_t step) { return test.batch(step); };
    for (std::int64_t k = 0; k < full; ++k) sums.add(run->run(1, batch_of, cancelled), batch);
  }
  if (left > 0) {
    const Graph graph = trained.graph.with_batch(left);
    const Plan plan = lower_to_run(
        {graph, trained.cluster, request.input.training.sync, request.input.training.dtype, {}},
        on_one_device(graph));
    const auto run = start(runner, request.devices, graph, plan, options, trained.weights);
    sums.add(run->run(
                 1, [&](std::uint64_t) { return test.range(full * batch, left); }, cancelled),
             left);
  }
  const auto samples = static_cast<double>(test.samples());
  const double judged = samples * static_cast<double>(labels_of_sample(trained.graph));
  return {static_cast<double>(sums.correct) / judged, sums.loss / samples, test.samples()};
}

}  // namespace strata
