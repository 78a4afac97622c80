// Timelines as recordings: every task in its place, the critical path above, and the same again
// from the trace that `strata predict --trace` writes.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gui/models/timeline/kernel_recording.h"
#include "gui/models/timeline/lanes.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/models/timeline/range_sums.h"
#include "gui/models/timeline/trace_recording.h"
#include "sim/exporters/trace/trace.h"
#include "sim/graph/zoo.h"
#include "sim/plan/task_title.h"
#include "tests/gui/models/cases.h"
#include "tests/sim/importers/kineto_trace.h"

namespace strata::gui {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingTest : public ::testing::Test {
 protected:
  const Plan& plan() const { return scene_->prediction.plan; }
  const Timeline& timeline() const { return scene_->prediction.timeline; }

  ScenePtr scene_ = scene_of("lenet5", "p100-1x2", "owt");
  RecordingPtr recording_ = record(scene_);
};

TEST_F(RecordingTest, EveryTaskIsDrawnAtItsTimeOnItsDevice) {
  for (std::size_t step = 0; step < timeline().steps(); ++step) {
    for (std::size_t i = 0; i < plan().size(); ++i) {
      const TaskId id(i);
      const SlicePlace place = recording_->place(task_id(plan(), {step, id}));
      ASSERT_EQ(place.valid(), plan()[id].kind != TaskKind::join);
      if (!place.valid()) continue;
      const Slice& slice = recording_->at(place);
      EXPECT_EQ(slice.begin, timeline().span(step, id).start.value);
      EXPECT_EQ(slice.end, timeline().span(step, id).end.value);
      EXPECT_EQ(recording_->lanes[place.lane].name().device, plan()[id].device);
      EXPECT_EQ(recording_->labels[slice.label].text,
                task_title(scene_->input.graph, plan(), plan()[id]));
      EXPECT_EQ(recording_->labels[slice.label].layer, plan()[id].layer);
    }
  }
  EXPECT_EQ(recording_->end, timeline().makespan().value);
}

// fc2's weights lie twice on devices 0 and 2, and of fc1's one half there and one on 1 and 3: what
// the first two sum is "fc1 and 1 more", and what the others sum is fc1 alone.
TEST(Recordings, CallBucketsThatEndWithOneLayerByWhatTheySum) {
  Document document = document_of("lenet5", "p100-1x4");
  const Graph graph = build_zoo("lenet5", 128);
  document.strategy.configs.assign(graph.size(), Config{kWhole, {DeviceId(0)}});
  document.strategy.configs[graph.find("fc1")()] = {
      {{2, 2, 1, 1, 1}}, {DeviceId(0), DeviceId(1), DeviceId(2), DeviceId(3)}};
  document.strategy.configs[graph.find("fc2")()] = {{{2, 1, 1, 1, 1}}, {DeviceId(0), DeviceId(2)}};
  const RecordingPtr recording = record(scene_of(document));
  std::set<std::string> sums;
  for (const LaneLabel& label : recording->labels) {
    if (label.text.ends_with("all-reduce")) sums.insert(label.text);
  }
  EXPECT_THAT(sums, ElementsAre("fc1 and 1 more ring all-reduce", "fc1 ring all-reduce"));
}

TEST_F(RecordingTest, NoLaneHoldsSlicesThatOverlap) {
  for (const Lane& lane : recording_->lanes) {
    for (std::size_t i = 1; i < lane.slices().size(); ++i) {
      EXPECT_LE(lane.slices()[i - 1].end, lane.slices()[i].begin) << lane.name().name;
    }
  }
}

TEST_F(RecordingTest, TheCriticalPathComesFirstAndSaysItsShares) {
  const Lane& path = recording_->lanes.front();
  EXPECT_EQ(path.name().kind, LaneKind::path);
  EXPECT_THAT(path.name().note, HasSubstr(" %"));
  std::vector<std::uint32_t> expected, ids;
  for (const PathStep& step : scene_->path) {
    const Span& span = timeline().span(step.step, step.task);
    if (plan()[step.task].kind != TaskKind::join && span.end > span.start) {
      expected.push_back(task_id(plan(), {step.step, step.task}));
    }
  }
  for (const Slice& slice : path.slices()) ids.push_back(slice.id);
  EXPECT_EQ(ids, expected);
}

TEST_F(RecordingTest, KnowsWhatATaskWaitedForAndWhatWaitsForIt) {
  for (std::size_t i = 0; i < plan().size(); ++i) {
    const std::uint32_t id = task_id(plan(), {1, TaskId(i)});
    if (plan()[TaskId(i)].kind == TaskKind::join) continue;
    for (const std::uint32_t before : recording_->facts->before(id)) {
      EXPECT_LE(recording_->at(recording_->place(before)).end,
                recording_->at(recording_->place(id)).begin);
      const auto after = recording_->facts->after(before);
      EXPECT_NE(std::find(after.begin(), after.end(), id), after.end());
    }
  }
}

// The same of the plan's edges alone: through joins, over the end of a step, each once.
TEST_F(RecordingTest, WhatWaitsForATaskIsWhatHasItBefore) {
  const std::size_t steps = timeline().steps();
  std::map<std::uint32_t, std::vector<std::uint32_t>> waiting;
  for (std::uint32_t id = 0; id < steps * plan().size(); ++id) {
    if (plan()[task_of(plan(), id).task].kind == TaskKind::join) continue;
    std::vector<std::uint32_t> before = recording_->facts->before(id);
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const std::uint32_t other : before) waiting[other].push_back(id);
  }
  for (std::uint32_t id = 0; id < 2 * plan().size(); ++id) {
    if (plan()[task_of(plan(), id).task].kind == TaskKind::join) continue;
    EXPECT_EQ(recording_->facts->after(id), waiting[id]) << id;
  }
}

