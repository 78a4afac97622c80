#include "sim/formats/task_title.h"

#include <fmt/format.h>

#include "sim/plan/work_kind.h"

namespace strata {

std::string task_title(const Graph& graph, const Plan& plan, const Task& task) {
  const std::string& layer = graph[task.layer].name;
  const std::string_view what = role_of(task).name;
  if (task.kind != TaskKind::collective) return fmt::format("{} {}", layer, what);
  return fmt::format("{} {} {}", layer, name(plan.groups()[task.detail].algorithm), what);
}

std::string_view task_category(TaskKind kind) {
  switch (kind) {
    case TaskKind::compute:
      return "compute";
    case TaskKind::transfer:
      return "transfer";
    case TaskKind::collective:
    case TaskKind::reduce:
    case TaskKind::gather:
      return "collective";
    case TaskKind::join:
      break;
  }
  return "join";
}

}  // namespace strata
