#pragma once

// Training in rounds (Plan::rounds()), beside one device that trains on the whole batch at once.

#include <string>
#include <vector>

#include "sim/strategy/schedule.h"
#include "tests/exec/zoo/trained.h"

namespace strata::testing {

struct InRounds {
  std::uint32_t rounds = 1;
  ScheduleChoice schedule = {};
  GradientSync sync = SyncAlgorithm::ring;
  Optimizer optimizer = Optimizer::sgd;
  std::vector<std::size_t> runs = {2, 1};  ///< steps of each
};

/// `graph`: a round's.
Plan plan_in_rounds(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const InRounds& how);
/// On CPUs.
Plan plan_in_rounds(const Graph& graph, const Strategy& strategy, int devices, const InRounds& how);
ExecutionOptions options_in_rounds(const InRounds& how);

/// Other data in each of two steps that follow one another, of all rounds.
class DataOfRounds {
 public:
  DataOfRounds(const Graph& graph, std::uint32_t rounds);
  Batch batch(std::uint64_t step) const;

 private:
  Batch of_both_;
  Dataset data_;
};

/// With any executor of such a plan.
template <class AnyExecutor>
Trained train_in_rounds(AnyExecutor& executor, const Graph& graph, const InRounds& how) {
  const NetworkWeights weights = weights_to_train(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    executor.set_parameters(LayerId(i), weights[i]);
  }
  const DataOfRounds data(graph, how.rounds);
  const auto batch_of = [&](std::uint64_t step) { return data.batch(step); };
  Trained trained;
  for (std::size_t steps : how.runs) {
    const Execution ran = executor.run(steps, batch_of, nullptr);
    trained.losses.insert(trained.losses.end(), ran.losses.begin(), ran.losses.end());
    trained.moved.transfer += ran.moved.transfer;
    trained.moved.sync += ran.moved.sync;
    trained.played = ran.played;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    trained.gradients.push_back(executor.gradients(LayerId(i)));
    trained.weights.push_back(executor.parameters(LayerId(i)));
  }
  return trained;
}

/// On CPU devices; fails the test where other bytes move than the plan says.
Trained train_in_rounds(const Graph& graph, const Strategy& strategy, int devices,
                        const InRounds& how);

/// What one device makes of the same data and weights at once; of a network with a batch norm,
/// whose statistics are a round's, in as many rounds. `how`: its rounds, its optimizer and
/// its runs.
Trained train_at_once(const Graph& graph, const InRounds& how);

/// Layers in their order, inputs aside, in as many chunks as are given, about equally many in each:
/// chunk k on these devices, cut in samples.
Strategy in_chunks(const Graph& graph, const std::vector<std::vector<std::size_t>>& devices);

}  // namespace strata::testing
