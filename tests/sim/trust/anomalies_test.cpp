// What-ifs that make a machine faster and a step longer, or the other way round.

#include "sim/trust/anomalies.h"

#include <gtest/gtest.h>

#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

// Under a parameter server, whose steps have anomalies.
CaseRequest googlenet() {
  CaseRequest request;
  request.model = "googlenet";
  request.cluster = "p100-1x7";
  request.training.batch = 14;
  request.training.sync.algorithm = SyncAlgorithm::ps;
  request.training.optimizer = Optimizer::adam;
  return request;
}

TEST(Anomalies, KnowWhatAMachineIsWithEachWhatIf) {
  using enum MachineChange;
  const auto changes = [](const WhatIfs& sets) {
    CaseRequest request = googlenet();
    request.sets = sets;
    return machine_changes(request);
  };
  EXPECT_EQ(changes({{"link.*.bandwidth", "2x"}, {"link.*.bandwidth", "1 MB/s"}}),
            (std::vector{faster, slower}));
  EXPECT_EQ(changes({{"link.*.latency", "2x"}, {"link.*.latency", "0 us"}}),
            (std::vector{slower, faster}));
  EXPECT_EQ(changes({{"device.last:1.speed", "1.5x"}, {"device.*.speed", "1.2"}}),
            (std::vector{faster, both}));
  EXPECT_EQ(changes({{"layer.conv2d.speed", "0.5x"}, {"launch.forward", "80us"}}),
            (std::vector{slower, slower}));
  EXPECT_EQ(changes({{"overlap", "off"}, {"link.*.latency", "1x"}}), (std::vector{none, none}));
}

// Beside what hosts usually have: 12.5 GB/s to a P100, and 100 GB/s of memory.
TEST(Anomalies, KnowWhatHostsAreThatUpdate) {
  using enum MachineChange;
  CaseRequest request = googlenet();
  request.training.sync = {};
  request.sets = {{"host.bandwidth", "2 GB/s"},
                  {"host.bandwidth", "20 GB/s"},
                  {"host.memory_bandwidth", "2x"},
                  {"host.memory_bandwidth", "50 GB/s"}};
  EXPECT_EQ(machine_changes(request), (std::vector{none, none, none, none}));
  request.training.sync.offload = Offload::optimizer;
  EXPECT_EQ(machine_changes(request), (std::vector{slower, faster, faster, slower}));
}

struct Steps {
  Seconds step;
  std::vector<Anomaly> found;
};
Steps steps_with(const WhatIfs& sets) {
  CaseRequest request = googlenet();
  request.sets = sets;
  const Case input = load_case(request);
  const Strategy data = load_strategy("data", input);
  const Seconds step = predict(input, data).step_seconds();
  return {step, anomalies(request, machine_changes(request), data, step)};
}

// Gradients reach the servers sooner, which add them up before their own next pass.
TEST(Anomalies, AFasterMachineMayTakeLonger) {
  const WhatIfs faster = {{"link.*.bandwidth", "4x"}};
  const auto [step, found] = steps_with(faster);
  const Seconds plain = steps_with({}).step;
  ASSERT_GT(step, plain);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().what_ifs, faster);
  EXPECT_TRUE(found.front().faster_machine);
  EXPECT_DOUBLE_EQ(found.front().without.value, plain.value);
}

TEST(Anomalies, ASlowerMachineMayTakeLess) {
  const WhatIfs both = {{"link.*.bandwidth", "4x"}, {"link.*.bandwidth", "0.25x"}};
  const auto [step, found] = steps_with(both);
  EXPECT_DOUBLE_EQ(step.value, steps_with({}).step.value);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().what_ifs, WhatIfs{both[1]});
  EXPECT_FALSE(found.front().faster_machine);
  EXPECT_GT(found.front().without, step);
}

TEST(Anomalies, ASlowerMachineMostlyTakesLonger) {
  const auto [step, found] = steps_with({{"link.*.bandwidth", "0.25x"}});
  EXPECT_GT(step, steps_with({}).step);
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace strata
