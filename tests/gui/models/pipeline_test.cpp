// Rounds, stages, bubbles and recomputation, as the views have them.

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gui/models/network/network_nodes.h"
#include "gui/models/stage_names.h"
#include "gui/models/timeline/lane_groups.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/models/why/step_parts.h"
#include "sim/timeline/breakdown.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kNetwork = "llama:layers=4,hidden=64,heads=4,seq=32,vocab=100";

// Eight rounds of two samples over four devices.
Document pipeline(const std::string& strategy) {
  Document document = document_of(kNetwork, "p100-1x4", strategy);
  document.input.training.batch = 16;
  document.input.training.micro_batch = 2;
  return document;
}

class PipelineTest : public ::testing::Test {
 protected:
  const Plan& plan() const { return scene_->prediction.plan; }
  const Timeline& timeline() const { return scene_->prediction.timeline; }
  const Slice& slice(std::size_t task) const {
    return recording_->at(recording_->place(task_id(plan(), {1, TaskId(task)})));
  }
  std::vector<const Lane*> device_lanes() const {
    std::vector<const Lane*> lanes;
    for (const Lane& lane : recording_->lanes) {
      if (lane.name().kind == LaneKind::device && lane.name().depth == 0) lanes.push_back(&lane);
    }
    return lanes;
  }

  ScenePtr scene_ = scene_of(pipeline("hybrid:tp=1,pp=4"));
  RecordingPtr recording_ = record(scene_);
};

TEST_F(PipelineTest, SlicesHaveTheNumberOfTheirRound) {
  ASSERT_EQ(plan().rounds(), 8U);
  for (std::size_t i = 0; i < plan().size(); ++i) {
    const Task& task = plan()[TaskId(i)];
    if (task.kind == TaskKind::join) continue;
    const bool has_round = task.phase != Phase::update;
    EXPECT_EQ(slice(i).round, has_round ? task.round + 1 : 0);
    EXPECT_EQ(recording_->styles[slice(i).style].odd, has_round && task.round % 2 == 1);
  }
}

TEST_F(PipelineTest, FactsNameTheRoundAndTheStage) {
  for (std::size_t i = 0; i < plan().size(); ++i) {
    const Task& task = plan()[TaskId(i)];
    if (task.kind != TaskKind::compute) continue;
    const std::string line = recording_->facts->lines(task_id(plan(), {1, TaskId(i)}))[1];
    if (task.phase == Phase::update) {
      EXPECT_THAT(line, Not(HasSubstr("round")));
    } else {
      EXPECT_THAT(line, HasSubstr(fmt::format("round {} of 8", task.round + 1)));
    }
    EXPECT_THAT(line, HasSubstr(scene_->stages.name(task.layer)));
  }
}

TEST_F(PipelineTest, StagesHaveTheirLayersAndDevices) {
  const StageNames& stages = scene_->stages;
  ASSERT_EQ(stages.count(), 4U);
  EXPECT_THAT(stages.heading(1), HasSubstr("stage 2 of 4: block2_"));
  EXPECT_THAT(stages.heading(1), HasSubstr(" layers)"));
  for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(stages.stage_of(DeviceId(d)), d);
  EXPECT_EQ(stages.name(LayerId(scene_->input.graph.size() - 1)), "stage 4 of 4");
  EXPECT_FALSE(scene_of("lenet5", "p100-1x2")->stages.several());
}

TEST_F(PipelineTest, ChunksAreNamedWhereStagesHaveSeveral) {
  const ScenePtr scene = scene_of(pipeline("hybrid:tp=1,pp=2,vp=2"));
  ASSERT_EQ(scene->stages.count(), 2U);
  EXPECT_EQ(scene->stages.name(LayerId(scene->input.graph.size() - 1)),
            "stage 2 of 2, chunk 4 of 4");
}

TEST_F(PipelineTest, DevicesStandBelowTheirStage) {
  for (const bool folded : {false, true}) {
    RowOptions options;
    options.folded = folded;
    options.links = false;
    const LaneRows made = arrange(*recording_, nullptr, options);
    std::vector<std::string> names;
    for (const RowGroup& group : made.groups) {
      if (group.name != "critical path") names.push_back(group.name);
    }
    const StageNames& stages = scene_->stages;
    EXPECT_THAT(names,
                ElementsAre(stages.heading(0), "host0/gpu0", stages.heading(1), "host0/gpu1",
                            stages.heading(2), "host0/gpu2", stages.heading(3), "host0/gpu3"));
  }
}

