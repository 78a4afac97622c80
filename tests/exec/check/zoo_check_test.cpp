// The networks of the zoo, cut every way, as users check them: none fails, for nothing is wrong. A
// norm over two samples or a maximum of two equal values is where rounding does most. Small images
// and few channels; STRATA_CHECK_ZOO=full takes whole networks at batches of 2, 8 and 16, on 2 and
// 4 devices (an hour), and prints how near each came to what was allowed.

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "tests/exec/check/checked.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::Random;
using strata::testing::SmallNetwork;
using strata::testing::whole_networks;

std::vector<Strategy> strategies(const Graph& graph, int devices) {
  Random random(static_cast<std::uint64_t>(graph.batch()));
  return {data_parallel(graph, devices), model_parallel(graph, devices),
          owt_parallel(graph, devices),
          strata::testing::random_strategy(random, graph, static_cast<std::size_t>(devices))};
}

double part_of(double value, double allowed) {
  return allowed == 0 ? 0 : value / allowed;
}

void print(const Graph& graph, const Strategy& strategy, int devices, const Check& check) {
  const Allowance most = check.allowed();
  const Differences& d = check.differences;
  fmt::print(
      "{:14} {:8} batch {:2} on {}: of what is allowed: layers {:.2f} ({} of {}), loss {:.3f}, "
      "gradients {:.3f}, weights {:.3f}\n",
      graph.name(), strategy.name(), graph.batch(), devices,
      part_of(check.layers.largest.value, check.layers.largest.allowed), check.layers.largest.what,
      check.layers.largest.layer, part_of(d.loss, most.loss),
      part_of(d.gradients.value, most.gradients), part_of(d.weights.value, most.weights));
  std::fflush(stdout);
}

void expect_none_fails(const Graph& graph, int devices) {
  for (const Strategy& strategy : strategies(graph, devices)) {
    const Check check = strata::testing::checked({graph, strategy, devices}, 2);
    EXPECT_EQ(strata::testing::failures(check), "")
        << graph.name() << ", " << strategy.name() << ", batch " << graph.batch() << ", " << devices
        << " devices";
    print(graph, strategy, devices, check);
  }
}

class ZooCheck : public ::testing::TestWithParam<SmallNetwork> {};

TEST_P(ZooCheck, FindsNothingWhereNothingIsWrong) {
  SmallNetwork network = GetParam();
  for (std::int64_t batch : {2, 8, 16}) {
    network.batch = batch;
    const bool whole = whole_networks() && in_zoo(network.name);
    const Graph graph = whole ? build_zoo(network.name, batch) : strata::testing::build(network);
    if (whole_networks() || batch == 2) expect_none_fails(graph, 2);
    if (whole_networks() || batch == 8) expect_none_fails(graph, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ZooCheck,
    ::testing::Values(SmallNetwork{"lenet5"}, SmallNetwork{"textcnn"},
                      SmallNetwork{"alexnet", 2, 127, 8}, SmallNetwork{"vgg16", 2, 64, 8},
                      SmallNetwork{"inception_v3", 2, 139, 8}, SmallNetwork{"resnet18", 2, 96, 8},
                      SmallNetwork{"resnet50", 2, 96, 8}, SmallNetwork{"googlenet", 2, 96, 8},
                      SmallNetwork{"densenet121", 2, 96, 8}, SmallNetwork{"mobilenet_v2", 2, 96, 8},
                      SmallNetwork{"r3d_18", 2, 32, 8}, SmallNetwork{"gated", 2},
                      SmallNetwork{"normed", 2}, SmallNetwork{strata::testing::kSmallGpt, 2},
                      SmallNetwork{strata::testing::kSmallLlama, 2},
                      SmallNetwork{strata::testing::kSmallBert, 2},
                      SmallNetwork{strata::testing::kSmallVit, 2}, strata::testing::kSmallQwen,
                      strata::testing::kSmallGemma, strata::testing::kSmallFalcon),
    [](const auto& tested) { return strata::testing::title(tested.param); });

}  // namespace
}  // namespace strata
