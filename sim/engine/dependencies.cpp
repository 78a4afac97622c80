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

Dependencies::Dependencies(const Workload& workload) : period_(workload.period()), nodes_(period_) {
  for (const Dependency& d : workload.inside()) {
    ++nodes_[d.later()].waiting;
    ++nodes_[d.earlier()].count;
  }
  if (period_ == workload.size()) {
    fill_rows(workload);
    return;
  }
  std::vector<std::uint32_t> inside;
  inside.reserve(period_);
  for (const Node& node : nodes_) inside.push_back(node.count);
  for (const Dependency& d : workload.across()) ++nodes_[d.earlier()].count;
  fill_rows(workload);
  add_copies(workload, inside);
}

// Rows fill from their ends, so that each begins where it should when it is full: with those of the
// same period, then those of the next one.
void Dependencies::fill_rows(const Workload& workload) {
  std::uint32_t end = 0;
  for (Node& node : nodes_) {
    if (node.count > 1) node.row = end += node.count;
  }
  rows_.resize(end);
  const auto add = [&](ActivityId earlier, std::size_t later) {
    Node& node = nodes_[earlier()];
    (node.count == 1 ? node.row : rows_[--node.row]) = static_cast<std::uint32_t>(later);
  };
  const std::span<const Dependency> across = workload.across();
  for (std::size_t i = across.size(); i-- > 0;) add(across[i].earlier, across[i].later() + period_);
  const std::span<const Dependency> inside = workload.inside();
  for (std::size_t i = inside.size(); i-- > 0;) add(inside[i].earlier, inside[i].later());
}

// `inside`: by activity of a period, how many successors it has there; one of the last period has
// no others.
void Dependencies::add_copies(const Workload& workload, std::span<const std::uint32_t> inside) {
  const std::size_t size = workload.size(), last = size - period_;
  nodes_.reserve(size);
  for (std::size_t a = period_; a < 2 * period_; ++a) nodes_.push_back(nodes_[a - period_]);
  for (const Dependency& d : workload.across()) ++nodes_[period_ + d.later()].waiting;
  for (std::size_t a = 2 * period_; a < size; ++a) nodes_.push_back(nodes_[a - period_]);
  for (std::size_t a = 0; a < period_; ++a) {
    Node& node = nodes_[last + a];
    if (inside[a] == 1 && node.count > 1) node.row = rows_[node.row];
    node.count = inside[a];
  }
}

std::vector<ActivityId> find_cycle(const Workload& workload) {
  if (workload.in_order()) return {};
  const Dependencies left = never_ready(workload);
  // Each that is never ready waits for another such; going from one to the next must come round.
  std::vector<ActivityId> waits_for(workload.size());
  workload.for_each_dependency([&](ActivityId later, ActivityId earlier) {
    if (left.waiting(later()) == 0 || left.waiting(earlier()) == 0) return;
    if (!waits_for[later()].valid()) waits_for[later()] = earlier;
  });
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
