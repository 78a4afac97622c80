// All updates wait for the norm of all gradients.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/plan/work_kind.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

LowerOptions clipping(const Cluster& cluster, GradientSync sync = {SyncAlgorithm::ring}) {
  LowerOptions options;
  options.sync = sync;
  options.optimizer = Optimizer::adam;
  options.kernels.assign(cluster.device_count(), {.clips_gradients = true});
  return options;
}

Graph small_gpt(int batch) {
  return build_zoo("gpt:layers=4,hidden=16,heads=4,seq=8,vocab=32", batch);
}

// Of a plan: the task on each device that brings the norm.
std::vector<TaskId> norm_tasks(const Plan& plan) {
  std::vector<TaskId> found(plan.device_count());
  for (const Group& group : plan.groups()) {
    if (group.purpose != GroupPurpose::statistics || group.bytes != Bytes{4}) continue;
    for (const TaskId task : group.tasks) found[plan[task].device()] = task;
  }
  return found;
}

bool waits_for(const Plan& plan, TaskId task, TaskId other) {
  const auto before = plan.dependencies(task);
  return std::find(before.begin(), before.end(), other) != before.end();
}

void expect_updates_to_wait(const char* strategy, const GradientSync& sync) {
  const Cluster cluster = preset_cluster("a100-1x8");
  const Graph graph = small_gpt(8);
  LowerOptions options = clipping(cluster, sync);
  const Strategy cut = hybrid_parallel(graph, 8, strategy);
  const Plan plan = lower(graph, cluster, cut, options);
  const std::vector<TaskId> norms = norm_tasks(plan);
  int updates = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    const bool updates_here = task.kind == TaskKind::compute && task.phase == Phase::update;
    if (!updates_here) continue;
    ASSERT_TRUE(norms[task.device()].valid()) << strategy;
    EXPECT_TRUE(waits_for(plan, TaskId(i), norms[task.device()])) << strategy;
    ++updates;
  }
  EXPECT_GT(updates, 0) << strategy;
  // Without it there is none, and updates are as many.
  options.kernels.clear();
  const Plan usual = lower(graph, cluster, cut, options);
  EXPECT_EQ(plan.size(), usual.size() + 8) << strategy;
}

TEST(GradientNorm, ComesBeforeEveryUpdate) {
  for (const char* strategy : {"hybrid:tp=1", "hybrid:tp=4", "hybrid:tp=2,pp=2", "hybrid:pp=4"}) {
    for (const Zero zero : {Zero::nothing, Zero::state, Zero::parameters}) {
      expect_updates_to_wait(strategy, {SyncAlgorithm::ring, Bytes{2000}, zero});
    }
  }
}

// A device brings its part once all that it updates by is summed.
TEST(GradientNorm, WaitsForEveryGradientOfItsDevice) {
  const Cluster cluster = preset_cluster("a100-1x2");
  const Graph graph = small_gpt(2);
  const Plan plan = lower(graph, cluster, data_parallel(graph, 2),
                          clipping(cluster, {SyncAlgorithm::ring, Bytes{2000}, Zero::nothing}));
  const TaskId norm = norm_tasks(plan).front();
  int sums = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::collective || task.phase != Phase::update) continue;
    if (task.device != DeviceId(0)) continue;
    EXPECT_TRUE(waits_for(plan, norm, TaskId(i)));
    ++sums;
  }
  EXPECT_GT(sums, 3);
}

// Thousands of devices would sum it by trees, in which each has a place of its own.
TEST(GradientNorm, TellsNoDevicesApart) {
  const Cluster cluster = preset_cluster("a100-16x8");
  const Graph graph = small_gpt(64);
  const Strategy cut = hybrid_parallel(graph, 128, "hybrid:tp=2,pp=2");
  LowerOptions options = clipping(cluster);
  const Plan plan = lower_by_class(graph, cluster, cut, options);
  options.kernels.clear();
  EXPECT_EQ(plan.classes()->representatives().size(),
            lower_by_class(graph, cluster, cut, options).classes()->representatives().size());
}

TEST(GradientNorm, IsRefusedWhereAServerUpdates) {
  const Cluster cluster = preset_cluster("a100-1x2");
  const Graph graph = small_gpt(2);
  EXPECT_THAT(
      [&] { lower(graph, cluster, data_parallel(graph, 2), clipping(cluster, SyncAlgorithm::ps)); },
      ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("allowed: `sync` ring")));
}

}  // namespace
}  // namespace strata
