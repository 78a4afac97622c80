#include "tests/exec/zoo/trained.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "sim/cluster/cpu_cluster.h"

namespace strata::testing {

double length_of(std::span<const float> a) {
  double squares = 0;
  for (float x : a) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

double distance(std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += apart * apart;
  }
  return std::sqrt(squares);
}

double largest_length(const std::vector<std::vector<float>>& tensors) {
  double largest = 0;
  for (const auto& tensor : tensors) largest = std::max(largest, length_of(tensor));
  return largest;
}

namespace {

constexpr float kRate = 0.001F;
constexpr std::uint64_t kSeed = 7;
constexpr double kFloor = 0.01;

// Whether `apart` is more, or no number.
bool widen(double& most, double apart) {
  if (apart <= most) return false;
  most = std::isnan(apart) ? HUGE_VAL : apart;
  return true;
}

// What is not within the tolerance, be it that it is no number.
void compare(std::vector<std::string>& found, const std::string& what, double apart, double length,
             double tolerance) {
  if (apart <= tolerance * length) return;
  found.push_back(fmt::format("{}: {:.2e}", what, apart / length));
}

}  // namespace

Plan plan_to_train(const Graph& graph, const Strategy& strategy, int devices,
                   const GradientSync& sync, DType dtype) {
  LowerOptions lowering;
  lowering.sync = sync;
  lowering.dtypes = fp32_parameters(dtype);
  return lower(graph, cpu_cluster(devices), strategy, lowering);
}

bool moved_as_planned(const Trained& trained, const Plan& plan) {
  const Communication planned = communication(plan);
  const auto steps = static_cast<std::int64_t>(trained.losses.size());
  return trained.moved.transfer == planned.transfer * steps &&
         trained.moved.sync == planned.sync * steps;
}

ExecutionOptions training_options() {
  ExecutionOptions options;
  options.learning_rate = kRate;
  options.seed = kSeed;
  options.keep_gradients = true;
  return options;
}

NetworkWeights weights_to_train(const Graph& graph) {
  return initial_weights(graph, kSeed);
}

Dataset data_to_train(const Graph& graph) {
  return synthetic_dataset(graph, kSeed);
}

Trained train(const Graph& graph, const Strategy& strategy, int devices, const GradientSync& sync,
              std::size_t steps) {
  const Plan plan = plan_to_train(graph, strategy, devices, sync);
  cpu::CpuBackend backend(static_cast<std::size_t>(devices));
  Executor executor(graph, plan, backend, training_options());
  return train(executor, graph, steps);
}

Apart apart(const Graph& graph, const Trained& a, const Trained& b) {
  Apart most;
  for (std::size_t k = 0; k < b.losses.size(); ++k) {
    widen(most.loss, std::abs(a.losses[k] - b.losses[k]) / std::abs(b.losses[k]));
  }
  const double least = kFloor * largest_length(b.gradients);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& layer = graph[LayerId(i)].name;
    const double length = std::max(length_of(b.gradients[i]), least);
    if (widen(most.gradients, distance(a.gradients[i], b.gradients[i]) / length)) {
      most.worst_gradients = layer;
    }
    if (b.weights[i].empty()) continue;
    if (widen(most.weights, distance(a.weights[i], b.weights[i]) / length_of(b.weights[i]))) {
      most.worst_weights = layer;
    }
  }
  return most;
}

std::vector<std::string> differences(const Graph& graph, const Trained& a, const Trained& b,
                                     double tolerance) {
  std::vector<std::string> found;
  for (std::size_t k = 0; k < b.losses.size(); ++k) {
    compare(found, fmt::format("loss of step {}", k), std::abs(a.losses[k] - b.losses[k]),
            std::abs(b.losses[k]), tolerance);
  }
  const double least = kFloor * largest_length(b.gradients);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& layer = graph[LayerId(i)].name;
    compare(found, "gradient of " + layer, distance(a.gradients[i], b.gradients[i]),
            std::max(length_of(b.gradients[i]), least), tolerance);
    compare(found, "weights of " + layer, distance(a.weights[i], b.weights[i]),
            length_of(b.weights[i]), tolerance);
  }
  return found;
}

}  // namespace strata::testing
