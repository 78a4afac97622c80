// A weight that layers of several stages share, of which each stage has a copy.

#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/shared_weight.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

// A weight of 64 x 32, which the embedding and the head have.
class WeightCopies : public ::testing::TestWithParam<SyncAlgorithm> {
 protected:
  Plan plan(const char* sizes, Optimizer optimizer = Optimizer::sgd) const {
    LowerOptions options;
    options.sync = GetParam();
    if (GetParam() != SyncAlgorithm::ps) options.sync.bucket = Bytes{1 << 20};
    options.optimizer = optimizer;
    return lower(graph_, cluster_, hybrid_parallel(graph_, 8, sizes), options);
  }
  // By device, of the embedding and the head.
  std::map<std::size_t, std::int64_t> bytes(const Plan& plan, BufferKind kind) const {
    std::map<std::size_t, std::int64_t> held;
    for (const Buffer& buffer : plan.buffers()) {
      const bool of_weight = buffer.layer == embedding_ || buffer.layer == head_;
      if (of_weight && buffer.kind == kind) held[buffer.device()] += buffer.bytes.value;
    }
    return held;
  }

  Graph graph_ = build_zoo("gpt:layers=2,hidden=32,heads=4,seq=16,vocab=64", 8);
  Cluster cluster_ = preset_cluster("h200-1x8");
  LayerId embedding_ = graph_.find("embedding"), head_ = graph_.find("head");
};

using Held = std::map<std::size_t, std::int64_t>;

TEST_P(WeightCopies, LieOnTheDevicesOfBothStages) {
  constexpr std::int64_t kHalf = 64 * 32 * 4 / 2;
  const Held both = {{0, kHalf}, {1, kHalf}, {2, kHalf}, {3, kHalf},
                     {4, kHalf}, {5, kHalf}, {6, kHalf}, {7, kHalf}};
  EXPECT_EQ(bytes(plan("hybrid:tp=2,sp=1,pp=2"), BufferKind::parameters), both);
  const Held outer = {{0, kHalf}, {1, kHalf}, {6, kHalf}, {7, kHalf}};
  EXPECT_EQ(bytes(plan("hybrid:tp=2,pp=4"), BufferKind::parameters), outer);
  EXPECT_EQ(bytes(plan("hybrid:tp=2,pp=4"), BufferKind::parameter_gradients), outer);
  if (GetParam() == SyncAlgorithm::ps) return;  // which keeps state on the servers
  EXPECT_EQ(bytes(plan("hybrid:tp=2,pp=4", Optimizer::momentum), BufferKind::optimizer_state),
            outer);
}

// Four stages of two devices, of which the first and the last have halves of the weight: two sums
// of two devices each. No other parameters have replicas.
TEST_P(WeightCopies, AreSummedOverBothStages) {
  const Plan lowered = plan("hybrid:tp=2,pp=4");
  EXPECT_EQ(communication(lowered).sync, Bytes{2 * 64 * 32 * 4});
  if (GetParam() == SyncAlgorithm::ps) return;
  std::vector<std::vector<DeviceId>> groups;
  for (const Group& group : lowered.groups()) {
    if (group.purpose != GroupPurpose::parameters) continue;
    const auto devices = lowered.participants(group);
    if (group.layers.front().layer != embedding_) continue;
    groups.emplace_back(devices.begin(), devices.end());
    for (TaskId task : group.tasks) {
      const std::size_t k = group.participant(task);
      EXPECT_EQ(group.tasks[k], task);
      EXPECT_EQ(lowered[task].device, devices[k]);
      EXPECT_EQ(lowered[group.buffers[k]].device, devices[k]);
      EXPECT_EQ(lowered[task].layer, k == 0 ? embedding_ : head_);
    }
  }
  EXPECT_THAT(groups, ElementsAre(ElementsAre(DeviceId(0), DeviceId(6)),
                                  ElementsAre(DeviceId(1), DeviceId(7))));
}

TEST_P(WeightCopies, AreUpdatedOnBothStages) {
  const Plan lowered = plan("hybrid:tp=2,pp=4");
  std::vector<std::size_t> updated;
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    const Task& task = lowered[TaskId(i)];
    const bool of_weight = task.layer == embedding_ || task.layer == head_;
    if (!of_weight || task.phase != Phase::update) continue;
    const bool updates =
        task.kind == TaskKind::compute ||
        (task.kind == TaskKind::transfer &&
         lowered[lowered.moves(TaskId(i)).front().target.buffer].kind == BufferKind::parameters);
    if (updates) updated.push_back(task.device());
  }
  std::sort(updated.begin(), updated.end());
  EXPECT_THAT(updated, ElementsAre(0U, 1U, 6U, 7U));
}

// However much replicas share of the others: a sum in each round would have the last stage wait for
// the first one's gradient.
TEST_P(WeightCopies, ShareTheirStateAlone) {
  if (GetParam() == SyncAlgorithm::ps) GTEST_SKIP() << "a parameter server shares nothing";
  for (const Zero zero : {Zero::gradients, Zero::parameters}) {
    LowerOptions options;
    options.rounds = 4;
    options.sync = SyncAlgorithm::ring;
    options.sync.zero = zero;
    options.optimizer = Optimizer::momentum;
    const Plan lowered =
        lower(graph_, cluster_, hybrid_parallel(graph_, 8, "hybrid:tp=2,pp=2"), options);
    std::map<LayerId, std::size_t> sums;  // of all rounds, by the group's first layer
    for (const Group& group : lowered.groups()) {
      const bool scatters = group.work == GroupWork::reduce_scatter;
      if (scatters) ++sums[group.layers.front().layer];
    }
    EXPECT_EQ(sums.at(embedding_), 2U) << "one for each half of the weight";
    EXPECT_GT(sums.size(), 1U);
    for (const auto& [layer, count] : sums) EXPECT_TRUE(layer == embedding_ || count % 4 == 0);
    constexpr std::int64_t kHalf = 64 * 32 * 4 / 2;
    const auto all = [](std::int64_t each) {
      Held held;
      for (std::size_t d = 0; d < 8; ++d) held[d] = each;
      return held;
    };
    EXPECT_EQ(bytes(lowered, BufferKind::parameters), all(kHalf));
    EXPECT_EQ(bytes(lowered, BufferKind::parameter_gradients), all(kHalf));
    EXPECT_EQ(bytes(lowered, BufferKind::optimizer_state), all(kHalf / 4));
    EXPECT_EQ(bytes(lowered, BufferKind::gathered_parameters), Held{});
    EXPECT_EQ(bytes(lowered, BufferKind::round_gradients), Held{});
  }
}

INSTANTIATE_TEST_SUITE_P(Syncs, WeightCopies,
                         ::testing::Values(SyncAlgorithm::ring, SyncAlgorithm::ps),
                         [](const auto& tested) { return std::string(name(tested.param)); });

}  // namespace
}  // namespace strata
