// The case's search: its answer and its bounds beside strategies of its space.

#include <fmt/format.h>

#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/cost/eq1.h"
#include "sim/graph/regions.h"
#include "sim/search/memory_floor.h"
#include "sim/search/outsiders.h"
#include "sim/search/solve.h"
#include "sim/search/step_bound.h"
#include "sim/strategy/search_space.h"
#include "tests/metamorphic/relation.h"

namespace strata::testing {
namespace {

constexpr double kOfSums = 1e-9;
constexpr std::size_t kMostConfigs = 4'000;  // of all layers

SearchOptions powers_of_two() {
  SearchOptions options;
  options.degrees = DegreeSet::pow2;
  return options;
}

Choices drawn_choices(Random& random, const SearchSpace& space) {
  Choices choices;
  for (std::size_t v = 0; v < space.size(); ++v) {
    choices.push_back(static_cast<std::uint32_t>(random() % space[v].cuts->size()));
  }
  return choices;
}

std::size_t configs(const SearchSpace& space) {
  std::size_t sum = 0;
  for (std::size_t v = 0; v < space.size(); ++v) sum += space[v].cuts->size();
  return sum;
}

/// A strategy of the space, with what is predicted of it.
struct Known {
  Choices choices;
  Prediction found;
};
Known drawn_strategy(Trial& trial, const Case& input, const SearchSpace& space) {
  Choices choices = drawn_choices(trial.random, space);
  PredictOptions options;
  options.steps = 4;
  Prediction found = predict(input, space.strategy("drawn", choices), options);
  return {std::move(choices), std::move(found)};
}

// The case, where its space is small and its batch is not cut in time; else null.
const Case* searched(Trial& trial, const SearchSpace& space) {
  if (configs(space) > kMostConfigs || trial.input().cut) return nullptr;
  return &trial.input();
}

void bounds_lie_below_steps(Trial& trial) {
  const SearchSpace space(trial.input().graph, trial.input().cluster, powers_of_two());
  const Case* const input = searched(trial, space);
  if (input == nullptr) return;
  trial.applies();
  const StepBound bound(*input, space);
  const Known known = drawn_strategy(trial, *input, space);
  const double step = known.found.step.value * (1 + kOfSums);
  trial.expect(bound.of(known.choices).value <= step, [&] {
    return fmt::format("a bound of {} s of a strategy of {} s", bound.of(known.choices).value,
                       known.found.step.value);
  });
  trial.expect(bound.least().value <= step, [&] {
    return fmt::format("a bound of {} s of a space with a strategy of {} s", bound.least().value,
                       known.found.step.value);
  });
}

void floors_lie_below_peaks(Trial& trial) {
  const SearchSpace space(trial.input().graph, trial.input().cluster, powers_of_two());
  const Case* const input = searched(trial, space);
  if (input == nullptr) return;
  trial.applies();
  const auto floor = memory_floor(*input, space);
  const Known known = drawn_strategy(trial, *input, space);
  std::int64_t least = 0;
  for (std::size_t v = 0; v < space.size(); ++v) least += floor[v][known.choices[v]];
  trial.expect(Bytes{least} <= known.found.peak_memory.front(), [&] {
    return fmt::format("a floor of {} bytes under a peak of {}", least,
                       known.found.peak_memory.front().value);
  });
}

// The tables that a search adds up, and the terms that a prediction says.
void tables_say_what_terms_say(Trial& trial) {
  const SearchSpace space(trial.input().graph, trial.input().cluster, powers_of_two());
  const Case* const input = searched(trial, space);
  if (input == nullptr) return;
  trial.applies();
  const CostTables tables = eq1_tables(*input, space, {1, nullptr, TableDetail::exact});
  const Known known = drawn_strategy(trial, *input, space);
  trial.expect_near(tables.seconds(known.choices), known.found.eq1_seconds().value,
                    "Eq. 1 by tables and by terms");
}

void answers_are_the_best_that_fit(Trial& trial) {
  const SearchSpace space(trial.input().graph, trial.input().cluster, powers_of_two());
  if (configs(space) > kMostConfigs / 4) return;
  trial.applies();
  SolveOptions options;
  options.space = powers_of_two();
  options.evaluations = 20;
  options.limits.threads = 1;
  const Solved found = solve(trial.input(), options);
  for (const Scored& best : found.best) {
    trial.expect(best.fits && best.simulated() && best.has_peak(),
                 [] { return "an answer that does not fit, or was not simulated"; });
    trial.expect(found.outside || found.lower_bound.value <= best.step.value * (1 + kOfSums), [&] {
      return fmt::format("a bound of {} s above an answer of {} s", found.lower_bound.value,
                         best.step.value);
    });
    PredictOptions by_class;
    by_class.devices = Simulated::one_of_each_class;
    trial.expect_near(predict(trial.input(), best.strategy, by_class).step.value, best.step.value,
                      "step of an answer, and predicted", 1e-8);
  }
  if (trial.input().cut) return;
  const Known known = drawn_strategy(trial, trial.input(), space);
  if (shortage(trial.input(), known.found.peak_memory)) return;
  trial.expect(found.lower_bound.value <= known.found.step.value * (1 + kOfSums), [&] {
    return fmt::format("a bound of {} s above a strategy of {} s", found.lower_bound.value,
                       known.found.step.value);
  });
  const bool proved = found.optimal && !found.best.empty();
  trial.expect(!proved || found.best.front().step.value <= known.found.step.value * (1 + 2e-6),
               [&] {
                 return fmt::format("a proved optimum of {} s beside a strategy of {} s",
                                    found.best.front().step.value, known.found.step.value);
               });
}

constexpr Relation kSearchRelations[] = {
    {"bounds lie below steps", bounds_lie_below_steps, 4, true},
    {"floors lie below peaks", floors_lie_below_peaks, 4, true},
    {"tables say what terms say", tables_say_what_terms_say, 4, true},
    {"answers are the best that fit", answers_are_the_best_that_fit, 20, true},
};

}  // namespace

std::span<const Relation> search_relations() {
  return kSearchRelations;
}

}  // namespace strata::testing
