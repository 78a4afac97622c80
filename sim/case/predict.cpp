#include "sim/case/predict.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sim/base/error.h"
#include "sim/base/quantile.h"
#include "sim/case/few_rounds.h"
#include "sim/case/flops.h"
#include "sim/case/repeated_rounds.h"
#include "sim/case/rounds.h"
#include "sim/plan/bytes_moved.h"
#include "sim/plan/lower.h"
#include "sim/simulate/jitter.h"
#include "sim/step/layer_counts.h"
#include "sim/strategy/stages.h"
#include "sim/timeline/memory.h"

namespace strata {

namespace {

// `few`: rounds, of which others repeat what they do.
SteadyStep simulated(const Case& input, const Prediction& prediction, const PredictOptions& options,
                     bool few) {
  const Plan& plan = prediction.plan;
  if (!options.all_steps && !options.record_link_rates) {
    return simulate_steady(plan, input.cluster, prediction.costs, options.steps, input.runtime, few,
                           options.cancelled);
  }
  Timeline timeline = simulate(plan, input.cluster, prediction.costs, options.steps, input.runtime,
                               options.record_link_rates, options.cancelled);
  const Seconds step = timeline.step_seconds(), makespan = timeline.makespan();
  return {std::move(timeline), step, makespan};
}

// What the simulation finds wrong with a case knows no names.
void simulate_case(const Case& input, const PredictOptions& options, bool few,
                   Prediction& prediction) try {
  SteadyStep steady = simulated(input, prediction, options, few);
  prediction.timeline = std::move(steady.timeline);
  prediction.step = steady.seconds;
  prediction.makespan = steady.makespan;
  if (prediction.step.value > 0) return;
  throw InputError("a step takes no time; allowed: a network with a layer that computes");
} catch (InputError& error) {
  error.add_context(fmt::format("{} on {}, strategy {}", input.graph.name(), input.cluster.name(),
                                prediction.strategy.name()));
  throw;
}

std::vector<Bytes> peaks_of_all(const Plan& plan, const Timeline& timeline) {
  std::vector<Bytes> peaks = peak_memory(plan, timeline);
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    peaks[d] = peaks[plan.representative(DeviceId(d))()];
  }
  return peaks;
}

void add_shares(const CostSources& sources, CaseResult& result) {
  const double total = sources.total().value;
  if (total == 0) return;
  result.measured_share = sources.measured.value / total;
  result.interpolated_share = (sources.interpolated + sources.related).value / total;
  result.analytic_share = sources.analytic.value / total;
}

// Equal cost models have equal numbers.
std::vector<std::uint32_t> numbered(std::span<const CostModel* const> models) {
  std::map<const CostModel*, std::uint32_t> numbers;
  std::vector<std::uint32_t> result;
  for (const CostModel* model : models) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    result.push_back(numbers.try_emplace(model, next).first->second);
  }
  return result;
}

}  // namespace

Plan lower_to_run(const Case& input, const Strategy& strategy) {
  if (input.sync.updates_on_host()) {
    throw InputError(
        "`offload` optimizer is predicted only: a run keeps the optimizer on its devices; allowed: "
        "`offload` none");
  }
  if (kernels_of(input).updates_wait()) {
    throw InputError(
        "`set` gradient.clip=norm and gradient.unscale=pass are predicted only: a run does "
        "neither; "
        "allowed: `set` gradient.clip=off and gradient.unscale=none");
  }
  if (input.products == Products::merged) {
    throw InputError(
        "`set` products=merged is predicted only: a run computes products apart; allowed: `set` "
        "products=apart");
  }
  LowerOptions options;
  options.sync = input.sync;
  options.dtypes = fp32_parameters(input.dtypes.values);
  options.optimizer = input.optimizer;
  options.rounds = input.rounds;
  options.schedule = input.schedule;
  options.max_flows_per_edge = std::numeric_limits<std::size_t>::max();
  return lower(input.graph, input.cluster, with_recomputation(input, strategy), options);
}

JitteredSteps predict_jitter(const Case& input, const Prediction& prediction,
                             const Jitter& jitter) {
  // Each device draws its own, and in each round.
  if (prediction.plan.classes() != nullptr || prediction.plan.rounds() < prediction.rounds) {
    PredictOptions options;
    options.steps = 1;
    options.critical_path = options.eq1 = false;
    return predict_jitter(input, predict(input, prediction.strategy, options), jitter);
  }
  const std::vector<Cost> drawn = drawn_costs(prediction.costs, jitter.steps, jitter.seed);
  const Timeline timeline =
      simulate(prediction.plan, input.cluster, drawn, jitter.steps, input.runtime);
  std::vector<double> times;
  for (Seconds time : timeline.step_intervals(timeline.steady_window())) {
    times.push_back(time.value);
  }
  if (times.empty()) times.push_back(timeline.step_seconds().value);
  std::sort(times.begin(), times.end());
  return {{quantile(times, 0.5)}, {quantile(times, 0.95)}};
}

