#include "tests/metamorphic/anomaly.h"

#include <algorithm>
#include <cmath>

#include "sim/engine/engine.h"
#include "sim/simulate/plan_workload.h"

namespace strata::testing {
namespace {

Workload workload_of(const Answer& answer) {
  return build_workload(answer.found.plan, answer.input.cluster, answer.found.costs, answer.steps(),
                        answer.input.runtime)
      .workload;
}

}  // namespace

bool is_anomaly(const Answer& slower, const Answer& faster, double factor) {
  const Workload slow = workload_of(slower);
  Workload fast = workload_of(faster);
  if (slow.size() != fast.size()) return false;
  const auto scaled = [factor](Tick tick) {
    return static_cast<Tick>(std::llround(factor * static_cast<double>(tick)));
  };
  const ActivityTimes before = simulate(slow);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const ActivityId id(i);
    const bool flow = fast.kind(id) == ActivityKind::flow && slow.kind(id) == ActivityKind::flow;
    const Tick sooner = flow ? scaled(slow.latency(id)) - fast.latency(id) : 0;
    fast.set_not_before(id, scaled(before.start[i]) + std::max<Tick>(0, sooner));
  }
  const ActivityTimes after = simulate(fast);
  const Tick rounding = scaled(before.makespan) / 1'000'000;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    if (after.end[i] > scaled(before.end[i]) + rounding) return false;
  }
  return true;
}

}  // namespace strata::testing
