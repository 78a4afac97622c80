#include "sim/formats/task_title.h"

#include <fmt/format.h>

namespace strata {
namespace {

const char* what_arrives(const Task& transfer) {
  return transfer.phase == Phase::forward  ? "input"
         : transfer.phase == Phase::update ? "parameters"
                                           : "gradient";
}

}  // namespace

std::string task_title(const Graph& graph, const Plan& plan, const Task& task) {
  const std::string& layer = graph[task.layer].name;
  if (task.kind == TaskKind::compute) return fmt::format("{} {}", layer, name(task.phase));
  if (task.kind == TaskKind::reduce) return fmt::format("{} sum", layer);
  if (task.kind == TaskKind::gather) return fmt::format("{} gather sums", layer);
  if (task.kind == TaskKind::collective) {
    return fmt::format("{} {} all-reduce", layer, name(plan.groups()[task.detail].algorithm));
  }
  return fmt::format("{} {}", layer, what_arrives(task));
}

}  // namespace strata