namespace {

// Whose strategy an error is about, where there are several.
template <class Work>
auto named(const Strategy& strategy, const Work& work) -> decltype(work()) try {
  return work();
} catch (InputError& error) {
  error.add_context(fmt::format("strategy {}", strategy.name()));
  throw;
}

// What lowering a plan of a million tasks frees in small pieces is a good part of the plan's size,
// and a simulation asks for large ones.
void give_back_freed_memory(const Plan& plan) {
#ifdef __GLIBC__
  constexpr std::size_t kMany = 500'000;  // tasks
  if (plan.size() > kMany) malloc_trim(0);
#else
  static_cast<void>(plan);
#endif
}

// Of a case in rounds: of so many of these.
Prediction predict_rounds(const Case& input, const Strategy& strategy, std::uint32_t rounds,
                          const PredictOptions& options, CaseMemo& memo) {
  std::vector<const CostModel*> models;
  for (const auto& model : input.models) models.push_back(model.get());
  LowerOptions lowering;
  lowering.sync = input.sync;
  lowering.dtypes = input.dtypes;
  lowering.optimizer = input.optimizer;
  lowering.gathers_again = input.gathers_again;
  lowering.exchanges = input.exchanges;
  lowering.rounds = rounds;
  lowering.schedule = input.schedule;
  lowering.products = input.products;
  for (const CostModel* model : models) lowering.kernels.push_back(model->kernels());
  lowering.memo = &memo.lowering;
  lowering.cancelled = options.cancelled;
  lowering.most_tasks = options.most_tasks;

  Prediction result;
  result.strategy = strategy;
  result.rounds = rounds;
  std::vector<LayerCounts> counts;
  result.plan = named(strategy, [&] {
    const Step step = make_step(input.graph, strategy, step_options(lowering));
    counts = count_actions(input.graph, step);
    return options.devices == Simulated::all_devices
               ? lower(input.graph, input.cluster, strategy, step, lowering)
               : lower_by_class(input.graph, input.cluster, strategy, step, lowering,
                                numbered(models));
  });
  give_back_freed_memory(result.plan);
  result.costs = task_costs(result.plan, input.graph, strategy, memo.costs, models);
  simulate_case(input, options, rounds < input.rounds, result);
  if (options.eq1) {
    Eq1 eq1(input.graph, input.cluster, models, input.sync.algorithm, compute_settings(input),
            &memo.lowering, result.plan.classes());
    result.terms = eq1.terms(strategy, counts, input.rounds, options.cancelled);
  }
  result.communication = named(strategy, [&] { return communication(result.plan); });
  result.sources = cost_sources(result.plan, result.costs);
  if (options.memory) result.peak_memory = peaks_of_all(result.plan, result.timeline);
  if (options.breakdown) result.breakdown = breakdown(result.plan, result.timeline);
  return result;
}

// Stages that are nearly as fast drift apart for hundreds of rounds: then very many tasks are not
// worth what that changes.
double tolerance(const Plan& few, std::uint32_t rounds) {
  constexpr double kMany = 0.5e6;  // tasks
  const double tasks = static_cast<double>(few.size()) * rounds / few.rounds();
  return tasks > kMany ? 1e-4 : 1e-9;
}

// The rounds that were not simulated, as many periods in the middle of the step.
void add_periods(const RoundPeriod& period, std::uint32_t rounds, const PredictOptions& options,
                 Prediction& few) {
  const Plan& plan = few.plan;
  const double times = static_cast<double>(rounds - plan.rounds()) / period.rounds;
  const Rounds repeated = repeated_rounds(plan, period);
  const SteadyTime window{period.from, period.from + period.time, 1};
  few.rounds = rounds;
  few.repeated = {repeated, times};
  few.step += times * period.time;
  few.makespan += static_cast<double>(options.steps) * times * period.time;
  const auto periods = static_cast<std::int64_t>(times);
  const Communication more = communication(plan, repeated);
  named(few.strategy, [&] {
    add_moved(more.transfer, periods, few.communication.transfer);
    add_moved(more.sync, periods, few.communication.sync);
    add_moved(more.statistics, periods, few.communication.statistics);
  });
  const CostSources costs = cost_sources(plan, few.costs, repeated);
  few.sources.measured += times * costs.measured;
  few.sources.interpolated += times * costs.interpolated;
  few.sources.related += times * costs.related;
  few.sources.analytic += times * costs.analytic;
  if (options.breakdown) add(breakdown(plan, few.timeline, window), times, few.breakdown);
  if (!options.critical_path) return;
  const PathShares shares = path_shares(plan, few.timeline, few.path_steps, window);
  few.path.compute += times * shares.compute;
  few.path.transfer += times * shares.transfer;
  few.path.sync += times * shares.sync;
  few.path.statistics += times * shares.statistics;
  few.path.idle += times * shares.idle;
}

}  // namespace

