#include "sim/plan/work_kind.h"

#include <array>
#include <cassert>

namespace strata {
namespace {

constexpr std::size_t kTaskKinds = static_cast<std::size_t>(TaskKind::join) + 1;

struct Row {
  TaskKind kind;
  Phase phase;
  TaskRole role;
};

constexpr std::array kRows = {
    Row{TaskKind::compute, Phase::forward_statistics, {WorkKind::forward, "forward_statistics"}},
    Row{TaskKind::compute, Phase::forward, {WorkKind::forward, "forward"}},
    Row{TaskKind::compute, Phase::forward_sum, {WorkKind::forward, "forward_sum"}},
    Row{TaskKind::compute, Phase::backward_sum, {WorkKind::backward, "backward_sum"}},
    Row{TaskKind::compute, Phase::backward_statistics, {WorkKind::backward, "backward_statistics"}},
    Row{TaskKind::compute, Phase::backward_data, {WorkKind::backward, "backward_data"}},
    Row{TaskKind::compute, Phase::backward_weights, {WorkKind::backward, "backward_weights"}},
    Row{TaskKind::compute, Phase::update, {WorkKind::update, "update"}},
    Row{TaskKind::transfer, Phase::forward, {WorkKind::transfer, "input"}},
    Row{TaskKind::transfer, Phase::backward_data, {WorkKind::transfer, "gradient"}},
    Row{TaskKind::transfer, Phase::backward_weights, {WorkKind::transfer, "input again"}},
    Row{TaskKind::transfer, Phase::forward_sum, {WorkKind::transfer, "partial output"}},
    Row{TaskKind::transfer, Phase::backward_sum, {WorkKind::transfer, "output gradient"}},
    Row{TaskKind::transfer, Phase::update, {WorkKind::sync, "parameters"}},
    Row{TaskKind::collective, Phase::forward_statistics, {WorkKind::statistics, "all-reduce"}},
    Row{TaskKind::collective, Phase::backward_statistics, {WorkKind::statistics, "all-reduce"}},
    Row{TaskKind::collective, Phase::update, {WorkKind::sync, "all-reduce"}},
    Row{TaskKind::collective, Phase::forward, {WorkKind::sync, "all-gather"}},
    Row{TaskKind::collective, Phase::backward_data, {WorkKind::sync, "all-gather"}},
    Row{TaskKind::collective, Phase::backward_weights, {WorkKind::sync, "reduce-scatter"}},
    Row{TaskKind::reduce, Phase::forward_statistics, {WorkKind::statistics, "sum"}},
    Row{TaskKind::reduce, Phase::backward_statistics, {WorkKind::statistics, "sum"}},
    Row{TaskKind::reduce, Phase::update, {WorkKind::sync, "sum"}},
    Row{TaskKind::reduce, Phase::backward_weights, {WorkKind::sync, "sum"}},
    Row{TaskKind::gather, Phase::forward, {WorkKind::sync, "gather parameters"}},
    Row{TaskKind::gather, Phase::backward_data, {WorkKind::sync, "gather parameters"}},
    Row{TaskKind::gather, Phase::forward_statistics, {WorkKind::statistics, "gather sums"}},
    Row{TaskKind::gather, Phase::backward_statistics, {WorkKind::statistics, "gather sums"}},
    Row{TaskKind::gather, Phase::update, {WorkKind::sync, "gather sums"}},
    Row{TaskKind::join, Phase::forward, {WorkKind::waiting, "join"}},
};

using Table = std::array<std::array<std::optional<TaskRole>, kPhaseCount>, kTaskKinds>;

constexpr Table kTable = [] {
  Table table{};
  for (const Row& row : kRows) {
    table[static_cast<std::size_t>(row.kind)][static_cast<std::size_t>(row.phase)] = row.role;
  }
  return table;
}();

}  // namespace

std::string_view name(WorkKind kind) {
  constexpr std::array<std::string_view, kWorkKinds> kNames = {
      "forward", "backward", "update", "transfer", "sync", "statistics", "waiting"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<TaskRole> role_of(TaskKind kind, Phase phase) {
  return kTable[static_cast<std::size_t>(kind)][static_cast<std::size_t>(phase)];
}

TaskRole role_of(const Task& task) {
  const auto role = role_of(task.kind, task.phase);
  assert(role);
  return role.value_or(TaskRole{});
}

std::string_view name(HostPart part) {
  constexpr std::array<std::string_view, 4> kNames = {
      "", "gradients to the host", "update on the host", "parameters from the host"};
  return kNames[static_cast<std::size_t>(part)];
}

WorkKind work_kind(const Task& task) {
  return role_of(task).work;
}

}  // namespace strata
