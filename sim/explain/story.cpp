#include "sim/explain/story.h"

#include <algorithm>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/search/least_step.h"
#include "sim/search/memory_floor.h"

namespace strata {
namespace {

// Of rivals, which are simulated with all their steps.
constexpr double kCheapPairs = kMostPairs / 10;

Prediction predicted(const Case& input, const Strategy& strategy, CaseMemo& memo) {
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  options.all_rounds = true;  // which the path goes through
  options.memo = &memo;
  return predict(input, strategy, options);
}

Exposures exposures_of(const Case& input, const Prediction& of) {
  Exposures found = exposures(input.graph, of.plan, of.timeline, of.path_steps);
  std::stable_sort(found.parts.begin(), found.parts.end(),
                   [](const Exposure& a, const Exposure& b) { return a.exposed > b.exposed; });
  return found;
}

void add_busiest(const Case& input, const Prediction& p, Story& story) {
  const Utilisation use =
      utilisation(p.plan, p.timeline, input.cluster, p.step_seconds(), p.repeated);
  const auto device = std::max_element(use.devices.begin(), use.devices.end());
  const DeviceId d(static_cast<std::size_t>(device - use.devices.begin()));
  story.device = {input.cluster[d].full_name(), *device};
  const auto link = std::max_element(use.links.begin(), use.links.end());
  if (link == use.links.end() || *link <= 0) return;
  const LinkId l(static_cast<std::size_t>(link - use.links.begin()));
  story.link = Busiest{input.cluster[l].name, *link};
}

Strategy best_under_eq1(const Case& input, const SearchOptions& space, const SolveLimits& limits) {
  SolveOptions options;
  options.space = space;
  options.objective = Objective::eq1;
  options.simulate = false;
  options.limits = limits;
  return best_strategy(input, options);
}

std::vector<Strategy> rivals_of(const Case& input, const SearchOptions& space,
                                const Strategy& strategy, const SolveLimits& limits) {
  std::vector<Strategy> all = baselines(input);
  const Case of_rounds = in_largest_rounds(input);
  if (eq1_tables_fit(of_rounds, {of_rounds.graph, of_rounds.cluster, space})) {
    all.push_back(best_under_eq1(input, space, limits));
  }
  std::vector<Strategy> others;
  for (Strategy& each : all) {
    const auto same = [&](const Strategy& s) { return cut_alike(input.graph, s, each); };
    if (same(strategy) || std::any_of(others.begin(), others.end(), same)) continue;
    if (quick_to_simulate(input, each, kCheapPairs)) others.push_back(std::move(each));
  }
  return others;
}

std::string shortage_of(const Case& input, const Prediction& prediction) {
  const std::optional<Shortage> found = shortage(input, prediction.peak_memory);
  return found ? shortage_text(input, *found) : "";
}

// Nothing where a link is too slow for the simulation's clock.
std::optional<Rival> rival(const Case& input, const Strategy& strategy, CaseMemo& memo) try {
  const Prediction p = predicted(input, strategy, memo);
  return Rival{strategy,
               p.step_seconds(),
               p.eq1_seconds(),
               p.path,
               exposures_of(input, p).all,
               p.largest_peak(),
               shortage_of(input, p).empty(),
               shortage_of(input, p),
               p.plan.size(),
               {}};
} catch (const InputError&) {
  return std::nullopt;
}

Bytes least_memory(const Case& input, const SearchSpace& space) {
  std::int64_t least = 0;
  for (const auto& choices : memory_floor(input, space)) {
    least += *std::min_element(choices.begin(), choices.end());
  }
  return {least};
}

}  // namespace

Story tell(const Case& input, const CaseRequest& request, const SearchOptions& space,
           const Strategy& strategy, const SolveLimits& limits) {
  CaseMemo memo(input);
  const Prediction p = predicted(input, strategy, memo);
  Story story;
  story.strategy = strategy;
  story.step = p.step_seconds();
  story.eq1 = p.eq1_seconds();
  story.path = p.path;
  story.parts = breakdown(p.plan, p.timeline).mean;
  story.exposures = exposures_of(input, p);
  story.peak_memory = p.largest_peak();
  story.shortage = shortage_of(input, p);
  story.fits = story.shortage.empty();
  add_busiest(input, p, story);
  const SearchSpace searched(input.graph, input.cluster, space);
  story.lower_bound = least_step(input, space, {}, limits);
  if (!story.fits) {
    story.least_memory = least_memory(input, searched);
    story.capacity = capacity_of_floor(input);
  }

  std::vector<Contender> others;
  for (const Strategy& each : rivals_of(input, space, strategy, limits)) {
    throw_if_cancelled(limits.cancelled);
    std::optional<Rival> found = rival(input, each, memo);
    if (!found) continue;
    others.push_back({each, found->step, found->work});
    story.rivals.push_back(std::move(*found));
  }
  const Contender own{strategy, story.step, p.plan.size()};
  const BreakEvens found = break_evens(input, request, own, others, limits.cancelled);
  for (std::size_t k = 0; k < others.size(); ++k) story.rivals[k].turns = found.turns[k];
  story.all_tried = found.all_tried;
  std::stable_sort(story.rivals.begin(), story.rivals.end(),
                   [](const Rival& a, const Rival& b) { return a.step < b.step; });
  return story;
}

}  // namespace strata
