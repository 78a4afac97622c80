#include "sim/search/score.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/flops.h"
#include "sim/case/rounds.h"
#include "sim/graph/regions.h"
#include "sim/plan/lower.h"

namespace strata {
namespace {

bool mixes_channels(const Graph& graph, LayerId consumer, std::size_t input) {
  const AccessMap map = access_map(graph, consumer, input);
  const std::int64_t channels = graph[graph[consumer].inputs[input]].output[Dim::c];
  return !map.row_major && needed(map.dims[Dim::c], {0, 1}, channels) == Interval{0, channels};
}

// Along a dim a part meets the parts that lie where it does; along the channels of a layer that
// mixes them, all.
double pairs(bool mixes, const Degrees& from, const Degrees& to) {
  double product = 1;
  for (Dim dim : kDims) {
    const double p = output_degrees(from)[dim], q = output_degrees(to)[dim];
    product *= dim == Dim::c && mixes ? p * q : std::max(p, q);
  }
  return product;
}

// Of a plan: these take about 100 MB and about 1 GB, with their simulation.
constexpr std::size_t kFewTasks = 100'000, kMostTasks = 1'000'000;
constexpr std::chrono::milliseconds kWait{10};

// Of many rounds a few are simulated, but of these schedules all. 0 where there are none.
double simulated_rounds(const Case& input, const Strategy& strategy) {
  constexpr double kFew = 16;
  double rounds = input.rounds;
  if (input.cut) {
    const std::int64_t groups = data_parallel_groups(input.graph, strategy);
    if (!divide_in_rounds(input, groups)) return 0;
    const std::int64_t whole = input.cut->batch / (input.cut->samples * groups);
    rounds = static_cast<double>(whole);
  }
  const ScheduleChoice& schedule = input.schedule;
  const bool all = !schedule.own.empty() || schedule.kind == ScheduleKind::gpipe;
  return all ? rounds : std::min(rounds, kFew);
}

}  // namespace

Scored score_simulated(const Case& input, const Strategy& strategy, CaseMemo* memo, bool memory,
                       const std::atomic<bool>* cancelled, std::size_t most_tasks) {
  PredictOptions options;
  options.most_tasks = most_tasks;
  options.devices = Simulated::one_of_each_class;
  options.all_steps = options.critical_path = options.eq1 = false;
  options.memory = memory;
  options.memo = memo;
  options.cancelled = cancelled;
  const Prediction p = predict(input, strategy, options);
  Scored scored{strategy, {}, p.step_seconds(), p.communication, {}};
  scored.work = p.plan.size() * (1 + p.timeline.steps()) / 2;
  if (memory) {
    scored.peak_memory = p.largest_peak();
    scored.fits = !shortage(input, p.peak_memory);
  }
  return scored;
}

Scored score_eq1(const Case& input, const Strategy& strategy, CaseMemo* memo,
                 const std::atomic<bool>* cancelled) {
  if (input.cut) return score_eq1(in_rounds(input, strategy), strategy, nullptr, cancelled);
  const std::vector<const CostModel*> models = cost_models(input);
  Eq1 eq1(input.graph, input.cluster, models, input.sync.algorithm, compute_settings(input),
          memo != nullptr ? &memo->lowering : nullptr);
  const auto terms = eq1.terms(with_recomputation(input, strategy), input.rounds, cancelled);
  return {strategy, total(terms), {}, {}, {}};
}

Scored Scores::of(const Choices& choices, bool memory, Flag cancelled) {
  {
    const std::lock_guard guard(lock_);
    const auto known = known_.find(choices);
    if (known != known_.end() && (known->second.memory || !memory)) return known->second.scored;
  }
  Scored scored = simulated(space_.strategy("", choices), memory, cancelled);
  scored.strategy = {};
  const std::lock_guard guard(lock_);
  Remembered& known = known_[choices];
  if (!known.memory) known = {std::move(scored), memory};
  return known.scored;
}

bool Scores::in_space(const Strategy& strategy) const {
  return strategy.segments().empty() && space_.choices(strategy).has_value();
}

Scores::Rounds& Scores::rounds_of(const Strategy& strategy) {
  const std::int64_t groups = input_.cut ? data_parallel_groups(input_.graph, strategy) : 0;
  {
    const std::lock_guard guard(lock_);
    const auto known = rounds_.find(groups);
    if (known != rounds_.end()) return *known->second;
  }
  auto made = std::make_unique<Rounds>(in_rounds(input_, groups));
  const std::lock_guard guard(lock_);
  return *rounds_.try_emplace(groups, std::move(made)).first->second;
}

Scored Scores::of(const Strategy& strategy, Flag cancelled) {
  if (!in_space(strategy)) return simulated(strategy, true, cancelled);
  Scored scored = of(*space_.choices(strategy), true, cancelled);
  scored.strategy = strategy;
  if (too_large(scored)) remember_nearest(scored);
  return scored;
}

Seconds Scores::eq1(const Strategy& strategy, Flag cancelled) {
  throw_if_cancelled(cancelled);
  Rounds& rounds = rounds_of(strategy);
  return score_eq1(rounds.cut, strategy, &rounds.memo, cancelled).eq1;
}

// Large plans one after another, so that what they take has a bound on any number of cores.
template <class Simulate>
auto Scores::in_turn(Flag cancelled, const Simulate& simulate) {
  try {
    return simulate(kFewTasks);
  } catch (const TooManyTasks&) {
  }
  std::unique_lock turn(turn_, std::defer_lock);
  while (!turn.try_lock_for(kWait)) throw_if_cancelled(cancelled);
  return simulate(kMostTasks);
}

Seconds Scores::eq1_by_class(const Strategy& strategy, Flag cancelled) {
  Rounds& rounds = rounds_of(strategy);
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  options.all_steps = options.critical_path = options.memory = false;
  options.cancelled = cancelled;
  options.memo = &rounds.memo;
  return in_turn(cancelled, [&](std::size_t most_tasks) {
    options.most_tasks = most_tasks;
    return predict(rounds.cut, strategy, options).eq1_seconds();
  });
}

std::vector<Choices> Scores::fastest(std::size_t most) const {
  std::vector<std::pair<Seconds, Choices>> all;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [choices, known] : known_) {
      if (known.scored.simulated() && fits(known.scored)) {
        all.emplace_back(known.scored.step, choices);
      }
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<Choices> fastest;
  for (const auto& [step, choices] : all) {
    if (fastest.size() < most) fastest.push_back(choices);
  }
  return fastest;
}

std::optional<Scored> Scores::nearest() const {
  const std::lock_guard guard(lock_);
  return nearest_;
}

bool Scores::too_large(const Scored& scored) const {
  if (!scored.has_peak()) return false;
  return memory_limit_ ? scored.peak_memory > *memory_limit_ : !scored.fits;
}

bool Scores::fits(const Scored& scored) const {
  return memory_limit_ == kAnyMemory || (scored.has_peak() && !too_large(scored));
}

Scored Scores::simulated(const Strategy& strategy, bool memory, Flag cancelled) {
  throw_if_cancelled(cancelled);
  try {
    Rounds& rounds = rounds_of(strategy);
    if (quick_to_simulate(rounds.cut, strategy)) {
      Scored scored = in_turn(cancelled, [&](std::size_t most_tasks) {
        return score_simulated(rounds.cut, strategy, &rounds.memo, memory, cancelled, most_tasks);
      });
      if (too_large(scored)) remember_nearest(scored);
      return scored;
    }
  } catch (const InputError&) {
  } catch (const TooManyTasks&) {
  }
  return {strategy, {}, {}, {}, {}};
}

// Of equally large ones the faster, and one that has a name: the same one, whatever came first.
void Scores::remember_nearest(const Scored& scored) {
  const auto order = [](const Scored& s) {
    const std::string& name = s.strategy.name();
    return std::tuple(s.peak_memory, s.step, name.empty(), name);
  };
  const auto precedes = [&](const Scored& a, const Scored& b) {
    if (order(a) != order(b)) return order(a) < order(b);
    return std::ranges::lexicographical_compare(a.strategy.configs(), b.strategy.configs());
  };
  const std::lock_guard guard(lock_);
  if (!nearest_ || precedes(scored, *nearest_)) nearest_ = scored;
}

CaseResult result_of(const Case& input, const Scored& scored) {
  CaseResult result = result_of(input);
  result.strategy = scored.strategy.name();
  if (scored.has_eq1()) result.eq1_seconds = scored.eq1.value;
  if (!scored.simulated()) return result;
  add_step(scored.step, scored.communication, scored.peak_memory, result);
  add_flops(input, scored.strategy, result);
  result.fits = scored.fits;
  return result;
}

bool cut_alike(const Graph& graph, const Strategy& a, const Strategy& b) {
  if (a.segments() != b.segments()) return false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (!is_input(graph[layer].op) && a[layer] != b[layer]) return false;
  }
  return true;
}

bool quick_to_simulate(const Case& input, const Strategy& strategy, double most_pairs) {
  const Graph& graph = input.graph;
  double sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId consumer(i);
    for (std::size_t k = 0; k < graph[consumer].inputs.size(); ++k) {
      const LayerId producer = graph[consumer].inputs[k];
      const bool mixes = mixes_channels(graph, consumer, k);
      sum += pairs(mixes, strategy[producer].degrees, strategy[consumer].degrees);
    }
  }
  return sum * simulated_rounds(input, strategy) <= most_pairs;
}

}  // namespace strata
