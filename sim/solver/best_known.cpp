#include "sim/solver/best_known.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/solver/restriction.h"

namespace strata {

bool BestKnown::fits(const Choices& choices) const {
  std::int64_t bytes = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) bytes += (*memory_->bytes)[v][choices[v]];
  return bytes <= memory_->limit;
}

bool BestKnown::offer(const Choices& choices, double seconds) {
  if (seconds == kInfinity || seconds > limit()) return false;
  if (memory_ != nullptr) {
    if (!fits(choices)) return false;
    for (std::size_t v = 0; v < choices.size(); ++v) seconds -= memory_->penalty[v][choices[v]];
  }
  const auto before = [](const Solution& a, const Solution& b) {
    return std::tie(a.seconds, a.choices) < std::tie(b.seconds, b.choices);
  };
  Solution found{choices, seconds, 0};
  const auto at = std::lower_bound(best_.begin(), best_.end(), found, before);
  if (at != best_.end() && at->choices == choices) return false;
  if (at == best_.end() && best_.size() == count_) return false;
  best_.insert(at, std::move(found));
  if (best_.size() > count_) best_.pop_back();
  return true;
}

double descend(const PairwiseModel& model, Choices& choices) {
  std::vector<double> costs;
  std::size_t unchanged = 0;
  for (std::size_t v = 0; unchanged < model.size(); v = (v + 1) % model.size()) {
    const auto variable = static_cast<std::uint32_t>(v);
    model.local_costs(variable, choices, costs);
    const auto best = std::min_element(costs.begin(), costs.end());
    if (*best < costs[choices[v]]) {
      choices[v] = static_cast<std::uint32_t>(best - costs.begin());
      unchanged = 0;
    }
    ++unchanged;
  }
  return model.tables().seconds(choices);
}

void offer_descent(const PairwiseModel& model, const std::vector<Choices>& names, Choices start,
                   BestKnown& known) {
  if (known.memory() != nullptr || known.count() > 1) {  // descent may leave what fits, or a rank
    known.offer(renamed(names, start), model.tables().seconds(start));
  }
  const double seconds = descend(model, start);
  const Choices end = renamed(names, start);
  if (!known.offer(end, seconds) || known.count() == 1) return;
  std::vector<double> costs;
  for (std::uint32_t v = 0; v < model.size(); ++v) {
    model.local_costs(v, start, costs);
    Choices changed = end;
    for (std::uint32_t c = 0; c < costs.size(); ++c) {
      if (c == start[v] || costs[c] == kInfinity) continue;
      changed[v] = names[v][c];
      known.offer(changed, seconds - costs[start[v]] + costs[c]);
    }
  }
}

}  // namespace strata
