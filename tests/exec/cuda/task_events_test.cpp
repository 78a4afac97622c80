// Events that a run's tasks put on streams: those that somebody waits for or reads, and no others.

#include "exec/cuda/run/task_events.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"

namespace strata::cuda {
namespace {

using Gpus = std::vector<int>;  // by device

/// Of one step, when a run is under way.
struct Events {
  std::size_t order = 0, time = 0;
};

class TaskEventsTest : public ::testing::Test {
 protected:
  TaskEventsTest() : graph_(strata::testing::build({"lenet5"})) { host::set_gpus(4); }

  Plan plan_on(const Gpus& gpus, const Strategy& strategy) const {
    std::vector<GpuDevice> devices;
    for (std::size_t d = 0; d < gpus.size(); ++d) {
      devices.push_back({gpus[d], device_name(gpus, d), "host"});
    }
    return lower(graph_, gpu_cluster("cuda", devices), strategy, {});
  }

  /// What `more` steps cost beyond two.
  Events events_of_a_step(const Gpus& gpus, const Plan& plan, ExecutionOptions options) {
    CudaBackend backend(gpus, Precision::fp32);
    StreamExecutor executor(graph_, plan, backend, options);
    const NetworkWeights weights = strata::testing::weights_to_train(graph_);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      executor.set_parameters(LayerId(i), weights[i]);
    }
    const Dataset data = strata::testing::data_to_train(graph_);
    const auto counted = [&](std::size_t steps) {
      const Events before{host::events(EventKind::order), host::events(EventKind::time)};
      last_ = executor.run(
          steps, [&](std::uint64_t step) { return data.batch(step); }, nullptr);
      return Events{host::events(EventKind::order) - before.order,
                    host::events(EventKind::time) - before.time};
    };
    counted(2);  // finds memory
    const Events few = counted(2), many = counted(6);
    marks_missed_ = backend.order().marks_missed();
    EXPECT_EQ((many.order - few.order) % 4, 0U);
    return {(many.order - few.order) / 4, (many.time - few.time) / 4};
  }

  static ExecutionOptions options(bool task_times) {
    ExecutionOptions options = strata::testing::training_options();
    options.task_times = task_times;
    return options;
  }

  Graph graph_;
  Execution last_;
  std::size_t marks_missed_ = 0;
};

// A step's state travels through a ring of pinned memory, of which each device records one event.
TEST_F(TaskEventsTest, NoneIsMarkedWhereThereIsOneStream) {
  const Gpus gpus = {0};
  const Plan plan = plan_on(gpus, data_parallel(graph_, 1));
  const Events plain = events_of_a_step(gpus, plan, options(false));
  EXPECT_EQ(plain.order, 1U);
  EXPECT_EQ(plain.time, 1U);  // the step's end
  const Events timed = events_of_a_step(gpus, plan, options(true));
  EXPECT_EQ(timed.order, 1U);
  EXPECT_EQ(timed.time, plan.size() + 1);  // each task's end, and the first one's start
}

/// By the plan alone: tasks for which some task on another stream waits.
std::size_t with_followers_elsewhere(const Plan& plan, const Gpus& gpus) {
  const auto stream = [&](TaskId id) {
    const bool own = std::count(gpus.begin(), gpus.end(), gpus[plan[id].device()]) == 1;
    return std::pair(plan[id].device, own ? plan[id].stream : strata::Stream::device);
  };
  std::set<TaskId> found;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId id(i);
    for (const auto& before : {plan.dependencies(id), plan.carried(id)}) {
      for (TaskId one : before) {
        if (stream(one) != stream(id)) found.insert(one);
      }
    }
  }
  return found.size();
}

/// Of whole GPUs, what is received takes memory beside what is computed: who used it last is waited
/// for, too.
bool takes_on_two_streams(const Gpus& gpus) {
  return std::set<int>(gpus.begin(), gpus.end()).size() == gpus.size();
}

