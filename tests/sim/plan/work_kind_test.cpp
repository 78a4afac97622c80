// The table of what tasks do: every kind in every phase, and no plan has a task that it lacks.

#include "sim/plan/work_kind.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/plan/lower.h"

namespace strata {
namespace {

using testing::Random;

constexpr std::array kKinds = {TaskKind::compute, TaskKind::transfer, TaskKind::collective,
                               TaskKind::reduce,  TaskKind::gather,   TaskKind::join};
constexpr std::array<std::string_view, kKinds.size()> kKindNames = {
    "compute", "transfer", "collective", "reduce", "gather", "join"};

std::string table() {
  std::string text;
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (int phase = 0; phase < kPhaseCount; ++phase) {
      const auto role = role_of(kKinds[kind], static_cast<Phase>(phase));
      if (!role) continue;
      text += fmt::format("{} {}: {}, {}\n", kKindNames[kind], name(static_cast<Phase>(phase)),
                          name(role->work), role->name);
    }
  }
  return text;
}

TEST(WorkKind, TellsEveryKindInEveryPhase) {
  EXPECT_EQ(table(),
            "compute forward_statistics: forward, forward_statistics\n"
            "compute forward: forward, forward\n"
            "compute backward_statistics: backward, backward_statistics\n"
            "compute backward_data: backward, backward_data\n"
            "compute backward_weights: backward, backward_weights\n"
            "compute update: update, update\n"
            "compute forward_sum: forward, forward_sum\n"
            "compute backward_sum: backward, backward_sum\n"
            "transfer forward: transfer, input\n"
            "transfer backward_data: transfer, gradient\n"
            "transfer backward_weights: transfer, input again\n"
            "transfer update: sync, parameters\n"
            "transfer forward_sum: transfer, partial output\n"
            "transfer backward_sum: transfer, output gradient\n"
            "collective forward_statistics: statistics, all-reduce\n"
            "collective forward: sync, all-gather\n"
            "collective backward_statistics: statistics, all-reduce\n"
            "collective backward_data: sync, all-gather\n"
            "collective backward_weights: sync, reduce-scatter\n"
            "collective update: sync, all-reduce\n"
            "reduce forward_statistics: statistics, sum\n"
            "reduce backward_statistics: statistics, sum\n"
            "reduce backward_weights: sync, sum\n"
            "reduce update: sync, sum\n"
            "gather forward_statistics: statistics, gather sums\n"
            "gather forward: sync, gather parameters\n"
            "gather backward_statistics: statistics, gather sums\n"
            "gather backward_data: sync, gather parameters\n"
            "gather update: sync, gather sums\n"
            "join forward: waiting, join\n");
}

// A computation does its own phase, and that alone.
TEST(WorkKind, CallsComputationsByTheirPhase) {
  for (int i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const TaskRole role = role_of(TaskKind::compute, phase).value();
    EXPECT_EQ(role.name, name(phase));
    EXPECT_EQ(role.work == WorkKind::forward, is_forward(phase)) << name(phase);
  }
}

void expect_roles(const Plan& plan) {
  for (const Task& task : plan.tasks()) {
    const auto role = role_of(task.kind, task.phase);
    ASSERT_TRUE(role.has_value()) << static_cast<int>(task.kind) << ' ' << name(task.phase);
    EXPECT_EQ(in_group(task),
              role->work == WorkKind::statistics ||
                  (role->work == WorkKind::sync && task.kind != TaskKind::transfer));
    if (!in_group(task)) continue;
    const bool sums_gradients = plan.groups()[task.detail].purpose == GroupPurpose::parameters;
    EXPECT_EQ(role->work, sums_gradients ? WorkKind::sync : WorkKind::statistics);
  }
}

TEST(WorkKind, KnowsEveryTaskOfRandomPlans) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = testing::random_network(random, 12);
    const Cluster cluster = testing::star(4);
    const Strategy strategy = testing::random_strategy(random, graph, 4);
    for (const GradientSync& sync :
         {GradientSync{SyncAlgorithm::ring}, GradientSync{SyncAlgorithm::ps},
          GradientSync{SyncAlgorithm::ring, {}, Zero::state},
          GradientSync{SyncAlgorithm::ring, {}, Zero::parameters}}) {
      expect_roles(lower(graph, cluster, strategy, {sync}));
    }
  }
}

}  // namespace
}  // namespace strata
