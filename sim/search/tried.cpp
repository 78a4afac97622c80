#include "sim/search/tried.h"

#include <algorithm>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/case/eq1_tables.h"
#include "sim/search/keep.h"
#include "sim/search/outsiders.h"

namespace strata {

void TriedStrategies::add(const std::vector<Strategy>& strategies, Flag cancelled) {
  for (Scored& each : simulated(strategies, cancelled)) all_.push_back(std::move(each));
}

void TriedStrategies::add_fitting(std::vector<Strategy> strategies, Flag cancelled) {
  std::erase_if(strategies, [&](const Strategy& strategy) {
    return !keeps(strategy, options_.kept) ||
           !parameters_fit(input_, strategy, options_.memory_limit);
  });
  for (Scored& each : simulated(strategies, cancelled)) {
    if (each.simulated() && scores_.fits(each)) all_.push_back(std::move(each));
  }
  throw_if_cancelled(cancelled);
}

void TriedStrategies::add_outsiders(Flag cancelled) {
  if (input_.cut) add_fitting(pipelines(input_, Recompute::none), cancelled);
  if (options_.memory_limit == kAnyMemory || !of_tokens(input_.graph)) return;
  if (!any_fits() && !input_.cut) add_fitting(pipelines(input_, Recompute::none), cancelled);
  if (!any_fits() && input_.recompute == Recompute::none) {
    add_fitting(pipelines(input_, Recompute::full), cancelled);
  }
}

void TriedStrategies::add_eq1(Flag cancelled) {
  parallel_for(all_.size(), options_.limits.threads,
               [&](std::size_t i, unsigned) { add_eq1(all_[i], cancelled); });
}

bool TriedStrategies::any_fits() const {
  return std::ranges::any_of(all_, [&](const Scored& each) {
    return each.simulated() && scores_.fits(each) && keeps(each.strategy, options_.kept);
  });
}

std::vector<Scored> TriedStrategies::simulated(const std::vector<Strategy>& strategies,
                                               Flag cancelled) {
  std::vector<Scored> scored(strategies.size());
  parallel_for(scored.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
    scored[i].strategy = strategies[i];
    if (options_.simulate) simulate(scored[i], cancelled);
  });
  return scored;
}

void TriedStrategies::simulate(Scored& scored, Flag cancelled) try {
  scored = scores_.of(scored.strategy, cancelled);
} catch (const Cancelled&) {
}

void TriedStrategies::add_eq1(Scored& scored, Flag cancelled) try {
  if (scored.has_eq1()) return;
  if (routes_fit(input_.cluster)) {
    scored.eq1 = scores_.eq1(scored.strategy, cancelled);
  } else if (scored.simulated()) {
    scored.eq1 = scores_.eq1_by_class(scored.strategy, cancelled);
  }
} catch (const Cancelled&) {
}

}  // namespace strata
