// Which gradients are summed at once, and that plans sum each of them once, whole.

#include "sim/step/buckets.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

using testing::Random;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::vector<bool> all_train(const Graph& graph) {
  std::vector<bool> trains;
  for (const Layer& layer : graph.layers()) trains.push_back(layer.parameters.total() > 0);
  return trains;
}

std::vector<Bucket> buckets_of(const Graph& graph, const Strategy& strategy, Bytes capacity) {
  return gradient_buckets(graph, strategy, all_train(graph), capacity, 4);
}

std::size_t parts_in(const std::vector<Bucket>& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::size_t{0},
                         [](std::size_t sum, const Bucket& b) { return sum + b.parts.size(); });
}

// 25.6 million parameters: 1 MiB and more first, then 25 MiB each, and the rest.
TEST(GradientBuckets, HoldResNet50InFewAsPyTorchDoes) {
  const Graph graph = build_zoo("resnet50", 64);
  const Strategy data = data_parallel(graph, 4);
  const std::vector<Bucket> buckets = buckets_of(graph, data, {25 * kMebi});
  ASSERT_EQ(buckets.size(), 5U);
  EXPECT_EQ(parts_in(buckets), 107U);
  // fc: 2048 x 1000 and a bias, 7.8 MiB, more than the first bucket's 1 MiB by itself.
  EXPECT_EQ(buckets.front().values, 2'049'000);
  EXPECT_EQ(buckets.front().parts.size(), 1U);
  for (std::size_t i = 1; i + 1 < buckets.size(); ++i) {
    EXPECT_GE(4 * buckets[i].values, 25 * kMebi);
    EXPECT_LT(4 * buckets[i].parts.back().first, 25 * kMebi);
  }
}

TEST(GradientBuckets, WithoutACapacityAreLayers) {
  const Graph graph = build_zoo("resnet50", 64);
  const std::vector<Bucket> buckets = buckets_of(graph, data_parallel(graph, 4), {});
  EXPECT_EQ(buckets.size(), 107U);
  EXPECT_EQ(parts_in(buckets), 107U);
}

TEST(GradientBuckets, AreOfTheSameDevices) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const Graph graph = testing::random_graph(random);
    const Strategy any = testing::random_strategy(random, graph, 4);
    for (const Bucket& bucket : buckets_of(graph, any, {4 * testing::pick(random, 0, 400)})) {
      std::int64_t next = 0;
      for (const BucketPart& part : bucket.parts) {
        EXPECT_EQ(part.first, next);
        ASSERT_EQ(part.shards.size(), bucket.devices.size());
        for (std::size_t k = 0; k < part.shards.size(); ++k) {
          EXPECT_EQ(any[part.layer].devices[part.shards[k]], bucket.devices[k]);
        }
        EXPECT_LE(bucket.parts.back().layer, part.layer);
        const Layer& layer = graph[part.layer];
        const Tile tile = partition(layer, any[part.layer].degrees).tile(part.shards.front());
        const std::int64_t row = layer.parameters.weight / layer.output[Dim::c] / layer.reduction;
        const std::int64_t bias = layer.parameters.bias / layer.output[Dim::c];
        next +=
            tile[Dim::c].size() * (row * tile.terms.size() + (tile.terms.begin == 0 ? bias : 0));
      }
      EXPECT_EQ(next, bucket.values);
    }
  }
}

// The intervals of a buffer that writers and updates have tile it; what ends the sum on a device
// has waited for all writers, and every update for that.
void expect_summed_whole(const Plan& plan) {
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::map<std::size_t, std::vector<Interval>> written, read;
  std::vector<std::vector<TaskId>> writers(plan.buffers().size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId id(i);
    if (plan[id].kind != TaskKind::compute) continue;
    for (const Operand& operand : plan.operands(id)) {
      if (operand.role != Role::parameter_gradients) continue;
      const Task& task = plan[id];
      const auto parameters =
          std::find_if(plan.buffers().begin(), plan.buffers().end(), [&](const Buffer& buffer) {
            return buffer.kind == BufferKind::parameters && buffer.layer == task.layer &&
                   buffer.shard == task.shard;
          });
      const bool updates = task.phase == Phase::update;
      (updates ? read : written)[operand.buffer()].push_back(
          {operand.first, operand.first + parameters->values});
      if (!updates) writers[operand.buffer()].push_back(id);
    }
  }
  const auto expect_tiled = [&](std::map<std::size_t, std::vector<Interval>>& intervals) {
    for (auto& [buffer, parts] : intervals) {
      std::sort(parts.begin(), parts.end());
      std::int64_t next = 0;
      for (const auto& [begin, end] : parts) {
        EXPECT_EQ(begin, next);
        next = end;
      }
      EXPECT_EQ(next, plan[BufferId(buffer)].values);
    }
  };
  expect_tiled(written);
  expect_tiled(read);
  const auto waits = [&](TaskId id, TaskId other) {
    const auto all = plan.dependencies(id);
    return std::find(all.begin(), all.end(), other) != all.end();
  };
  for (const Group& group : plan.groups()) {
    if (group.purpose != GroupPurpose::parameters) continue;
    EXPECT_EQ(group.bytes.value, 4 * group.values);
    for (std::size_t k = 0; k < group.tasks.size(); ++k) {
      for (TaskId writer : writers[group.buffers[k]()]) EXPECT_TRUE(waits(group.tasks[k], writer));
    }
  }
}

TEST(GradientBuckets, AreSummedOnceAndWhole) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = testing::random_graph(random);
    LowerOptions options;
    options.sync = {SyncAlgorithm::ring, {4 * testing::pick(random, 1, 400)}};
    const Strategy any = testing::random_strategy(random, graph, 4);
    expect_summed_whole(lower(graph, testing::star(4), any, options));
    expect_summed_whole(lower(graph, cpu_cluster(4), any, options));
  }
}

// However many layers share a buffer, each of its tasks waits for one of the step before.
TEST(GradientBuckets, CarryOneDependencyForEachLayer) {
  const Graph graph = build_zoo("densenet121", 8);
  const auto carried = [&](Bytes bucket) {
    LowerOptions options;
    options.sync = {SyncAlgorithm::ring, bucket};
    const Plan plan = lower(graph, testing::star(2), data_parallel(graph, 2), options);
    std::size_t count = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) count += plan.carried(TaskId(i)).size();
    return count;
  };
  EXPECT_LE(carried({25 * kMebi}), carried({}) + 300);
}

TEST(GradientBuckets, OfAServerAreLayers) {
  const Graph graph = build_zoo("lenet5", 8);
  const auto lowered = [&](GradientSync sync) {
    LowerOptions options;
    options.sync = sync;
    return lower(graph, testing::star(2), data_parallel(graph, 2), options);
  };
  EXPECT_EQ(lowered({SyncAlgorithm::ps, {25 * kMebi}}), lowered(SyncAlgorithm::ps));
  EXPECT_NE(lowered({SyncAlgorithm::ring, {25 * kMebi}}), lowered(SyncAlgorithm::ring));
}

}  // namespace
}  // namespace strata
