#include "sim/study/case/cost_basis.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace strata {

std::vector<CostBasis> cost_basis(const Case& input, const Prediction& prediction) {
  std::map<std::tuple<std::string_view, Phase, CostSource>, double> seconds;
  double total = 0;
  for (std::size_t i = 0; i < prediction.costs.size(); ++i) {
    const Task& task = prediction.plan[TaskId(i)];
    const Cost& cost = prediction.costs[i];
    if (task.kind != TaskKind::compute || !task.layer.valid() || cost.seconds <= Seconds{})
      continue;
    const double time =
        static_cast<double>(prediction.plan.members(task.device)) * cost.seconds.value;
    seconds[{name(input.graph[task.layer].op), task.phase, cost.source}] += time;
    total += time;
  }
  std::vector<CostBasis> basis;
  basis.reserve(seconds.size());
  for (const auto& [key, time] : seconds) {
    const auto& [op, phase, source] = key;
    basis.push_back({std::string(op), phase, source, time / total});
  }
  std::stable_sort(basis.begin(), basis.end(),
                   [](const CostBasis& a, const CostBasis& b) { return a.share > b.share; });
  return basis;
}

}  // namespace strata
