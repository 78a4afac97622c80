#pragma once

// A few steps of training on CPU devices, and how far what came of them is from another's.

#include <span>
#include <string>
#include <vector>

#include "sim/case/weights.h"
#include "sim/graph/graph.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/execution.h"
#include "sim/train/dataset.h"

namespace strata::testing {

struct Trained {
  std::vector<double> losses;                          ///< by step
  std::vector<std::vector<float>> gradients, weights;  ///< by layer, after the last step
  Communication moved;                                 ///< in all steps
  StepRange played;                                    ///< from a recording
};

/// Euclidean, of a tensor's elements; and the largest of several tensors'.
double length_of(std::span<const float> a);
double distance(std::span<const float> a, std::span<const float> b);
double largest_length(const std::vector<std::vector<float>>& tensors);

inline constexpr std::size_t kTrainedSteps = 3;

/// So small that the small networks fill several.
inline constexpr Bytes kSmallBucket{16 << 10};

/// Every layer's gradients by themselves, in buckets, and at a server.
inline const std::vector<GradientSync>& ways_to_sum() {
  static const std::vector<GradientSync> all = {
      SyncAlgorithm::ring, {SyncAlgorithm::ring, kSmallBucket}, SyncAlgorithm::ps};
  return all;
}

/// What replicas may share.
inline const std::vector<GradientSync>& ways_to_share() {
  static const std::vector<GradientSync> all = {
      {SyncAlgorithm::ring, kSmallBucket, Zero::state},
      {SyncAlgorithm::ring, {}, Zero::gradients},
      {SyncAlgorithm::ring, kSmallBucket, Zero::parameters},
      {SyncAlgorithm::ring, kSmallBucket, Zero::gradients, 2}};
  return all;
}

/// From the same weights, on the same batch, with the same dropout masks, however it is cut.
Trained train(const Graph& graph, const Strategy& strategy, int devices, const GradientSync& sync,
              std::size_t steps = kTrainedSteps);

/// What train() does: how plans are lowered, with which options executors are made.
Plan plan_to_train(const Graph& graph, const Strategy& strategy, int devices,
                   const GradientSync& sync, DType dtype = DType::fp32);
ExecutionOptions training_options();
NetworkWeights weights_to_train(const Graph& graph);
Dataset data_to_train(const Graph& graph);

/// With any executor of such a plan, in one run.
template <class AnyExecutor>
Trained train(AnyExecutor& executor, const Graph& graph, std::size_t steps = kTrainedSteps) {
  const NetworkWeights weights = weights_to_train(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    executor.set_parameters(LayerId(i), weights[i]);
  }
  const Dataset data = data_to_train(graph);
  Trained trained;
  const auto batch_of = [&](std::uint64_t step) { return data.batch(step); };
  const Execution ran = executor.run(steps, batch_of, nullptr);
  trained.losses = ran.losses, trained.moved = ran.moved, trained.played = ran.played;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    trained.gradients.push_back(executor.gradients(LayerId(i)));
    trained.weights.push_back(executor.parameters(LayerId(i)));
  }
  return trained;
}

/// Whether all steps moved what the plan says, and nothing else.
bool moved_as_planned(const Trained& trained, const Plan& plan);

/// How far the two are apart at most: tensors as differences() compares them.
struct Apart {
  double loss = 0, gradients = 0, weights = 0;
  std::string worst_gradients, worst_weights;  ///< layers
};
Apart apart(const Graph& graph, const Trained& a, const Trained& b);

/// What differs by more than `tolerance`, a line each; empty where nothing does. Tensors: distance
/// over length, both Euclidean, of each layer's weight and bias together. A gradient that is next
/// to nothing beside the network's largest one is held to a hundredth of that, for what sums cancel
/// is rounding: before a batch norm, say.
std::vector<std::string> differences(const Graph& graph, const Trained& a, const Trained& b,
                                     double tolerance);

}  // namespace strata::testing