TEST_F(RecordingTest, TellsOfATaskInLines) {
  const PathStep& step = scene_->path.front();
  const auto lines = recording_->facts->lines(task_id(plan(), {step.step, step.task}));
  EXPECT_EQ(lines.front(), task_title(scene_->input.graph, plan(), plan()[step.task]));
  EXPECT_THAT(lines.back(), HasSubstr("critical path"));
  const PickedTask task{step.step, step.task};
  EXPECT_EQ(recording_->facts->task(task_id(plan(), task)), task);
  EXPECT_EQ(recording_->facts->find(task), task_id(plan(), task));
  EXPECT_EQ(recording_->facts->find({99, step.task}), std::nullopt);
}

TEST_F(RecordingTest, LinksAreCurvesOfTheirUse) {
  double used = 0;
  for (const Lane& lane : recording_->lanes) {
    if (lane.name().kind != LaneKind::curve) continue;
    const Link& link = scene_->input.cluster[*lane.name().link];
    used += lane.area(0, lane.slices().size()) * link.bandwidth.value;
  }
  double bytes = 0;
  const auto rates = timeline().link_rates();
  for (std::size_t i = 0; i + 1 < rates.size(); ++i) {
    if (rates[i + 1].link != rates[i].link) continue;
    bytes += rates[i].rate.value * (rates[i + 1].at - rates[i].at).value;
  }
  EXPECT_GT(bytes, 0);
  EXPECT_NEAR(used, bytes, 1e-4 * bytes);
}

TEST_F(RecordingTest, DevicesAreAsBusyAsTheirUtilisationSays) {
  ASSERT_TRUE(recording_->steady);
  const RangeSums sums = sum_range(*recording_, *recording_->steady, SumBy::device);
  ASSERT_EQ(sums.rows.size(), 2);
  for (const RangeSum& row : sums.rows) {
    const std::size_t device = row.what.ends_with("gpu0") ? 0 : 1;
    EXPECT_NEAR(row.compute / recording_->steady->length().value, scene_->use.devices[device], 1e-9)
        << row.what;
  }
}

