// Beyond kMostInPlan devices a scene's plan has one of each class: every view shows of all devices
// and links what a plan of all has.

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "gui/models/cluster/link_history.h"
#include "gui/models/cluster/link_transfers.h"
#include "gui/models/memory/memory_stack.h"
#include "gui/models/network/layer_table.h"
#include "gui/models/network/network_nodes.h"
#include "gui/models/timeline/lane_groups.h"
#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {
namespace {

constexpr double kNear = 1e-9;  // of a step: times are sums in another order

class SceneByClasses : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-72x4";
    document.strategy.source = GetParam();
    CaseLoader loader;
    by_class_ = make_scene(document, loader);
    ASSERT_NE(by_class_->prediction.plan.classes(), nullptr);
    auto all = std::make_shared<Scene>(*by_class_);
    PredictOptions options;
    options.record_link_rates = true;
    all->prediction = predict(all->input, by_class_->prediction.strategy, options);
    all->path = critical_path(all->prediction.plan, all->prediction.timeline);
    all->use = utilisation(all->prediction.plan, all->prediction.timeline, all->input.cluster);
    all_ = all;
    step_ = all_->prediction.step_seconds().value;
  }
  const Cluster& cluster() const { return all_->input.cluster; }

  ScenePtr by_class_, all_;
  double step_ = 0;
};

TEST_P(SceneByClasses, TakesAsLong) {
  EXPECT_NEAR(by_class_->prediction.step_seconds().value, step_, kNear * step_);
  EXPECT_LT(by_class_->prediction.plan.size(), all_->prediction.plan.size() / 4);
  EXPECT_EQ(by_class_->prediction.peak_memory, all_->prediction.peak_memory);
}

// How long each kind of work is under way on a device: where several senders of a class send as
// much at the same time, one transfer stands for theirs.
TEST_P(SceneByClasses, HasTheLanesOfAllDevices) {
  const auto computing = [](const ScenePtr& scene) {
    std::map<std::string, double> sums;
    const RecordingPtr recording = record(scene);
    for (const Lane& lane : recording->lanes) {
      if (lane.name().kind != LaneKind::device) continue;
      for (const Slice& slice : lane.slices()) {
        sums[lane.name().group + ": " + recording->labels[slice.label].text] +=
            slice.end - recording->step->begin.value;
      }
    }
    return sums;
  };
  const auto few = computing(by_class_), all = computing(all_);
  ASSERT_EQ(few.size(), all.size());
  for (const auto& [what, sum] : all) EXPECT_NEAR(few.at(what), sum, kNear * step_) << what;
}

TEST_P(SceneByClasses, FoldsAsTheLanesOfAll) {
  RowOptions folded;
  folded.folded = true;
  const auto counts = [&](const ScenePtr& scene) {
    std::map<std::string, std::size_t> by_name;
    for (const RowGroup& group : arrange(*record(scene), nullptr, folded).groups) {
      if (group.name != "links") by_name[group.name] = group.count;
    }
    return by_name;
  };
  EXPECT_EQ(counts(by_class_), counts(all_));
}

TEST_P(SceneByClasses, SelectsWhatStandsForATask) {
  const RecordingPtr recording = record(by_class_);
  const Plan& plan = by_class_->prediction.plan;
  for (const Lane& lane : recording->lanes) {
    if (!stands_for_tasks(lane.name().kind)) continue;
    const Slice& first = lane.slices()[0];
    const PickedTask task = *recording->facts->task(first.id);
    EXPECT_EQ(plan[task.task].device, plan.representative(*lane.name().device));
    EXPECT_EQ(recording->at(recording->place(first.id)), first);
  }
}

TEST_P(SceneByClasses, HasTheTrafficOfAllLinks) {
  const auto history = [&](const ScenePtr& scene) {
    return LinkHistory(scene->prediction.plan, scene->prediction.timeline,
                       cluster().links().size());
  };
  const LinkHistory few = history(by_class_), all = history(all_);
  const TimeRange half{{step_ / 3}, {step_ * 1.7}};
  for (const std::optional<TimeRange>& range : {std::optional<TimeRange>(), std::optional(half)}) {
    const LinkUse use_of_few = link_use(*by_class_, few, range);
    const LinkUse use_of_all = link_use(*all_, all, range);
    for (std::size_t i = 0; i < cluster().links().size(); ++i) {
      const std::string& link = cluster()[LinkId(i)].name;
      EXPECT_NEAR(use_of_few.bytes[i], use_of_all.bytes[i], 1 + 1e-6 * use_of_all.bytes[i]) << link;
      EXPECT_NEAR(use_of_few.share[i], use_of_all.share[i], 1e-6) << link;
    }
  }
  const auto bytes_of = [&](const ScenePtr& scene, LinkId link) {
    std::map<std::pair<LayerId, WorkKind>, double> bytes;
    for (const LinkTransfer& row : link_transfers(*scene, link, std::nullopt)) {
      bytes[{row.layer, row.kind}] += row.bytes;
    }
    return bytes;
  };
  for (std::size_t i = 0; i < cluster().links().size(); i += 29) {
    const auto few_bytes = bytes_of(by_class_, LinkId(i)), all_bytes = bytes_of(all_, LinkId(i));
    ASSERT_EQ(few_bytes.size(), all_bytes.size()) << cluster()[LinkId(i)].name;
    for (const auto& [what, bytes] : all_bytes) {
      EXPECT_NEAR(few_bytes.at(what), bytes, 1e-6 * bytes) << cluster()[LinkId(i)].name;
    }
  }
}

TEST_P(SceneByClasses, HasTheBytesOfAllLayers) {
  const Graph& graph = all_->input.graph;
  EXPECT_EQ(moved_forward(graph, by_class_->prediction.plan),
            moved_forward(graph, all_->prediction.plan));
  EXPECT_EQ(memory_by_layer(by_class_->prediction.plan, graph.size()),
            memory_by_layer(all_->prediction.plan, graph.size()));
}

TEST_P(SceneByClasses, HasTheMemoryOfAllDevices) {
  const auto few = picture_memory(by_class_), all = picture_memory(all_);
  ASSERT_EQ(few->stacks.size(), all->stacks.size());
  EXPECT_EQ(few->highest, all->highest);
  for (std::size_t i = 0; i < all->stacks.size(); ++i) {
    EXPECT_EQ(few->stacks[i]->peak_bytes(), all->stacks[i]->peak_bytes()) << i;
    EXPECT_EQ(few->stacks[i]->capacity, all->stacks[i]->capacity) << i;
  }
  const auto held = [](const ScenePtr& scene, double at) {
    Bytes sum;
    const Plan& plan = scene->prediction.plan;
    for (const LiveTensor& live :
         live_tensors(plan, scene->prediction.timeline, DeviceId(37), at)) {
      sum += plan.buffers()[live.buffer].bytes;
    }
    return sum;
  };
  EXPECT_EQ(held(by_class_, 1.01 * step_), held(all_, 1.01 * step_));
}

INSTANTIATE_TEST_SUITE_P(Strategies, SceneByClasses, ::testing::Values("data", "owt"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace strata::gui
