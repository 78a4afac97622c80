#pragma once

// Two layers, or so, whose times are round numbers.

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "sim/cost/layer_costs.h"
#include "sim/plan/lower.h"
#include "sim/simulate/simulate.h"

namespace strata {

inline constexpr double kMs = 1e-3;

// Every phase of a fully-connected layer takes 10 ms, its update 2 ms; everything else is free.
class RoundCosts : public CostModel {
 public:
  Cost compute(const ShardWork& work, Phase phase) const override {
    if (!std::holds_alternative<FullyConnected>(*work.op)) return {};
    return {Seconds{phase == Phase::update ? 2 * kMs : 10 * kMs}, CostSource::measured};
  }
  Cost move(MoveKind, Bytes) const override { return {}; }
  std::unique_ptr<CostModel> with(const KernelTraits&) const override {
    return std::make_unique<RoundCosts>(*this);
  }
  Bytes memory_capacity() const override { return {std::int64_t{1} << 34}; }
};

// data (1000) -> a (fc 1250) -> b (fc 1250) -> loss, no biases.
inline Graph two_layers(std::int64_t batch) {
  GraphBuilder builder("two", batch);
  const LayerId data = builder.add("data", Input{{{1, 1000, 1, 1, 1}}}, {});
  const LayerId a = builder.add("a", FullyConnected{1250, false}, {data});
  const LayerId b = builder.add("b", FullyConnected{1250, false}, {a});
  builder.add("loss", SoftmaxCrossEntropy{}, {b});
  return std::move(builder).build();
}

struct Outcome {
  Plan plan;
  Timeline timeline;
};

inline Outcome run(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                   std::size_t steps, const Runtime& runtime = {}, Zero zero = Zero::nothing) {
  static const RoundCosts kCosts;
  const std::vector<const CostModel*> models(cluster.device_count(), &kCosts);
  LayerCosts layer_costs(graph, {.dtypes = DType::fp32});
  Plan plan = lower(graph, cluster, strategy, {{SyncAlgorithm::ring, {}, zero}});
  const auto costs = task_costs(plan, graph, strategy, layer_costs, models);
  Timeline timeline = simulate(plan, cluster, costs, steps, runtime);
  return {std::move(plan), std::move(timeline)};
}

inline Config on(std::size_t device) {
  return {kWhole, {DeviceId(device)}};
}

}  // namespace strata
