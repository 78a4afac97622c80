#include "sim/plan/task_title.h"

#include <fmt/format.h>

#include "sim/plan/work_kind.h"

namespace strata {

std::string task_title(const Graph& graph, const Plan& plan, const Task& task) {
  std::string layer = graph[task.layer].name;
  const std::string_view what = role_of(task).name;
  if (!in_group(task.kind)) return fmt::format("{} {}", layer, what);
  const Group& group = plan.groups()[task.detail];
  if (group.layers.size() > 1) layer += fmt::format(" and {} more", group.layers.size() - 1);
  if (task.kind != TaskKind::collective) return fmt::format("{} {}", layer, what);
  return fmt::format("{} {} {}", layer, name(group.algorithm), what);
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
