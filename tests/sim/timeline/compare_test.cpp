#include "sim/timeline/compare.h"

#include <gtest/gtest.h>

#include "sim/plan/plan_builder.h"

namespace strata {
namespace {

constexpr LayerId kConv{0}, kFc{1};

Task compute(LayerId layer, std::size_t device, Phase phase) {
  return {.kind = TaskKind::compute, .phase = phase, .layer = layer, .device = DeviceId(device)};
}

// Two devices compute conv; device 1 receives what device 0 computed, itself or not; then fc, whose
// end a join awaits.
Plan small_plan(Stream copies) {
  PlanBuilder builder(DType::fp32, 2);
  const TaskId a = builder.add(compute(kConv, 0, Phase::forward), {});
  const TaskId b = builder.add(compute(kConv, 1, Phase::forward), {});
  const Piece piece{DeviceId(0), {}, Bytes{8}};
  Task copy = {.layer = kFc, .device = DeviceId(1), .stream = copies};
  const TaskId moved = builder.add_transfer(copy, 0, std::span(&piece, 1), {a});
  const TaskId c = builder.add(compute(kFc, 1, Phase::forward), {b, moved});
  builder.add({.kind = TaskKind::join, .layer = kFc, .device = DeviceId(1)}, {c});
  return std::move(builder).build();
}

Span span(double ready, double start, double end) {
  return {{ready}, {start}, {end}};
}

// conv takes 4 and 4, the copy 1, fc 3.
Timeline predicted() {
  return Timeline(5, {span(0, 0, 4), span(0, 0, 4), span(4, 4, 5), span(5, 5, 8), span(8, 8, 8)});
}

// conv takes 6 and 3, the copy 1 and waits 1, fc 4.
Timeline measured() {
  return Timeline(5,
                  {span(0, 0, 6), span(0, 0, 3), span(6, 7, 8), span(8, 8, 12), span(12, 12, 12)});
}

TEST(Compare, EveryErrorIsDurationOrQueueing) {
  const Comparison c = compare(small_plan(Stream::links), predicted(), measured());
  EXPECT_EQ(c.predicted_step, Seconds{8});
  EXPECT_EQ(c.measured_step, Seconds{12});
  const std::vector<TaskComparison> expected = {{{{4}, {0}}, {{6}, {0}}},
                                                {{{4}, {0}}, {{3}, {0}}},
                                                {{{1}, {0}}, {{1}, {1}}},
                                                {{{3}, {0}}, {{4}, {0}}},
                                                {{{0}, {0}}, {{0}, {0}}}};
  EXPECT_EQ(c.tasks, expected);
  EXPECT_EQ(c.tasks[1].duration_difference(), Seconds{1});
  EXPECT_EQ(c.tasks[2].queueing_difference(), Seconds{-1});
}

// Of three steps' times one was preempted; queueing is its own median.
TEST(Compare, TypicalTimesForgetWhatHappenedOnce) {
  const std::vector<std::vector<TaskTimes>> times = {
      {{{2}, {0}}, {{5}, {1}}}, {{{400}, {7}}, {{7}, {2}}}, {{{3}, {1}}, {{6}, {9}}}};
  EXPECT_EQ(median_times(times), (std::vector<TaskTimes>{{{3}, {1}}, {{6}, {2}}}));
  const std::vector<TaskTimes> even = median_times(std::span(times).first(2));
  EXPECT_EQ(even.front(), (TaskTimes{{201}, {3.5}}));
}

// conv is wrong by -2 and +1: 3 of an absolute error of 4, though together only -1.
TEST(Compare, RowsSayWhereTheErrorComesFrom) {
  const Comparison c = compare(small_plan(Stream::links), predicted(), measured());
  const std::vector<ErrorRow> expected = {
      {{kConv, TaskKind::compute, Phase::forward}, 2, {{8}, {0}}, {{9}, {0}}, {3}, 0.75},
      {{kFc, TaskKind::compute, Phase::forward}, 1, {{3}, {0}}, {{4}, {0}}, {1}, 0.25},
      {{kFc, TaskKind::transfer, Phase::forward}, 1, {{1}, {0}}, {{1}, {1}}, {0}, 0}};
  EXPECT_EQ(c.rows, expected);
  EXPECT_EQ(c.rows[0].difference(), Seconds{-1});
  EXPECT_EQ(c.rows[2].queueing_difference(), Seconds{-1});
}

TEST(Compare, DevicesAreBusyWithWhatOccupiesThem) {
  const Comparison links = compare(small_plan(Stream::links), predicted(), measured());
  const std::vector<DeviceComparison> overlapped = {{{{4}, {4}}, {{6}, {6}}},
                                                    {{{7}, {1}}, {{7}, {5}}}};
  EXPECT_EQ(links.devices, overlapped);
  const Comparison own = compare(small_plan(Stream::device), predicted(), measured());
  const std::vector<DeviceComparison> occupied = {{{{4}, {4}}, {{6}, {6}}},
                                                  {{{8}, {0}}, {{8}, {4}}}};
  EXPECT_EQ(own.devices, occupied);
}

// One task. Predicted: steps of 5 throughout. Measured: the window of five steps is (1, 3], so the
// slow first steps and the last are out; 6 and 8 are left.
TEST(Compare, MeansAreOverTheSteadySteps) {
  PlanBuilder builder(DType::fp32, 1);
  builder.add(compute(kConv, 0, Phase::update), {});
  const Plan plan = std::move(builder).build();
  const Timeline steady(1, {span(0, 0, 5), span(5, 5, 10), span(10, 10, 15)});
  const Timeline rough(1, {span(0, 0, 100), span(100, 100, 150), span(150, 152, 158),
                           span(158, 162, 170), span(170, 170, 270)});
  const Comparison c = compare(plan, steady, rough);
  EXPECT_EQ(c.tasks, (std::vector<TaskComparison>{{{{5}, {0}}, {{7}, {3}}}}));
  EXPECT_EQ(c.devices, (std::vector<DeviceComparison>{{{{5}, {0}}, {{7}, {3}}}}));
  EXPECT_EQ(c.measured_step, Seconds{10});
}

TEST(Compare, EqualTimelinesHaveNoErrorToShare) {
  const Comparison c = compare(small_plan(Stream::links), predicted(), predicted());
  EXPECT_EQ(c.rows.size(), 3U);
  EXPECT_EQ(c.rows[0].of.layer, kConv);
  for (const ErrorRow& row : c.rows) {
    EXPECT_EQ(row.share, 0);
    EXPECT_EQ(row.absolute_error, Seconds{});
  }
}

}  // namespace
}  // namespace strata