Strategy with_recomputation(const Case& input, const Strategy& strategy) {
  const Segments asked = !strategy.segments().empty()
                             ? strategy.segments()
                             : segments(input.graph, input.recompute, kernels_of(input));
  if (asked.empty()) return strategy;
  return strategy.with(within_chunks(input.graph, stages_of(input.graph, strategy), asked));
}

Prediction predict(const Case& input, const Strategy& asked, const PredictOptions& options) {
  if (input.cut) {
    PredictOptions of_rounds = options;
    of_rounds.memo = nullptr;  // of another graph
    return predict(named(asked, [&] { return in_rounds(input, asked); }), asked, of_rounds);
  }
  const Strategy strategy = with_recomputation(input, asked);
  std::optional<CaseMemo> own;
  CaseMemo& memo = options.memo != nullptr ? *options.memo : own.emplace(input);
  const auto with_path = [&](Prediction&& result) {
    if (options.critical_path) {
      result.path_steps = critical_path(result.plan, result.timeline);
      result.path = path_shares(result.plan, result.timeline, result.path_steps);
    }
    return std::move(result);
  };
  if (options.devices == Simulated::one_of_each_class && !options.all_rounds && input.rounds > 1) {
    const std::optional<FewRounds> few = few_rounds(input, strategy, memo.costs);
    for (std::uint32_t least = few ? few->least : input.rounds; 3 * least < 2 * input.rounds;
         least *= 2) {
      std::uint32_t period = few->period;
      // A period that was found may ask for some rounds more.
      for (int tries = 0; tries < 2; ++tries) {
        const std::uint32_t rounds = least + (input.rounds - least) % period;
        Prediction found = with_path(predict_rounds(input, strategy, rounds, options, memo));
        const double most = tolerance(found.plan, input.rounds);
        const auto repeated = steady_period(input, found, few->step, most);
        if (!repeated) break;
        period = repeated->rounds;
        if ((input.rounds - rounds) % period != 0) continue;
        add_periods(*repeated, input.rounds, options, found);
        return found;
      }
    }
  }
  return with_path(predict_rounds(input, strategy, input.rounds, options, memo));
}

// Devices that share a model share the changed one.
std::optional<Shortage> shortage(const Case& input, std::span<const Bytes> peaks) {
  std::optional<Shortage> worst;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const Bytes capacity = memory_capacity(input, DeviceId(i));
    if (peaks[i] <= capacity) continue;
    const bool lacks_more = !worst || peaks[i] - capacity > worst->needed - worst->capacity;
    if (lacks_more) worst = {DeviceId(i), peaks[i], capacity};
  }
  return worst;
}

std::string shortage_text(const Case& input, const Shortage& shortage) {
  const Device& device = input.cluster[shortage.device];
  const bool as_kind = !device.memory && device.memory_reserve == Bytes{};
  return fmt::format("{} needs {} of memory, {} has {}{}", device.name,
                     format_bytes(shortage.needed), as_kind ? device.kind : "it",
                     format_bytes(shortage.capacity),
                     device.memory_reserve > Bytes{} ? " beside its reserve" : "");
}

CaseResult result_of(const Case& input) {
  CaseResult result;
  result.model = input.graph.name();
  result.cluster = input.cluster.name();
  result.sync = name(input.sync.algorithm);
  result.bucket_bytes = input.sync.bucket_in_use().value;
  result.dtype = name(input.dtypes.values);
  result.devices = static_cast<std::int64_t>(input.cluster.device_count());
  result.batch = input.batch();
  return result;
}

CaseResult result_of(const Case& input, const Prediction& prediction) {
  CaseResult result = result_of(input);
  result.strategy = prediction.strategy.name();
  add_prediction(prediction, result);
  add_flops(input, prediction.strategy, result);
  return result;
}

void add_communication(const Communication& communication, CaseResult& result) {
  result.comm_bytes = communication.total().value;
  result.transfer_bytes = communication.transfer.value;
  result.sync_bytes = communication.sync.value;
}

void add_step(Seconds step, const Communication& communication, Bytes peak, CaseResult& result) {
  result.step_seconds = step.value;
  result.throughput = static_cast<double>(result.batch) / step.value;
  add_communication(communication, result);
  result.peak_memory_bytes = peak.value;
}

void add_prediction(const Prediction& prediction, CaseResult& result) {
  result.eq1_seconds = prediction.eq1_seconds().value;
  add_step(prediction.step_seconds(), prediction.communication, prediction.largest_peak(), result);
  add_shares(prediction.sources, result);
}

}  // namespace strata