TEST_F(TaskEventsTest, OthersAreMarkedWhereStreamsMeet) {
  for (const Gpus& gpus : {Gpus{0, 0}, Gpus{0, 0, 0, 0}, Gpus{0, 1}}) {
    const auto devices = static_cast<int>(gpus.size());
    for (const Strategy& strategy :
         {data_parallel(graph_, devices), owt_parallel(graph_, devices)}) {
      SCOPED_TRACE(strategy.name() + " on " + ::testing::PrintToString(gpus));
      const Plan plan = plan_on(gpus, strategy);
      const std::size_t tasks = plan.size(), meet = with_followers_elsewhere(plan, gpus);
      const Events plain = events_of_a_step(gpus, plan, options(false));
      EXPECT_EQ(marks_missed_, 0U);
      const Events timed = events_of_a_step(gpus, plan, options(true));
      EXPECT_EQ(marks_missed_, 0U);
      EXPECT_EQ(timed.order, plain.order);
      EXPECT_LE(plain.order, takes_on_two_streams(gpus) ? tasks - 1 : meet + gpus.size());
      EXPECT_LE(plain.time, 2 * gpus.size());  // the ends of its streams
      EXPECT_LT(timed.time, tasks + tasks / 2);
    }
  }
}

// Waiting for another stream is not a task's duration, though one event may serve two tasks.
TEST_F(TaskEventsTest, ATaskStartsWhenAllThatItWaitsForHasEnded) {
  for (const Gpus& gpus : {Gpus{0}, Gpus{0, 0}, Gpus{0, 1}, Gpus{1, 0, 0}}) {
    const auto devices = static_cast<int>(gpus.size());
    for (bool serial : {false, true}) {
      const Plan plan = plan_on(gpus, owt_parallel(graph_, devices));
      ExecutionOptions timed = options(true);
      timed.serial = serial;
      host::draw_orders_from(gpus.size());
      events_of_a_step(gpus, plan, timed);
      for (std::size_t step = 1; step < last_.timeline.steps(); ++step) {
        for (std::size_t i = 0; i < plan.size(); ++i) {
          const TaskId id(i);
          const Seconds start = last_.timeline.span(step, id).start;
          for (TaskId before : plan.dependencies(id)) {
            EXPECT_GE(start, last_.timeline.span(step, before).end) << i;
          }
          for (TaskId before : plan.carried(id)) {
            EXPECT_GE(start, last_.timeline.span(step - 1, before).end) << i;
          }
        }
      }
    }
  }
}

// The ends of steps are those of their last tasks, told by another event.
TEST_F(TaskEventsTest, WithoutTaskTimesTheEndsOfStepsAreKnown) {
  const Gpus gpus = {0, 1};
  const Plan plan = plan_on(gpus, data_parallel(graph_, 2));
  events_of_a_step(gpus, plan, options(false));
  Seconds before;
  for (std::size_t step = 0; step < last_.timeline.steps(); ++step) {
    const Seconds end = last_.timeline.step_end(step);
    EXPECT_GT(end, before);
    before = end;
    for (const Span& span : last_.timeline.step(step)) {
      EXPECT_EQ(span.start, end);
      EXPECT_EQ(span.end, end);
    }
  }
}

// The clock of the host that stands for GPUs goes on when somebody waits for them: who keeps the
// last step's gradients does, there and in no other step.
TEST_F(TaskEventsTest, WhatTheHostWaitsForInAStepIsItsTime) {
  const Gpus gpus = {0, 1};
  const Plan plan = plan_on(gpus, data_parallel(graph_, 2));
  ExecutionOptions keeps = options(false);
  keeps.keep_gradients = true;
  events_of_a_step(gpus, plan, keeps);
  ASSERT_EQ(last_.issue.size(), 6U);
  for (std::size_t step = 0; step < 5; ++step) EXPECT_EQ(last_.issue[step], Seconds{}) << step;
  EXPECT_GT(last_.issue[5], Seconds{});
}

}  // namespace
}  // namespace strata::cuda
