#include "sim/plan/plan.h"

#include <algorithm>

#include "sim/plan/work_kind.h"

namespace strata {

Bytes Plan::assembled(TaskId id) const {
  const auto less = [](const auto& entry, TaskId task) { return entry.first < task; };
  const auto at = std::lower_bound(assembled_.begin(), assembled_.end(), id, less);
  return at != assembled_.end() && at->first == id ? at->second : Bytes{};
}

Communication communication(const Plan& plan) {
  Communication sum;
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer) continue;
    const Bytes bytes = plan.transfers()[task.detail].bytes;
    (work_kind(task) == WorkKind::sync ? sum.sync : sum.transfer) += bytes;
  }
  for (const Group& group : plan.groups()) {
    const auto replicas = static_cast<std::int64_t>(group.tasks.size());
    const Bytes bytes = 2 * (replicas - 1) * group.bytes;
    (group.purpose == GroupPurpose::parameters ? sum.sync : sum.statistics) += bytes;
  }
  return sum;
}

}  // namespace strata
