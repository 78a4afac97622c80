// What a follower makes of what a plan's shards show, or do not.

#include "sim/train/layer_follower.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"

namespace strata {
namespace {

const LayerId kLayer(1);  // conv1 of LeNet-5

struct Followed {
  Graph graph = build_zoo("lenet5", 4);
  Plan plan = lower(graph, cpu_cluster(2), data_parallel(graph, 2), {});
  StepRecord record;
  Follower follower{graph, plan, record};

  std::vector<float> ones(TensorRole role) const {
    const Layer& layer = graph[kLayer];
    return std::vector<float>(
        static_cast<std::size_t>(role == TensorRole::output ? volume(layer.output)
                                                            : layer.parameters.total()),
        1);
  }
  // A shard shows its half of the samples, or all parameters.
  void show(TensorRole role, std::uint32_t shard) {
    std::vector<float> values = ones(role);
    if (role == TensorRole::output) values.resize(values.size() / 2);
    record.see({role, kLayer}, shard, values);
  }
  std::vector<Doubt> followed(TensorRole role) {
    std::vector<float> values = ones(role);
    follower.begin(1);
    follower.see({role, kLayer}, 0, values);
    return follower.take_doubts();
  }
};

TEST(Follower, DoubtsNothingThatIsEqual) {
  for (TensorRole role : {TensorRole::output, TensorRole::parameter_gradients}) {
    Followed f;
    f.show(role, 0);
    f.show(role, 1);
    EXPECT_TRUE(f.followed(role).empty()) << name(role);
  }
}

TEST(Follower, NeverForgivesWhatNoShardShows) {
  Followed f;
  f.show(TensorRole::output, 1);
  const std::vector<Doubt> doubts = f.followed(TensorRole::output);
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_EQ(doubts[0].difference.value, INFINITY);
  EXPECT_EQ(doubts[0].difference.step, 1u);
  EXPECT_EQ(doubts[0].difference.layer, f.graph[kLayer].name);

  NudgedFollower nudged(f.graph, f.plan, f.record);
  nudged.look_at(doubts);
  std::vector<float> far(f.ones(TensorRole::output).size(), 1e9F);
  nudged.see({TensorRole::output, kLayer}, 0, far);
  TensorDifference found = doubts[0].difference;
  found.allowed += nudged.moved(doubts[0]);
  EXPECT_GT(found.allowed, 1e8);
  EXPECT_FALSE(found.within());
}

// Two halves of the samples and of the channels: two replicas of each half of the parameters.
Strategy halves(const Graph& graph) {
  std::vector<Config> configs(graph.size(), config_on_first_devices(kWhole));
  Degrees degrees = kWhole;
  degrees[Dim::n] = degrees[Dim::c] = 2;
  configs[kLayer()] = config_on_first_devices(degrees);
  return {"halves", std::move(configs)};
}

// What no replica of one half shows is not covered by two of the other.
TEST(Follower, CountsReplicasOnce) {
  Followed f;
  f.plan = lower(f.graph, cpu_cluster(4), halves(f.graph), {});
  std::vector<float> half = f.ones(TensorRole::parameters);
  half.resize(half.size() / 2);
  const Partition partition(f.graph[kLayer].output, f.plan.placement(kLayer).degrees);
  const auto is_upper = [&](std::uint32_t shard) { return partition.box(shard)[Dim::c].begin > 0; };
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    if (!is_upper(shard)) f.record.see({TensorRole::parameters, kLayer}, shard, half);
  }
  ASSERT_EQ(f.followed(TensorRole::parameters).size(), 1u);
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    if (is_upper(shard)) f.record.see({TensorRole::parameters, kLayer}, shard, half);
  }
  EXPECT_TRUE(f.followed(TensorRole::parameters).empty());
}

TEST(NudgedFollower, MovesNoParameters) {
  Followed f;
  const std::vector<float> ones = f.ones(TensorRole::parameters);
  const Doubt doubt{{TensorRole::parameters, kLayer}, {}, 1, ones};
  NudgedFollower nudged(f.graph, f.plan, f.record);
  nudged.look_at({&doubt, 1});
  std::vector<float> values(ones.size(), 2);
  nudged.see({TensorRole::parameters, kLayer}, 0, values);
  EXPECT_EQ(nudged.moved(doubt), 0);
}

}  // namespace
}  // namespace strata
