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

TEST(TransferWays, WithoutALibraryNothingChanges) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, host_of(4, false), gathers(graph), 1);
  EXPECT_TRUE(transfer_ways(r.plan, host_of(4, false)).empty());
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 30e3 / 100e9, 1e-11);
}

}  // namespace
}  // namespace strata