TEST_F(RecordingTest, CsvHasALineForEachSliceInTheRange) {
  const std::string all = print_csv(*recording_, {{0}, {recording_->end}});
  std::size_t tasks = 0;
  for (const Lane& lane : recording_->lanes) {
    if (stands_for_tasks(lane.name().kind)) tasks += lane.slices().size();
  }
  EXPECT_EQ(static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')), tasks + 1);
  EXPECT_EQ(print_csv(*recording_, {{-2}, {-1}}), "group,lane,name,begin_seconds,end_seconds\n");
}

// By title and device: how many, and how long all together.
using Sums = std::map<std::string, std::pair<std::size_t, double>>;
Sums sums_of(const Recording& recording) {
  Sums sums;
  for (const Lane& lane : recording.lanes) {
    if (!stands_for_tasks(lane.name().kind)) continue;
    for (const Slice& slice : lane.slices()) {
      auto& [count, seconds] = sums[lane.name().group + ": " + recording.labels[slice.label].text];
      ++count;
      seconds += slice.length();
    }
  }
  return sums;
}

void expect_equal(const Sums& actual, const Sums& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, sum] : expected) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_EQ(actual.at(name).first, sum.first) << name;
    EXPECT_NEAR(actual.at(name).second, sum.second, 1e-10) << name;  // written in picoseconds
  }
}

TEST_F(RecordingTest, ATraceFileShowsTheSame) {
  const std::string json =
      print_trace(scene_->input.graph, scene_->input.cluster, plan(), timeline());
  const auto trace = std::make_shared<const Trace>(parse_trace(json, "t.json"));
  const RecordingPtr read = record(trace, "t.json");
  expect_equal(sums_of(*read), sums_of(*recording_));
  EXPECT_NEAR(read->end, recording_->end, 1e-9);
  EXPECT_FALSE(trace->arrows.empty());
  const auto [from, to] = trace->arrows.front();
  EXPECT_THAT(read->facts->after(from), ::testing::Contains(to));
  EXPECT_THAT(read->facts->before(to), ::testing::Contains(from));
  EXPECT_EQ(read->facts->lines(from).front(), trace->names[trace->slices[from].name]);
}

// Two steps of lenet5 on one GPU: conv1 takes 100 us, then 300, and what autograd does of it as
// much; a copy on another stream.
std::shared_ptr<const Trace> kineto_trace() {
  testing::KinetoTrace kineto;
  double at = 0;
  for (const double length : {100., 300., 100.}) {
    kineto.range("user_annotation", fmt::format("ProfilerStep#{}", at), at, 900);
    kineto.range("user_annotation", "conv1", at + 10, 20);
    kineto.range("cpu_op", "aten::conv2d", at + 11, 15, static_cast<int>(at));
    kineto.kernel("implicit_gemm", at + 12, at + 2000, length);
    kineto.range("cpu_op", "ConvolutionBackward0", at + 60, 30, static_cast<int>(at), 2);
    kineto.kernel("wgrad", at + 65, at + 2000 + length, length, 2);
    kineto.kernel("Memcpy HtoD", at + 95, at + 2050, 10, 1, 0, 20, "gpu_memcpy");
    at += 1000;
  }
  return std::make_shared<const Trace>(parse_trace(kineto.text(), "kineto.json"));
}

TEST_F(RecordingTest, PytorchsKernelsStandBesideThePrediction) {
  const RecordingPtr beside = record_beside(kineto_trace(), "kineto.json", scene_);
  ASSERT_EQ(beside->lanes.size(), 2U);
  const Lane& compute = beside->lanes[0];
  EXPECT_EQ(compute.name().name, "compute") << "the stream that is busiest";
  EXPECT_EQ(compute.name().device, DeviceId(0));
  EXPECT_EQ(beside->lanes[1].name().name, "stream 20");
  const auto twin = std::ranges::find_if(recording_->lanes, [&](const Lane& lane) {
    return lane.name().group == compute.name().group && lane.name().name == "compute";
  });
  EXPECT_NE(twin, recording_->lanes.end()) << "so that one stands below the other";
  // Steps of 1000, 1000 and 200 us: the first is the median one, and begins with the last
  // predicted.
  const Timeline& timeline = scene_->prediction.timeline;
  const double begin = timeline.step_end(timeline.steady_window().last - 1).value;
  ASSERT_TRUE(beside->steady);
  EXPECT_NEAR(beside->steady->begin.value, begin, 1e-12);
  EXPECT_NEAR(beside->steady->length().value, 1000e-6, 1e-12);
  const Slice& first = compute.slices()[0];
  EXPECT_NEAR(first.begin, begin, 1e-12);
  const LaneLabel& label = beside->labels[first.label];
  EXPECT_EQ(label.text, "conv1 forward");
  EXPECT_EQ(label.layer, scene_->input.graph.find("conv1"));
  EXPECT_EQ(beside->labels[compute.slices()[1].label].text, "conv1 backward");
}

