#include "sim/engine/dependencies.h"

#include <algorithm>

#include "sim/engine/engine.h"

namespace strata {
namespace {

// What is left when every activity without unfinished dependencies is taken away, again and again.
std::vector<std::uint32_t> never_ready(const Workload& workload) {
  const Successors successors(workload);
  std::vector<std::uint32_t> waiting = count_dependencies(workload);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t a = 0; a < waiting.size(); ++a) {
    if (waiting[a] == 0) ready.push_back(a);
  }
  while (!ready.empty()) {
    const std::uint32_t a = ready.back();
    ready.pop_back();
    for (std::uint32_t later : successors[a]) {
      if (--waiting[later] == 0) ready.push_back(later);
    }
  }
  return waiting;
}

}  // namespace

Successors::Successors(const Workload& workload) : offsets_(workload.size() + 1) {
  const std::span<const Dependency> dependencies = workload.dependencies();
  for (const Dependency& d : dependencies) ++offsets_[d.earlier() + 1];
  for (std::size_t a = 1; a < offsets_.size(); ++a) offsets_[a] += offsets_[a - 1];
  rows_.resize(dependencies.size());
  // The starts of the rows serve as cursors; afterwards each stands where the next row begins.
  for (const Dependency& d : dependencies) rows_[offsets_[d.earlier()]++] = d.later.value;
  std::copy_backward(offsets_.begin(), offsets_.end() - 1, offsets_.end());
  offsets_[0] = 0;
}

std::vector<std::uint32_t> count_dependencies(const Workload& workload) {
  std::vector<std::uint32_t> counts(workload.size());
  for (const Dependency& d : workload.dependencies()) ++counts[d.later()];
  return counts;
}

std::vector<ActivityId> find_cycle(const Workload& workload) {
  if (workload.in_order()) return {};
  const std::vector<std::uint32_t> waiting = never_ready(workload);
  // Each that is never ready waits for another such; going from one to the next must come round.
  std::vector<ActivityId> waits_for(workload.size());
  for (const Dependency& d : workload.dependencies()) {
    if (waiting[d.later()] == 0 || waiting[d.earlier()] == 0) continue;
    if (!waits_for[d.later()].valid()) waits_for[d.later()] = d.earlier;
  }
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](auto n) { return n > 0; });
  if (stuck == waiting.end()) return {};
  ActivityId at{static_cast<std::size_t>(stuck - waiting.begin())};
  for (std::size_t i = 0; i < workload.size(); ++i) at = waits_for[at()];
  std::vector<ActivityId> cycle = {at};
  for (at = waits_for[at()]; at != cycle.front(); at = waits_for[at()]) cycle.push_back(at);
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace strata
