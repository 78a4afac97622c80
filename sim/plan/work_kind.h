#pragma once

// What a task does, told from its kind and its phase: one table, which reports, traces, views and
// executors read. It is finer than TaskKind, for tasks of one kind do different work in different
// phases: a collective sums gradients or statistics. Pure functions; thread-safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/plan/plan.h"

namespace strata {

enum class WorkKind : std::uint8_t {
  forward,     ///< computation, the statistics that a norm or a softmax takes first among it
  backward,    ///< computation: gradients, and the statistics that they need
  update,      ///< computation: the optimiser's step
  transfer,    ///< boxes of an edge's tensor, or of its gradient
  sync,        ///< gradients summed over replicas; with a parameter server, parameters too
  statistics,  ///< statistics summed over shards
  waiting      ///< none: a join
};
inline constexpr std::size_t kWorkKinds = 7;
std::string_view name(WorkKind kind);

struct TaskRole {
  WorkKind work = WorkKind::waiting;
  std::string_view name;  ///< for people, behind the layer's: "forward", "gradient", "all-reduce"
};

/// Nothing for a kind and a phase that no plan has together.
std::optional<TaskRole> role_of(TaskKind kind, Phase phase);
/// Of a plan's task.
TaskRole role_of(const Task& task);
WorkKind work_kind(const Task& task);
/// For people, likewise: "gradients to the host"; empty for none.
std::string_view name(HostPart part);

/// Part of what a Group does: Task::detail is its place in groups().
constexpr bool in_group(const Task& task) {
  return task.kind == TaskKind::collective || task.kind == TaskKind::reduce ||
         task.kind == TaskKind::gather;
}

/// Also done where nothing is trained.
constexpr bool is_forward(Phase phase) {
  return phase == Phase::forward_statistics || phase == Phase::forward ||
         phase == Phase::forward_sum;
}

}  // namespace strata