TEST_F(RecordingTest, AKernelTellsOfItsLayersTask) {
  const RecordingPtr beside = record_beside(kineto_trace(), "kineto.json", scene_);
  const Slice& third = beside->lanes[0].slices()[2];
  EXPECT_THAT(
      beside->facts->lines(third.id),
      ElementsAre("implicit_gemm", "GPU 0, stream 7", HasSubstr("300 µs, from"),
                  "conv1 forward: 300 µs in 1 kernel of this step", HasSubstr("predicted ")));
  const auto task = beside->facts->task(third.id);
  ASSERT_TRUE(task);
  EXPECT_EQ(plan()[task->task].layer, scene_->input.graph.find("conv1"));
  EXPECT_EQ(plan()[task->task].phase, Phase::forward);
  EXPECT_EQ(plan()[task->task].device, DeviceId(0));
  EXPECT_EQ(beside->facts->task(beside->lanes[1].slices()[0].id), std::nullopt);
  EXPECT_THAT(
      match_text(*kineto_trace(), "kineto.json", *scene_),
      AllOf(HasSubstr("97.1 %"), HasSubstr("a step takes 1 ms (the median of 3), 200 µs of it")));
}

// What was matched is of the network's layers: another network's kernels are matched anew.
TEST_F(RecordingTest, ATraceWithoutStepsSaysSo) {
  testing::KinetoTrace kineto;
  kineto.range("user_annotation", "conv1", 10, 20);
  kineto.kernel("implicit_gemm", 12, 2000, 100);
  const auto trace = std::make_shared<const Trace>(parse_trace(kineto.text(), "kineto.json"));
  const RecordingPtr beside = record_beside(trace, "kineto.json", scene_);
  EXPECT_THAT(beside->facts->lines(beside->lanes[0].slices()[0].id),
              ::testing::Contains(HasSubstr("in 1 kernel of the trace")));
  EXPECT_THAT(match_text(*trace, "kineto.json", *scene_),
              AllOf(HasSubstr("names no steps (ProfilerStep#N)"), HasSubstr("100 µs")));
  const ScenePtr other = scene_of("alexnet", "p100-1x2");
  const RecordingPtr of_other = record_beside(trace, "kineto.json", other);
  EXPECT_EQ(of_other->labels[of_other->lanes[0].slices()[0].label].layer, LayerId())
      << "alexnet has no conv1";
}

// Under parameter servers a step ends with its last sums, long after the next one has begun.
TEST(Recordings, StandBesideEachOtherByTheirForwardPasses) {
  Document document = document_of("vgg16", "p100-1x2");
  document.input.training.sync.algorithm = SyncAlgorithm::ps;
  const RecordingPtr data = record(scene_of(document));
  document.strategy.source = "owt";
  const RecordingPtr owt = record(scene_of(document));
  ASSERT_TRUE(data->forward && owt->forward);
  EXPECT_LT(*data->forward, data->step->begin) << "else the test tells nothing";
  for (const TimeFrame& frame : {frame_of(*owt, data.get()), frame_of_both(*owt, *data)}) {
    EXPECT_DOUBLE_EQ(data->forward->value + frame.shift_of(*data), owt->forward->value);
    EXPECT_EQ(frame.shift_of(*owt), 0);
  }
}

}  // namespace
}  // namespace strata::gui
