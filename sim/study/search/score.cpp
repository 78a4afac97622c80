#include "sim/study/search/score.h"

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "sim/study/case/eq1_tables.h"
#include "sim/study/case/flops.h"
#include "sim/study/case/rounds.h"

namespace strata {
namespace {

bool mixes_channels(const Layer& consumer, const Extents& input) {
  const AccessMap map = access_map(consumer.op, {input, consumer.output});
  const std::int64_t channels = input[Dim::c];
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

Scored score_simulated(const Case& input, const Strategy& strategy, CaseMemo* memo, bool memory) {
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  options.all_steps = options.critical_path = options.eq1 = false;
  options.memory = memory;
  options.memo = memo;
  const Prediction p = predict(input, strategy, options);
  Scored scored{strategy, {}, p.step_seconds(), p.communication, {}};
  scored.work = p.plan.size() * (1 + p.timeline.steps()) / 2;
  if (memory) {
    scored.peak_memory = p.largest_peak();
    scored.fits = !shortage(input, p.peak_memory);
  }
  return scored;
}

Scored score_eq1(const Case& input, const Strategy& strategy, CaseMemo* memo) {
  if (input.cut) return score_eq1(in_rounds(input, strategy), strategy);
  const std::vector<const CostModel*> models = cost_models(input);
  Eq1 eq1(input.graph, input.cluster, models, input.sync.algorithm, input.dtypes,
          memo != nullptr ? &memo->lowering : nullptr);
  const auto terms = eq1.terms(with_recomputation(input, strategy), input.rounds);
  return {strategy, total(terms), {}, {}, {}};
}

Scored Scores::of(const Choices& choices, bool memory) {
  {
    const std::lock_guard guard(lock_);
    const auto known = known_.find(choices);
    if (known != known_.end() && (known->second.memory || !memory)) return known->second.scored;
  }
  Scored scored = simulated(space_.strategy("", choices), memory);
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

Scored Scores::of(const Strategy& strategy) {
  if (!in_space(strategy)) return simulated(strategy, true);
  Scored scored = of(*space_.choices(strategy), true);
  scored.strategy = strategy;
  return scored;
}

Scored Scores::with_eq1(Scored scored) {
  Rounds& rounds = rounds_of(scored.strategy);
  scored.eq1 = score_eq1(rounds.cut, scored.strategy, &rounds.memo).eq1;
  return scored;
}

bool Scores::contains(const Choices& choices) const {
  const std::lock_guard guard(lock_);
  return known_.contains(choices);
}

bool Scores::too_large(const Scored& scored) const {
  if (!scored.has_peak()) return false;
  return memory_limit_ ? scored.peak_memory > *memory_limit_ : !scored.fits;
}

bool Scores::fits(const Scored& scored) const {
  return memory_limit_ == kAnyMemory || (scored.has_peak() && !too_large(scored));
}

Scored Scores::simulated(const Strategy& strategy, bool memory) {
  try {
    Rounds& rounds = rounds_of(strategy);
    if (quick_to_simulate(rounds.cut, strategy)) {
      return score_simulated(rounds.cut, strategy, &rounds.memo, memory);
    }
  } catch (const InputError&) {
  }
  return {strategy, {}, {}, {}, {}};
}

CaseResult result_of(const Case& input, const Scored& scored) {
  CaseResult result = result_of(input);
  result.strategy = scored.strategy.name();
  result.eq1_seconds = scored.eq1.value;
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
    for (LayerId producer : graph[consumer].inputs) {
      const bool mixes = mixes_channels(graph[consumer], graph[producer].output);
      sum += pairs(mixes, strategy[producer].degrees, strategy[consumer].degrees);
    }
  }
  return sum * simulated_rounds(input, strategy) <= most_pairs;
}

}  // namespace strata
