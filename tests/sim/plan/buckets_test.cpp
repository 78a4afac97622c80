// Which gradients are summed at once, and that plans sum each of them once, whole.

#include "sim/plan/buckets.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"

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
        const Partition cut(graph[part.layer].output, any[part.layer].degrees);
        next += graph[part.layer].parameters.total() *
                extents(cut.box(part.shards.front()))[Dim::c] / graph[part.layer].output[Dim::c];
      }
      EXPECT_EQ(next, bucket.values);
    }
  }
}

// Every update reads gradients that its group has summed, in an interval of its own.
TEST(GradientBuckets, AreSummedOnceAndWhole) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = testing::random_graph(random);
    LowerOptions options;
    options.sync = {SyncAlgorithm::ring, {4 * testing::pick(random, 1, 400)}};
    const Plan plan =
        lower(graph, testing::star(4), testing::random_strategy(random, graph, 4), options);
    std::map<std::size_t, std::int64_t> summed, read;  // values by buffer
    for (const Group& group : plan.groups()) {
      if (group.purpose != GroupPurpose::parameters) continue;
      std::int64_t values = 0;
      for (const SummedLayer& layer : group.layers) values += layer.bytes.value / 4;
      EXPECT_EQ(values, group.values);
      EXPECT_EQ(group.bytes.value, 4 * group.values);
      for (BufferId buffer : group.buffers) {
        EXPECT_TRUE(summed.emplace(buffer(), group.values).second);
        EXPECT_EQ(plan[buffer].values, group.values);
      }
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const TaskId id(i);
      if (plan[id].kind != TaskKind::compute || plan[id].phase != Phase::update) continue;
      const Operand parameters = plan.operands(id)[0], gradients = plan.operands(id)[1];
      EXPECT_LE(gradients.first + plan[parameters.buffer].values, plan[gradients.buffer].values);
      if (!summed.contains(gradients.buffer())) continue;
      read[gradients.buffer()] += plan[parameters.buffer].values;
      const auto waits = plan.dependencies(id);
      EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [&](TaskId other) {
        return in_group(plan[other].kind) && plan[other].device == plan[id].device;
      }));
    }
    EXPECT_EQ(read, summed);
  }
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
