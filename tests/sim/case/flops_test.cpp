#include "sim/case/flops.h"

#include <gtest/gtest.h>

#include "sim/case/rounds.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

// 24 s h^2 (1 + s / 6h) + vocabulary, of Narayanan et al. 2021, without recomputation: 6 operations
// a parameter of products and token, and of attention 12 s h a layer and token, half of it causal.
TEST(StepFlops, OfADecoderFollowFromItsSizes) {
  const std::int64_t layers = 2, hidden = 64, seq = 32, vocab = 100, batch = 3;
  const Graph graph = build_zoo("gpt:layers=2,hidden=64,heads=4,seq=32,vocab=100", batch);
  const double tokens = static_cast<double>(batch * seq);
  const double products = static_cast<double>(layers * 12 * hidden * hidden + vocab * hidden);
  const double attention = static_cast<double>(layers * hidden * (seq + 1));  // of a token
  EXPECT_DOUBLE_EQ(step_flops(graph).model.value, 6 * tokens * (products + attention));
  // The first product of a head once more.
  EXPECT_DOUBLE_EQ(step_flops(graph).hardware.value,
                   6 * tokens * (products + attention) + tokens * attention);
}

// Whatever part of the batch the case's graph is of.
TEST(StepFlops, AreThoseOfTheWholeBatch) {
  CaseRequest request;
  request.model = "vgg16";
  request.cluster = "p100-1x4";
  request.training.batch = 64;
  const Case whole = load_case(request);
  request.training.micro_batch = 2;
  const Case cut = load_case(request);
  const Strategy strategy = data_parallel(whole.graph, 4);
  const auto expected = flops_utilisation(whole, strategy, Seconds{1});
  ASSERT_TRUE(expected);
  const double peak = whole.models.front()->peak(DType::fp32)->value;
  EXPECT_DOUBLE_EQ(expected->per_device.value, expected->model * peak);
  for (const Case& input : {cut, in_rounds(cut, 4)}) {
    const auto found = flops_utilisation(input, strategy, Seconds{1});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->model, expected->model, 1e-9 * expected->model);
    EXPECT_NEAR(found->per_device.value, expected->per_device.value,
                1e-9 * expected->per_device.value);
    EXPECT_NEAR(found->hardware, expected->hardware, 1e-9 * expected->hardware);
  }
}

// A host that is slower has devices as those of others; kernels may be made faster.
TEST(StepFlops, AreSharesOfWhatTheDevicesCould) {
  const auto of_a_second = [](const WhatIfs& sets) {
    CaseRequest request;
    request.model = "gpt2";
    request.cluster = "a100-4x8";
    request.training.dtype = DType::bf16;
    request.sets = sets;
    const Case input = load_case(request);
    return flops_utilisation(input, data_parallel(input.graph, 32), Seconds{1}).value().model;
  };
  const double usual = of_a_second({});
  EXPECT_DOUBLE_EQ(of_a_second({{"jitter.hosts", "0.2"}}), usual);
  EXPECT_DOUBLE_EQ(of_a_second({{"layer.linear.speed", "2x"}}), usual);
  EXPECT_DOUBLE_EQ(of_a_second({{"device.*.speed", "2x"}}), usual / 2);
}

TEST(StepFlops, OfANetworkSkipTheGradientOfItsData) {
  const Graph graph = build_zoo("vgg16", 2);
  double expected = 0;
  bool first = true;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto forward = static_cast<double>(macs(graph, LayerId(i)));
    if (forward == 0) continue;
    expected += 2 * forward * (first ? 2 : 3);
    first = false;
  }
  EXPECT_DOUBLE_EQ(step_flops(graph).model.value, expected);
}

}  // namespace
}  // namespace strata
