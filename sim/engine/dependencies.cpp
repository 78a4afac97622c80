#include "sim/engine/dependencies.h"

#include <algorithm>

#include "sim/engine/engine.h"

namespace strata {
namespace {

// What is left when every activity without unfinished dependencies is taken away, again and again.
Dependencies never_ready(const Workload& workload) {
  Dependencies left(workload);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t a = 0; a < left.size(); ++a) {
    if (left.waiting(a) == 0) ready.push_back(a);
  }
  while (!ready.empty()) {
    const std::uint32_t a = ready.back();
    ready.pop_back();
    for (std::uint32_t later : left.successors(a)) {
      if (left.release(later) == 0) ready.push_back(later);
    }
  }
  return left;
}

}  // namespace

Dependencies::Dependencies(const Workload& workload) : nodes_(workload.size()) {
  for (const Dependency& d : workload.dependencies()) {
    ++nodes_[d.later()].waiting;
    ++nodes_[d.earlier()].count;
  }
  std::uint32_t end = 0;
  for (Node& node : nodes_) {
    if (node.count > 1) node.row = end += node.count;
  }
  rows_.resize(end);
  // Rows fill from their ends, so that each begins where it should when it is full.
  const std::span<const Dependency> dependencies = workload.dependencies();
  for (std::size_t i = dependencies.size(); i-- > 0;) {
    const Dependency& d = dependencies[i];
    Node& node = nodes_[d.earlier()];
    (node.count == 1 ? node.row : rows_[--node.row]) = d.later.value;
  }
}

std::vector<ActivityId> find_cycle(const Workload& workload) {
  if (workload.in_order()) return {};
  const Dependencies left = never_ready(workload);
  // Each that is never ready waits for another such; going from one to the next must come round.
  std::vector<ActivityId> waits_for(workload.size());
  for (const Dependency& d : workload.dependencies()) {
    if (left.waiting(d.later()) == 0 || left.waiting(d.earlier()) == 0) continue;
    if (!waits_for[d.later()].valid()) waits_for[d.later()] = d.earlier;
  }
  std::size_t stuck = 0;
  while (stuck < left.size() && left.waiting(stuck) == 0) ++stuck;
  if (stuck == left.size()) return {};
  ActivityId at{stuck};
  for (std::size_t i = 0; i < workload.size(); ++i) at = waits_for[at()];
  std::vector<ActivityId> cycle = {at};
  for (at = waits_for[at()]; at != cycle.front(); at = waits_for[at()]) cycle.push_back(at);
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace strata
