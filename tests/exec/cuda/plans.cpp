#include "tests/exec/cuda/plans.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr Degrees kCuts[] = {kWhole, {{2, 2, 1, 2, 2}}};

Degrees fitting(Degrees degrees, const Extents& output) {
  for (Dim dim : kDims) {
    degrees[dim] = static_cast<std::int32_t>(std::min<std::int64_t>(degrees[dim], output[dim]));
  }
  return degrees;
}

void add_shard(const Graph& graph, LayerId layer, const Box& output,
               std::vector<AskedConvolution>& to) {
  const auto& op = std::get<Convolution>(graph[layer].op);
  const std::vector<Box> inputs = needed_input(graph, layer, 0, output);
  if (inputs.empty()) return;
  const ConvolutionShape shape = local_shape({&graph, layer, output, {inputs}}, op, inputs[0]);
  const bool known =
      std::any_of(to.begin(), to.end(), [&](const auto& one) { return one.shape == shape; });
  if (!known) to.push_back({fmt::format("{} of {}", graph[layer].name, graph.name()), shape});
}

}  // namespace

Gpu h200() {
  return {"NVIDIA H200", 90, 132, std::int64_t{141} << 30U, std::int64_t{60} << 20U, 13000, 13000};
}

std::vector<AskedConvolution> convolutions_of(std::string_view network) {
  const Graph graph = build_zoo(network, kBatch);
  std::vector<AskedConvolution> all;
  for (LayerId layer(0); layer() < graph.size(); layer = LayerId(layer() + 1)) {
    if (!std::holds_alternative<Convolution>(graph[layer].op)) continue;
    for (const Degrees& degrees : kCuts) {
      const Extents& output = graph[layer].output;
      const Partition cut(output, fitting(degrees, output));
      add_shard(graph, layer, cut.box(layer() % 2 == 0 ? 0 : cut.shard_count() - 1), all);
    }
  }
  return all;
}

void Plans::SetUp() {
  try {
    cudnn_ = std::make_unique<Cudnn>();
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.message();
  }
  try {
    target_ = std::make_unique<PlanTarget>(*cudnn_, h200());
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << "no plans without a GPU: " << error.message();
  }
}

void Plans::expect_plans(const std::vector<AskedConvolution>& all) const {
  for (const AskedConvolution& asked : all) {
    SCOPED_TRACE(asked.where);
    for (Direction direction : {Direction::forward, Direction::data, Direction::weights}) {
      for (Precision precision : {Precision::fp32, Precision::bf16}) {
        EXPECT_TRUE(plan(asked.shape, direction, precision))
            << "direction " << static_cast<int>(direction) << ", precision "
            << static_cast<int>(precision);
      }
    }
  }
}

std::optional<ConvolutionPlan> Plans::plan(const ConvolutionShape& shape, Direction direction,
                                           Precision precision) const {
  const ConvolutionGraph graph(*target_, shape, direction, precision);
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (PlanCandidate& candidate : graph.proposals(mode).candidates) {
      if (auto planned = graph.plan(std::move(candidate)); planned.plan) {
        return std::move(planned.plan);
      }
    }
  }
  return std::nullopt;
}

}  // namespace strata::cuda
