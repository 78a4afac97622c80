#include "tests/exec/zoo/in_rounds.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "sim/cluster/cpu_cluster.h"

namespace strata::testing {
namespace {

constexpr std::uint64_t kDataSeed = 7;
constexpr std::int64_t kBatches = 2;

bool has_batch_norm(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<BatchNorm>(layer.op);
  });
}

template <class T>
std::span<const T> part(std::span<const T> all, std::uint64_t number) {
  const std::size_t size = all.size() / kBatches;
  return all.subspan(number * size, size);
}

}  // namespace

Plan plan_in_rounds(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const InRounds& how) {
  LowerOptions lowering;
  lowering.sync = how.sync;
  lowering.rounds = how.rounds;
  lowering.schedule = how.schedule;
  lowering.optimizer = how.optimizer;
  return lower(graph, cluster, strategy, lowering);
}

Plan plan_in_rounds(const Graph& graph, const Strategy& strategy, int devices,
                    const InRounds& how) {
  return plan_in_rounds(graph, cpu_cluster(devices), strategy, how);
}

ExecutionOptions options_in_rounds(const InRounds& how) {
  ExecutionOptions options = training_options();
  options.learning_rate = traits(how.optimizer).ignores_gradient_scale ? 0.001F : 0.02F;
  return options;
}

DataOfRounds::DataOfRounds(const Graph& graph, std::uint32_t rounds)
    : data_(synthetic_dataset(graph.with_batch(kBatches * rounds * graph.batch()), kDataSeed)) {
  of_both_ = data_.batch(0);
}

Batch DataOfRounds::batch(std::uint64_t step) const {
  Batch batch{step % kBatches, {}, part(of_both_.labels, step % kBatches)};
  for (const auto& input : of_both_.inputs) batch.inputs.push_back(part(input, step % kBatches));
  return batch;
}

Trained train_in_rounds(const Graph& graph, const Strategy& strategy, int devices,
                        const InRounds& how) {
  const Plan plan = plan_in_rounds(graph, strategy, devices, how);
  cpu::CpuBackend backend(static_cast<std::size_t>(devices));
  Executor executor(graph, plan, backend, options_in_rounds(how));
  Trained trained = train_in_rounds(executor, graph, how);
  EXPECT_TRUE(moved_as_planned(trained, plan));
  return trained;
}

Trained train_at_once(const Graph& graph, const InRounds& how) {
  const Strategy whole("one device",
                       std::vector<Config>(graph.size(), config_on_first_devices(kWhole)));
  InRounds alone{.rounds = how.rounds, .optimizer = how.optimizer, .runs = how.runs};
  if (has_batch_norm(graph)) return train_in_rounds(graph, whole, 1, alone);
  alone.rounds = 1;
  return train_in_rounds(graph.with_batch(how.rounds * graph.batch()), whole, 1, alone);
}

Strategy in_chunks(const Graph& graph, const std::vector<std::vector<std::size_t>>& devices) {
  std::size_t layers = 0, next = 0;
  for (const Layer& layer : graph.layers()) layers += is_input(layer.op) ? 0 : 1;
  std::vector<Config> configs;
  for (const Layer& layer : graph.layers()) {
    if (is_input(layer.op)) {
      configs.push_back(config_on_first_devices(kWhole));
      continue;
    }
    const std::vector<std::size_t>& own = devices[next++ * devices.size() / layers];
    Degrees degrees = kWhole;
    degrees[Dim::n] = static_cast<std::int32_t>(own.size());
    std::vector<DeviceId> on;
    for (std::size_t device : own) on.emplace_back(device);
    configs.push_back({degrees, std::move(on)});
  }
  return {"in chunks", std::move(configs)};
}

}  // namespace strata::testing
