// How often steps do what belongs to a layer, against what their definitions say.

#include "sim/step/layer_counts.h"

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

Graph gpt() {
  return build_zoo("gpt:layers=2,hidden=16,heads=4,seq=8,vocab=32", 8);
}

LayerId layer_of(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph[LayerId(i)].name == name) return LayerId(i);
  }
  ADD_FAILURE() << "no layer " << name;
  return {};
}

// A product computes its output and both gradients, its norm sums a statistic each way.
TEST(LayerCounts, OneDeviceComputesEachPhaseOnce) {
  const Graph graph = gpt();
  const auto counts = count_actions(graph, KernelTraits{});
  const LayerCounts& product = counts[layer_of(graph, "block1_ffn_in")()];
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    EXPECT_EQ(product.times(phase, 3), 3) << name(phase);
  }
  EXPECT_EQ(product.times(Phase::update, 3), 1);
  EXPECT_FALSE(product.sums_statistics[Phase::forward_statistics]);
  const LayerCounts& norm = counts[layer_of(graph, "block1_ffn_norm")()];
  EXPECT_TRUE(norm.sums_statistics[Phase::forward_statistics]);
  EXPECT_TRUE(norm.sums_statistics[Phase::backward_statistics]);
  EXPECT_EQ(product.reads, std::vector<bool>{true});
  EXPECT_EQ(product.returns, std::vector<bool>{true});
}

TEST(LayerCounts, SegmentsComputeForwardPassesTwiceAndMoveOnce) {
  const Graph graph = gpt();
  const Segments all = segments(graph, Recompute::full, {});
  const auto once = count_actions(graph, KernelTraits{}), twice = count_actions(graph, {}, all);
  std::size_t again = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    EXPECT_EQ(once[i].reads, twice[i].reads);
    EXPECT_EQ(once[i].times(Phase::backward_data, 1), twice[i].times(Phase::backward_data, 1));
    if (once[i].times(Phase::forward, 1) == twice[i].times(Phase::forward, 1)) continue;
    EXPECT_EQ(twice[i].times(Phase::forward, 1), 2);
    ++again;
  }
  EXPECT_GT(again, 5U);
}

// What a block gives goes to a norm and to an add of the next one: to another stage it is sent
// once, and its gradient comes back once.
TEST(LayerCounts, StagesReadOnceWhatSeveralOfTheirLayersRead) {
  const Graph graph = build_zoo("gpt:layers=8,hidden=16,heads=4,seq=8,vocab=32", 8);
  const Strategy strategy = hybrid_parallel(graph, 4, "hybrid:tp=1,pp=4");
  const Step step = make_step(graph, strategy, {});
  const auto counts = count_actions(graph, step), one = count_actions(graph, KernelTraits{});
  ASSERT_FALSE(step.shared_readings.empty());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (std::size_t input = 0; input < one[i].reads.size(); ++input) {
      if (!one[i].reads[input]) continue;
      const bool again = step.shared_readings.contains({LayerId(i), input});
      EXPECT_EQ(counts[i].reads[input], !again) << graph[LayerId(i)].name;
      EXPECT_EQ(counts[i].returns[input], one[i].returns[input] && !again)
          << graph[LayerId(i)].name;
    }
  }
}

// Whatever its cuts, its rounds and what its replicas share, a step computes the same.
TEST(LayerCounts, StrategiesComputeWhatOneDeviceDoes) {
  const Graph graph = gpt();
  const auto one = count_actions(graph, KernelTraits{});
  for (const char* sizes : {"hybrid:tp=2", "hybrid:tp=2,pp=2", "hybrid:tp=1"}) {
    for (const Zero zero : {Zero::nothing, Zero::state, Zero::gradients, Zero::parameters}) {
      StepOptions options;
      options.sync = {SyncAlgorithm::ring, Bytes{1 << 20}, zero};
      options.rounds = 3;
      const Strategy strategy = hybrid_parallel(graph, 8, sizes);
      const auto counts = count_actions(graph, make_step(graph, strategy, options));
      for (std::size_t i = 0; i < graph.size(); ++i) {
        EXPECT_EQ(counts[i].computed, one[i].computed) << graph[LayerId(i)].name << " " << sizes;
        if (!graph[LayerId(i)].weight_of.valid()) {
          EXPECT_EQ(counts[i].updates, one[i].updates) << graph[LayerId(i)].name << " " << sizes;
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata
