#include "sim/simulate/transfer_ways.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/strategy/strategy.h"
#include "two_layers.h"

namespace strata {
namespace {

// 100 GB/s and 1 us from device to device. Of few bytes a transfer uses a quarter of the bandwidth,
// of many all of it.
Cluster host_of(int devices, bool library = true) {
  std::string toml = "[grid]\nhosts = 1\ndevices_per_host = " + std::to_string(devices) +
                     "\n[grid.intra]\ntopology = \"switch\"\nbandwidth = \"100 GB/s\"\n"
                     "latency = \"1 us\"\n";
  if (library) {
    toml +=
        "[collectives]\ncopy = 0.5\n"
        "[[collectives.protocol]]\nname = \"small\"\nlatency = \"5 us\"\nstep = \"2 us\"\n"
        "share = 0.25\n"
        "[[collectives.protocol]]\nname = \"large\"\nlatency = \"1 ms\"\n";
  }
  return parse_cluster(toml, "host.toml");
}

// Of the first transfer of a step.
double transfer_seconds(const Outcome& r) {
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    if (r.plan[TaskId(i)].kind != TaskKind::transfer) continue;
    const Span& span = r.timeline.span(0, TaskId(i));
    return (span.end - span.ready).value;
  }
  return 0;
}

// a is cut by samples, b by channels: each of 4 devices reads all of a's 8 x 1250 numbers and has a
// quarter of them, so 3 senders give it 10 kB each.
Strategy gathers(const Graph& graph) {
  const Strategy data = data_parallel(graph, 4);
  std::vector<Config> configs(data.configs().begin(), data.configs().end());
  configs[2].degrees = {{1, 4, 1, 1, 1}};
  return {"gather", configs};
}

TEST(TransferWays, AGatherHasAStepForEachSenderAndCopiesItsOwnPart) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, host_of(4), gathers(graph), 1);
  const double moved = 30e3 * (3 + 0.5) / 3 / 25e9;
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 5e-6 + 3 * 2e-6 + moved, 1e-11);
}

TEST(TransferWays, LargeOnesTakeTheOtherProtocol) {
  const Graph graph = two_layers(80'000);
  const Outcome r = run(graph, host_of(4), gathers(graph), 1);
  const double moved = 300e6 * (3 + 0.5) / 3 / 100e9;
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 1e-3 + moved, 1e-9);
}

// Who only receives has no part to copy: b is on another device than a.
TEST(TransferWays, AnotherStageCopiesNothing) {
  const Graph graph = two_layers(8);
  const Strategy one = data_parallel(graph, 1);
  std::vector<Config> configs(one.configs().begin(), one.configs().end());
  for (const std::size_t layer : {2, 3}) configs[layer].devices = {DeviceId(1)};
  const Outcome r = run(graph, host_of(2), {"stages", configs}, 1);
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 5e-6 + 2e-6 + 40e3 / 25e9, 1e-11);
}

// b is cut in its sums, so that each of 4 devices adds up a quarter of its output; all of them read
// it whole.
Strategy sums_and_gathers(const Graph& graph) {
  const Strategy data = data_parallel(graph, 4);
  std::vector<Config> configs(data.configs().begin(), data.configs().end());
  for (const std::size_t layer : {1, 3}) configs[layer].degrees = {{1, 4, 1, 1, 1}};
  configs[2].degrees = kWhole;
  configs[2].degrees.r = 4;
  return {"sums", configs};
}

TEST(TransferWays, SumsThatAllFetchAreOneAllReduce) {
  const Graph graph = two_layers(8);
  const Cluster cluster = host_of(4);
  Runtime runtime;
  runtime.sums = PartialSums::all_reduced;
  const Strategy strategy = sums_and_gathers(graph);
  const Outcome parts = run(graph, cluster, strategy, 1);
  const Outcome r = run(graph, cluster, strategy, 1, runtime);
  EXPECT_TRUE(all_reduced(parts.plan, cluster, PartialSums::in_parts).empty());
  const std::vector<bool> found = all_reduced(r.plan, cluster, PartialSums::all_reduced);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    if (task.layer != LayerId(2) && task.layer != LayerId(3)) continue;
    if (task.kind != TaskKind::transfer || task.phase == Phase::backward_data) continue;
    const Span& span = r.timeline.span(0, TaskId(i));
    const double half = 1e-6 + 0.5 * 5e-6 + 3 * 2e-6 + 10e3 * (3 + 0.25) / 25e9;
    if (found[i]) EXPECT_NEAR((span.end - span.ready).value, half, 1e-11);
    (task.phase == Phase::forward_sum ? before : after) += found[i];
  }
  EXPECT_EQ(before, 12);
  EXPECT_EQ(after, 12);
}

TEST(TransferWays, WithoutALibraryNothingChanges) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, host_of(4, false), gathers(graph), 1);
  EXPECT_TRUE(transfer_ways(r.plan, host_of(4, false)).empty());
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 30e3 / 100e9, 1e-11);
}

}  // namespace
}  // namespace strata
