#include "sim/plan/task_title.h"

#include <fmt/format.h>

#include "sim/plan/work_kind.h"

namespace strata {
namespace {

std::string_view exchange_name(GroupWork work) {
  if (work == GroupWork::all_to_all) return "all-to-all";
  return work == GroupWork::reduce_scatter ? "reduce-scatter" : "all-gather";
}

}  // namespace

std::string task_title(const Graph& graph, const Plan& plan, const Task& task) {
  std::string layer = graph[task.layer].name;
  const HostPart part = plan.host_part(task);
  const std::string_view what = part != HostPart::none ? name(part) : role_of(task).name;
  if (const Exchange* exchange = plan.exchange_of(task)) {
    return fmt::format("{} {}, {}{}", layer, what, exchange_name(exchange->work),
                       round_text(plan, task));
  }
  if (!in_group(task.kind)) return fmt::format("{} {}{}", layer, what, round_text(plan, task));
  const Group& group = plan.groups()[task.detail];
  if (group.layers.size() > 1) layer += fmt::format(" and {} more", group.layers.size() - 1);
  const std::string round = round_text(plan, task);
  if (task.kind != TaskKind::collective) return fmt::format("{} {}{}", layer, what, round);
  return fmt::format("{} {} {}{}", layer, name(group.algorithm), what, round);
}

std::string round_text(const Plan& plan, const Task& task) {
  if (plan.rounds() == 1 || task.phase == Phase::update) return {};
  return fmt::format(", round {}", task.round);
}

std::string product_text(const Graph& graph, const Plan& plan, const Task& task) {
  std::string names;
  const bool multiplies = task.kind == TaskKind::compute && !is_sum(task.phase);
  if (!multiplies || task.phase == Phase::update) return names;
  for (const LayerId layer : plan.products().of(task.layer)) {
    names += names.empty() ? "" : ", ";
    names += graph[layer].name;
  }
  return names;
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
