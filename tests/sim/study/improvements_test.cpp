// What-ifs that make a machine faster, and steps that take longer with them.

#include "sim/study/case/improvements.h"

#include <gtest/gtest.h>

#include "sim/study/search/solve.h"

namespace strata {
namespace {

TEST(Improvements, AreFactorsOfMoreSpeedOrLessLatency) {
  const WhatIfs sets = {{"link.*.bandwidth", "2x"},         {"link.inter.bandwidth", "0.5x"},
                        {"link.inter.bandwidth", "9 GB/s"}, {"link.*.latency", "0.5x"},
                        {"device.last:1.speed", "1.5x"},    {"overlap", "off"}};
  EXPECT_EQ(improvements(sets), (WhatIfs{sets[0], sets[3], sets[4]}));
}

// Gradients reach the servers sooner, which add them up before their own next pass.
TEST(Improvements, MayMakeAStepLonger) {
  CaseRequest request;
  request.model = "googlenet";
  request.cluster = "p100-1x7";
  request.batch = 14;
  request.sync.algorithm = SyncAlgorithm::ps;
  request.optimizer = Optimizer::adam;
  const Strategy data = load_strategy("data", load_case(request));
  const Seconds plain = predict(load_case(request), data).step_seconds();
  request.sets = {{"link.*.bandwidth", "4x"}};
  const Seconds faster = predict(load_case(request), data).step_seconds();
  ASSERT_GT(faster, plain);
  const auto without = faster_without(request, data, faster);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->improvements, request.sets);
  EXPECT_DOUBLE_EQ(without->step.value, plain.value);
  request.sets = {{"link.*.bandwidth", "0.25x"}};
  EXPECT_FALSE(faster_without(request, data, predict(load_case(request), data).step_seconds()));
}

}  // namespace
}  // namespace strata