TEST_F(PipelineTest, BubblesLieBetweenSlicesAndComeToTheBreakdown) {
  const Breakdown found = breakdown(plan(), timeline());
  const SteadyTime steady = timeline().steady_time();
  ASSERT_EQ(device_lanes().size(), 4U);
  for (const Lane* lane : device_lanes()) {
    ASSERT_NE(lane->bubbles(), nullptr);
    for (const Slice& bubble : lane->bubbles()->slices()) {
      EXPECT_NEAR(lane->filled(bubble.begin, bubble.end), 0, 1e-12);
    }
    const double bubble =
        lane->bubbles()->filled(steady.from.value, steady.to.value) / steady.steps;
    const double expected = found.devices[(*lane->name().device)()].bubble.value;
    EXPECT_NEAR(bubble, expected, 0.02 * timeline().step_seconds().value);
  }
}

TEST_F(PipelineTest, WhatIsComputedAgainHasItsOwnLabelAndStyle) {
  Document document = pipeline("hybrid:tp=1,pp=4");
  document.input.training.recompute = Recompute::full;
  scene_ = scene_of(document);
  recording_ = record(scene_);
  std::size_t again = 0;
  for (std::size_t i = 0; i < plan().size(); ++i) {
    const Task& task = plan()[TaskId(i)];
    if (task.kind != TaskKind::compute) continue;
    const bool recomputed = task.again && task.phase == Phase::forward;
    again += recomputed ? 1 : 0;
    EXPECT_EQ(recording_->labels[slice(i).label].text.ends_with(" recomputation"),
              recording_->styles[slice(i).style].again);
    if (recomputed) {
      EXPECT_TRUE(recording_->styles[slice(i).style].again);
    }
  }
  EXPECT_GT(again, 0U);
  EXPECT_THAT(recording_->lanes.front().name().note, HasSubstr("recomputation"));
}

TEST_F(PipelineTest, APartsBarForTheStepAndEachStageComesToTheStep) {
  const PartsOfStepPtr parts = parts_of_step(scene_);
  std::vector<std::string> names;
  for (const PartsBar& bar : parts->bars) {
    names.push_back(bar.name);
    Seconds sum;
    for (const Seconds part : bar.parts) sum += part;
    EXPECT_NEAR(sum / parts->step, 1, 1e-9) << bar.name;
  }
  EXPECT_THAT(names, ElementsAre("a device's step", "stage 1", "stage 2", "stage 3", "stage 4"));
  EXPECT_GT(parts->bars[0].of(StepPart::bubble), Seconds{});
  EXPECT_EQ(parts_of_step(scene_of("lenet5", "p100-1x2"))->bars.size(), 1U);
}

TEST_F(PipelineTest, NodesKnowTheirStages) {
  const Parts parts(scene_->input.graph);
  const NetworkPicture picture = network_picture(*scene_, parts, parts.blocks_shut());
  std::set<std::uint32_t> stages;
  for (const NetworkNode& node : picture.nodes)
    stages.insert(node.stages.begin(), node.stages.end());
  EXPECT_THAT(stages, ElementsAre(0, 1, 2, 3));
}

TEST_F(PipelineTest, ASessionAndTheCommandKeepTheSettings) {
  Document document = pipeline("hybrid:tp=1,pp=4");
  document.input.training.schedule = "gpipe";
  document.input.training.recompute = Recompute::selective;
  document.input.training.optimizer = Optimizer::adam;
  EXPECT_EQ(parse_desk(print_desk({document}), "s.json").document, document);
  EXPECT_THAT(
      case_arguments(document),
      ::testing::AllOf(HasSubstr(" --optimizer adam"), HasSubstr(" --micro-batch 2"),
                       HasSubstr(" --schedule gpipe"), HasSubstr(" --recompute selective")));
}

}  // namespace
}  // namespace strata::gui
