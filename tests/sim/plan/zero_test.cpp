// What replicas share (ZeRO), against its formulas: bytes that last and bytes that move, and the
// halves of a sum against the whole.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/cluster/presets.h"
#include "sim/graph/graph.h"
#include "sim/plan/lower.h"

namespace strata {
namespace {

using testing::pick;
using testing::Random;

constexpr Zero kStages[] = {Zero::nothing, Zero::state, Zero::gradients, Zero::parameters};

// Every layer's parameters can be shared by `devices` without a rest, and without gaps.
Graph even_network(std::int64_t devices) {
  GraphBuilder builder("even", 2 * devices);
  const std::int64_t unit = 4 * devices;
  LayerId last = builder.add("data", Input{{{1, 3 * unit, 1, 1, 1}}}, {});
  for (int i = 0; i < 5; ++i) {
    last = builder.add(fmt::format("fc{}", i), FullyConnected{(i % 2 + 1) * unit, true}, {last});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

LowerOptions options_of(Zero zero, std::uint32_t rounds = 1, Bytes bucket = {}) {
  LowerOptions options;
  options.sync = {SyncAlgorithm::ring, bucket, zero};
  options.dtypes = DType::bf16;
  options.optimizer = Optimizer::adam;
  options.rounds = rounds;
  return options;
}

Bytes bytes_on(const Plan& plan, DeviceId device, std::initializer_list<BufferKind> kinds) {
  Bytes sum;
  for (const Buffer& buffer : plan.buffers()) {
    const bool counts = std::find(kinds.begin(), kinds.end(), buffer.kind) != kinds.end();
    if (counts && buffer.device == device) sum += buffer.bytes;
  }
  return sum;
}

TEST(Optimizer, IsThePlans) {
  const Graph graph = even_network(2);
  const Cluster cluster = testing::star(2);
  LowerOptions options = options_of(Zero::nothing);
  EXPECT_EQ(lower(graph, cluster, data_parallel(graph, 2), options).optimizer(), Optimizer::adam);
  options.optimizer = Optimizer::momentum;
  EXPECT_EQ(lower(graph, cluster, data_parallel(graph, 2), options).optimizer(),
            Optimizer::momentum);
}

// Adam in bf16: 2 bytes a parameter, 2 its gradient, 12 of the optimizer.
TEST(Zero, KeepsWhatItsFormulasSay) {
  for (std::int64_t n = 2; n <= 16; ++n) {
    const Graph graph = even_network(n);
    const std::int64_t p = graph.parameters();
    const Cluster cluster = testing::star(static_cast<std::size_t>(n));
    const Strategy strategy = data_parallel(graph, static_cast<int>(n));
    for (const Bytes bucket : {Bytes{}, Bytes{p}, kUsualBucket}) {
      for (const std::uint32_t rounds : {1U, 3U}) {
        const std::int64_t kept[] = {16 * p, 4 * p + 12 * p / n, 2 * p + 14 * p / n, 16 * p / n};
        for (const Zero zero : kStages) {
          const Plan plan = lower(graph, cluster, strategy, options_of(zero, rounds, bucket));
          for (std::int64_t d = 0; d < n; ++d) {
            EXPECT_EQ(bytes_on(plan, DeviceId(static_cast<std::size_t>(d)),
                               {BufferKind::parameters, BufferKind::parameter_gradients,
                                BufferKind::optimizer_state})
                          .value,
                      kept[static_cast<std::size_t>(zero)])
                << "ZeRO " << name(zero) << " of " << n << ", " << rounds << " rounds";
          }
        }
      }
    }
  }
}

TEST(Zero, MovesWhatItsFormulasSay) {
  for (std::int64_t n = 2; n <= 16; ++n) {
    const Graph graph = even_network(n);
    const std::int64_t all = (n - 1) * 2 * graph.parameters();  // one half of a sum
    const Strategy strategy = data_parallel(graph, static_cast<int>(n));
    for (const Cluster& cluster :
         {testing::star(static_cast<std::size_t>(n)), cpu_cluster(static_cast<int>(n))}) {
      for (const std::uint32_t rounds : {1U, 3U}) {
        const std::int64_t moved[] = {2, 2, rounds + 1, 3 * rounds};
        for (const Zero zero : kStages) {
          const Plan plan =
              lower(graph, cluster, strategy, options_of(zero, rounds, Bytes{graph.parameters()}));
          EXPECT_EQ(communication(plan).sync.value, moved[static_cast<std::size_t>(zero)] * all);
        }
      }
    }
  }
}

// In groups of g of n replicas: intervals are of a g-th, halves of sums move g - 1 times what a
// group holds, and what each keeps of the gradients is summed between the n / g groups.
TEST(Zero, SharesInGroups) {
  constexpr std::int64_t kReplicas = 12;
  const Graph graph = even_network(kReplicas);
  const std::int64_t p = graph.parameters();
  const Strategy strategy = data_parallel(graph, kReplicas);
  for (const Cluster& cluster : {testing::star(kReplicas), cpu_cluster(kReplicas)}) {
    for (const std::int64_t g : {2, 3, 4, 6, 12}) {
      const std::int64_t groups = kReplicas / g, inside = groups * (g - 1) * 2 * p,
                         between = (groups - 1) * 4 * p;
      for (const std::uint32_t rounds : {1U, 3U}) {
        const std::int64_t kept[] = {0, 4 * p + 12 * p / g, 2 * p + 14 * p / g, 16 * p / g};
        const std::int64_t moved[] = {0, 2, rounds + 1, 3 * rounds};
        for (const Zero zero : {Zero::state, Zero::gradients, Zero::parameters}) {
          LowerOptions options = options_of(zero, rounds, Bytes{p});
          options.sync.zero_group = g;
          const Plan plan = lower(graph, cluster, strategy, options);
          const auto stage = static_cast<std::size_t>(zero);
          EXPECT_EQ(communication(plan).sync.value, moved[stage] * inside + between)
              << name(zero) << " in groups of " << g;
          EXPECT_EQ(bytes_on(plan, DeviceId(5),
                             {BufferKind::parameters, BufferKind::parameter_gradients,
                              BufferKind::optimizer_state})
                        .value,
                    kept[stage]);
        }
      }
    }
  }
}

TEST(Zero, GroupsAreOfTheLargestDivisor) {
  const Graph graph = even_network(12);
  const Cluster cluster = testing::star(12);
  const auto plan_of = [&](std::int64_t group) {
    LowerOptions options = options_of(Zero::gradients);
    options.sync.zero_group = group;
    return lower(graph, cluster, data_parallel(graph, 12), options);
  };
  EXPECT_EQ(communication(plan_of(5)), communication(plan_of(4)));
  EXPECT_EQ(communication(plan_of(100)), communication(plan_of(0)));
}

TEST(Zero, GroupsNeedSomethingToShare) {
  const Graph graph = even_network(4);
  const Cluster cluster = testing::star(4);
  LowerOptions options = options_of(Zero::nothing);
  options.sync.zero_group = 2;
  EXPECT_THROW(lower(graph, cluster, data_parallel(graph, 4), options), InputError);
  options.sync = {SyncAlgorithm::ring, {}, Zero::state, 1};
  EXPECT_THROW(lower(graph, cluster, data_parallel(graph, 4), options), InputError);
}

// A pass has the parameters of the bucket that it works on, and of the next one.
TEST(Zero, GathersOneBucketAhead) {
  const Graph graph = even_network(4);
  const Cluster cluster = testing::star(4);
  const Plan plan = lower(graph, cluster, data_parallel(graph, 4), options_of(Zero::parameters));
  std::vector<TaskId> gathers;  // of device 0
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::collective || task.device() != 0) continue;
    if (plan.groups()[task.detail].work == GroupWork::all_gather) gathers.emplace_back(i);
  }
  ASSERT_EQ(gathers.size(), 10U);
  // What the k-th gather waits for is what the first user of the one before it waits for.
  for (std::size_t k = 2; k < 5; ++k) {
    const auto before = plan.dependencies(gathers[k]);
    const auto is = [&](Phase phase, std::string_view layer) {
      return std::any_of(before.begin(), before.end(), [&](TaskId id) {
        return plan[id].kind == TaskKind::compute && plan[id].phase == phase &&
               graph[plan[id].layer].name == layer;
      });
    };
    EXPECT_TRUE(is(Phase::forward, fmt::format("fc{}", k - 2))) << k;
    EXPECT_FALSE(is(Phase::forward, fmt::format("fc{}", k - 1))) << k;
  }
}

TEST(Zero, SharesEveryValueOnce) {
  Random random(11);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t values = pick(random, 0, 1000);
    const auto shares = static_cast<std::size_t>(pick(random, 1, 20));
    std::int64_t next = 0, least = values, most = 0;
    for (std::size_t k = 0; k < shares; ++k) {
      const Interval share = share_of(values, shares, k);
      EXPECT_EQ(share.begin, next);
      next = share.end;
      least = std::min(least, share.size());
      most = std::max(most, share.size());
    }
    EXPECT_EQ(next, values);
    EXPECT_LE(most - least, 1);
  }
}

TEST(Zero, NeedsReplicasThatAllUpdate) {
  const Graph graph = even_network(2);
  const Cluster cluster = testing::star(2);
  LowerOptions options = options_of(Zero::state);
  options.sync.algorithm = SyncAlgorithm::ps;
  EXPECT_THROW(lower(graph, cluster, data_parallel(graph, 2), options), InputError);
}

// The two halves load each link as the whole does, and take as long.
TEST(Zero, HalvesOfASumAreTheWhole) {
  const Cluster cluster = preset_cluster("p100-3x4");
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  for (const SyncAlgorithm algorithm :
       {SyncAlgorithm::ring, SyncAlgorithm::tree, SyncAlgorithm::hierarchical}) {
    const auto whole = collective_phases(algorithm, cluster, devices);
    const auto sum = [](const std::vector<CollectivePhase>& phases, Seconds& latency,
                        std::map<LinkId, double>& loads) {
      for (const CollectivePhase& phase : phases) {
        latency += phase.latency;
        for (const LinkLoad& load : phase.loads) {
          loads[load.link] += load.weight * phase.bytes_per_byte;
        }
      }
    };
    Seconds latency, halves_latency;
    std::map<LinkId, double> loads, halves_loads;
    sum(whole, latency, loads);
    for (const GroupWork half : {GroupWork::reduce_scatter, GroupWork::all_gather}) {
      sum(collective_phases(algorithm, cluster, devices, {}, half), halves_latency, halves_loads);
    }
    EXPECT_NEAR(latency.value, halves_latency.value, 1e-15);
    ASSERT_EQ(loads.size(), halves_loads.size());
    for (const auto& [link, load] : loads) EXPECT_NEAR(load, halves_loads[link], 1e-12);
  }
}

// Each buffer of a random plan is on the device of whoever works on it, and every value of a
// bucket that is updated is updated once.
TEST(Zero, UpdatesEveryParameterOnce) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = testing::random_network(random, 10);
    const Cluster cluster = seed % 2 == 0 ? testing::star(4) : cpu_cluster(4);
    const Strategy strategy = testing::random_strategy(random, graph, 4);
    const Zero zero = kStages[pick(random, 1, 3)];
    const auto rounds = static_cast<std::uint32_t>(pick(random, 1, 3));
    const Plan plan =
        lower(graph, cluster, strategy, options_of(zero, rounds, Bytes{2 * pick(random, 0, 400)}));
    for (std::size_t i = 0; i < plan.size(); ++i) {
      for (const Operand& operand : plan.operands(TaskId(i))) {
        ASSERT_EQ(plan[operand.buffer].device, plan[TaskId(i)].device);
        ASSERT_LE(operand.first + operand.values,
                  std::max<std::int64_t>(plan[operand.buffer].values, operand.first));
      }
    }
    for (const Group& group : plan.groups()) {
      if (group.updates.empty()) continue;
      EXPECT_EQ(group.work, GroupWork::reduce_scatter);
      std::int64_t updated = 0;
      for (std::size_t k = 0; k < group.updates.size(); ++k) {
        if (!group.updates[k].valid()) continue;
        const std::int64_t own = plan.operands(group.updates[k]).front().values;
        EXPECT_EQ(own, group.part_of(k).size());
        updated += own;
      }
      EXPECT_EQ(updated, group.values);
    }
  }
}

}  // namespace
}  // namespace strata
