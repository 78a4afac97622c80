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

// Of 4 devices each makes a part of all sums of b, adds up those of its two samples, and needs all
// of them for its part of c.
struct Summed {
  LayerId b, c;
  Graph graph;
  Strategy strategy;
};
Summed summed() {
  GraphBuilder builder("summed", 8);
  const LayerId data = builder.add("data", Input{{{1, 1000, 1, 1, 1}}}, {});
  const LayerId a = builder.add("a", FullyConnected{1000, false}, {data});
  const LayerId b = builder.add("b", FullyConnected{1000, false}, {a});
  const LayerId c = builder.add("c", FullyConnected{1000, false}, {b});
  builder.add("loss", SoftmaxCrossEntropy{}, {c});
  Graph graph = std::move(builder).build();
  const Strategy data_parts = data_parallel(graph, 4);
  std::vector<Config> configs(data_parts.configs().begin(), data_parts.configs().end());
  configs[a()].degrees = configs[c()].degrees = {{1, 4, 1, 1, 1}};
  configs[b()].degrees = kWhole;
  configs[b()].degrees.r = 4;
  return {b, c, std::move(graph), {"summed", configs}};
}

TEST(TransferWays, SumsThatAllFetchAreOneAllReduce) {
  const Summed net = summed();
  const Cluster cluster = host_of(4);
  Runtime runtime;
  runtime.sums = PartialSums::all_reduced;
  const Outcome r = run(net.graph, cluster, net.strategy, 1, runtime);
  const std::vector<bool> found = all_reduced(r.plan, cluster, PartialSums::all_reduced);
  ASSERT_EQ(found.size(), r.plan.size());
  // 24 kB come from 3 senders; half of the 5 us, and of the half part that is copied.
  const double half = 1e-6 + 2.5e-6 + 3 * 2e-6 + 24e3 * (3 + 0.25) / 3 / 25e9;
  int before = 0, after = 0;
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    const bool sends = task.layer == net.b && task.phase == Phase::forward_sum;
    const bool fetches = task.layer == net.c && task.phase == Phase::forward;
    if (task.kind != TaskKind::transfer || (!sends && !fetches)) continue;
    EXPECT_TRUE(found[i]) << i;
    const Span& span = r.timeline.span(0, TaskId(i));
    EXPECT_NEAR((span.end - span.ready).value, half, 1e-10);
    ++(sends ? before : after);
  }
  EXPECT_EQ(before, 12);
  EXPECT_EQ(after, 12);
  EXPECT_TRUE(all_reduced(r.plan, cluster, PartialSums::in_parts).empty());
  EXPECT_TRUE(all_reduced(r.plan, host_of(4, false), PartialSums::all_reduced).empty());
}

// What is summed once is fetched by nobody who made a part of it.
TEST(TransferWays, OtherExchangesAreNone) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, host_of(4), gathers(graph), 1);
  const std::vector<bool> found = all_reduced(r.plan, host_of(4), PartialSums::all_reduced);
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    if (r.plan[TaskId(i)].phase == Phase::forward) {
      EXPECT_FALSE(found[i]) << i;
    }
  }
}

TEST(TransferWays, WithoutALibraryNothingChanges) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, host_of(4, false), gathers(graph), 1);
  EXPECT_TRUE(transfer_ways(r.plan, host_of(4, false)).empty());
  EXPECT_NEAR(transfer_seconds(r), 1e-6 + 30e3 / 100e9, 1e-11);
}

}  // namespace
}  // namespace strata
