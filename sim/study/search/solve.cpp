#include "sim/study/search/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/deadline.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/solver/depth_first.h"
#include "sim/solver/screen.h"
#include "sim/solver/solve.h"
#include "sim/study/case/eq1_tables.h"
#include "sim/study/case/rounds.h"
#include "sim/study/search/keep.h"
#include "sim/study/search/least_step.h"
#include "sim/study/search/outsiders.h"
#include "sim/study/search/simulated_search.h"
#include "sim/study/search/step_bound.h"
#include "sim/study/search/within_memory.h"

namespace strata {
namespace {

// A refinement starts from so many strategies that are good under Eq. 1.
constexpr std::size_t kStarts = 8;
// Up to so many, tables of all choices take no longer than finding out which of them matter.
constexpr std::size_t kFewDevices = 8;
// A refinement looks at all choices of up to so many devices; of more, at those of strategies that
// cost at most so much more than the optimum under Eq. 1.
constexpr std::size_t kManyDevices = 64;
constexpr double kRefineSlack = 0.1;

// Strategies that are searched for.
constexpr std::string_view kNameUnderEq1 = "eq1", kNameUnderSimulation = "optimal";

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Search {
 public:
  Search(const Case& input, const SolveOptions& options)
      : input_(input),
        of_rounds_(in_largest_rounds(input)),
        options_(options),
        space_(with_rounds(input, keep({of_rounds_.graph, of_rounds_.cluster, options.space},
                                       of_rounds_, options.kept))),
        scores_(input, space_, options.memory_limit),
        usual_(with_rounds(input, baselines(input))),
        deadline_(options.limits.time_limit, options.limits.cancelled),
        limits_(options.limits) {
    limits_.cancelled = deadline_.flag();
    if (simulated() && limits_.progress) limits_.progress = without_eq1(options.limits.progress);
    result_.objective = options.objective;
    result_.variables = space_.size();
    result_.max_configs = space_.max_choices();
    for (std::size_t v = 0; v < space_.size(); ++v) result_.configs += space_[v].cuts->size();
    result_.log10_strategies = space_.log10_strategies();
    for (const Strategy& strategy : usual_) add_known(strategy);
    for (const Strategy& strategy : hybrids(input)) add_known(strategy);
  }

  Solved run() {
    try {
      prepare();
      search();
    } catch (const Cancelled&) {
      result_.stopped = true;
      result_.table_seconds = start_.seconds();
      if (found_.empty() && !proof_.best.empty()) found_ = {proof_.best};
      result_.lower_bound = Seconds{proof_.lower_bound};
    }
    score_all();
    return std::move(result_);
  }

  // Nothing where none was found that fits.
  std::optional<Strategy> only_best() {
    prepare();
    search();
    throw_if_cancelled(options_.limits.cancelled);
    std::vector<Strategy> candidates;
    if (!found_.empty()) candidates.push_back(space_.strategy("", found_.front()));
    for (const Strategy& usual : usual_) {
      if (!scores_.in_space(usual) && keeps(usual, options_.kept)) candidates.push_back(usual);
    }
    std::optional<Scored> best;
    const auto offer = [&](Scored scored) {
      if (scores_.too_large(scored) || (best && objective(scored) >= objective(*best))) return;
      best = std::move(scored);
    };
    for (const Strategy& candidate : candidates) offer(score_candidate(candidate));
    for_outsiders([&](Scored scored) { offer(std::move(scored)); }, [&] { return !best; });
    return best ? std::optional(best->strategy) : std::nullopt;
  }

 private:
  CostTables tables(const SearchSpace& space, TableDetail detail) const {
    return eq1_tables(of_rounds_, space, {limits_.threads, limits_.cancelled, detail});
  }

  // Of many devices only the choices that one optimum may need, or the refinement of one.
  bool screens() const {
    if (options_.algorithm != SearchAlgorithm::elimination) return false;
    const std::size_t devices = input_.cluster.device_count();
    return simulated() ? devices > kManyDevices : devices > kFewDevices && options_.k_best == 1;
  }

  // Tables that would not fit in memory are refused first of all.
  void prepare() {
    report("cost tables");
    build_tables();
    if (simulated()) {
      step_bound_.emplace(of_rounds_, space_, limits_);
      if (input_.cut) {
        step_bound_->include(least_step(input_, options_.space, options_.kept, limits_));
      }
    }
    result_.table_seconds = start_.seconds();
  }

  void build_tables() {
    if (!screens()) {
      tables_ = tables(space_, TableDetail::exact);
      return;
    }
    const auto build = [&](const SearchSpace& space, TableDetail detail) {
      return tables(space, detail);
    };
    screened_ =
        screen(space_, known_, build, limits_left(), &proof_, simulated() ? kRefineSlack : 0);
    tables_ = screened_->tables;
    for (std::size_t v = 0; v < space_.size(); ++v) {
      screened_out_ += space_[v].cuts->size() - screened_->kept[v].size();
    }
  }

  void report(std::string_view stage) const {
    SolveProgress progress;
    progress.stage = stage;
    progress.done = -1;
    if (options_.limits.progress) options_.limits.progress(progress);
  }

  SolveLimits limits_left() const {
    SolveLimits limits = limits_;
    limits.time_limit = std::max(0.0, limits.time_limit - start_.seconds());
    return limits;
  }

  bool simulated() const { return options_.objective == Objective::simulated; }

  // What a search under simulation finds under Eq. 1 on its way is no answer.
  static std::function<void(const SolveProgress&)> without_eq1(
      const std::function<void(const SolveProgress&)>& progress) {
    return [&progress](const SolveProgress& at) { progress({at.stage, at.done}); };
  }

  // Those of the usual strategies that the tables hold, and the best of a screening.
  std::vector<Choices> known_in_tables() const {
    if (!screened_) return known_;
    std::vector<Choices> known = {screened_->restricted(proof_.best)};
    for (const Choices& choices : known_) known.push_back(screened_->restricted(choices));
    std::erase(known, Choices{});
    return known;
  }

  void search() {
    const Stopwatch watch;
    const std::size_t count = simulated() ? kStarts : options_.k_best;
    search_all(count);
    if (options_.simulate && !found_fit()) search_within(count);
    result_.solve_seconds = watch.seconds();
    if (simulated()) refine_found();
  }

  // Whatever memory it takes.
  void search_all(std::size_t count) {
    if (options_.algorithm == SearchAlgorithm::dfs) {
      const Solution found = depth_first(tables_, limits_left());
      take({found}, found.lower_bound);
      result_.final_nodes = final_nodes(tables_);
    } else {
      const SolveResult found = strata::solve(tables_, known_in_tables(), count, limits_left());
      take(found.best, found.lower_bound);
      result_.final_nodes = found.final_nodes;
      result_.pruned = found.pruned + screened_out_;
      result_.width = found.width;
    }
  }

  // What is found must fit under Eq. 1; as a start, some of it. As far as there is time to see.
  bool found_fit() {
    if (options_.memory_limit == kAnyMemory || options_.algorithm == SearchAlgorithm::dfs) {
      return true;
    }
    std::vector<char> too_large(found_.size(), 0);
    parallel_for(found_.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
      if (is_set(limits_.cancelled)) return;
      too_large[i] = scores_.too_large(scores_.of(found_[i], true)) ? 1 : 0;
    });
    const auto count = static_cast<std::size_t>(std::count(too_large.begin(), too_large.end(), 1));
    return count == 0 || (simulated() && count < found_.size());
  }

  void take(const std::vector<Solution>& found, double lower_bound) {
    found_.clear();
    for (const Solution& solution : found) {
      if (!solution.found()) continue;
      found_.push_back(original(solution.choices));
    }
    result_.lower_bound = Seconds{lower_bound};
    result_.optimal = !found_.empty() && found.front().seconds <= lower_bound;
    const bool over = start_.seconds() >= options_.limits.time_limit;
    result_.stopped = !result_.optimal && (over || is_set(limits_.cancelled));
  }

  // What fits may need choices that were screened out.
  void search_within(std::size_t count) {
    report("memory");
    if (screened_) tables_ = tables(space_, TableDetail::exact);
    screened_.reset();
    const Bytes limit = options_.memory_limit.value_or(input_.models.front()->memory_capacity());
    // Other devices may have more or less than the first one, which the limit is of.
    const auto peak = [&](const Choices& choices) {
      const Scored scored = scores_.of(choices, true);
      if (!scored.has_peak()) return kAnyMemory;
      return scores_.fits(scored) ? std::min(scored.peak_memory, limit)
                                  : std::max(scored.peak_memory, limit + Bytes{1});
    };
    const WithinMemory found = within_memory(tables_, memory_floor(input_, space_), limit, known_,
                                             count, peak, limits_left());
    take(found.best, found.lower_bound);
    result_.final_nodes = final_nodes(tables_);
    result_.least_memory = found.least;
    result_.smallest_peak = found.smallest_peak;
  }

  Choices original(const Choices& choices) const {
    return screened_ ? screened_->original(choices) : choices;
  }

  void refine_found() {
    const Stopwatch watch;
    result_.optimal = false;
    std::vector<Choices> starts;
    for (const Choices& found : found_) {
      starts.push_back(screened_ ? screened_->restricted(found) : found);
    }
    const std::vector<Choices> known = known_in_tables();
    starts.insert(starts.end(), known.begin(), known.end());
    const SimulatedSpace space{tables_, screened_ ? &*screened_ : nullptr, space_};
    SolveLimits limits = limits_left();
    limits.progress = options_.limits.progress;
    const Refinement refined =
        search_simulated(space, starts, *step_bound_, scores_, options_, limits);
    // Where a limit left nothing evaluated, the best under Eq. 1 stay.
    std::vector<Choices> best;
    for (const Evaluated& e : refined.best) best.push_back(original(e.choices));
    if (!best.empty()) found_ = std::move(best);
    if (found_.size() > options_.k_best) found_.resize(options_.k_best);
    result_.evaluations = refined.evaluations;
    result_.stopped = result_.stopped || refined.stopped;
    result_.refine_seconds = watch.seconds();
  }

  // What was not simulated comes last.
  Seconds objective(const Scored& scored) const {
    if (!simulated()) return scored.eq1;
    return scored.simulated() ? scored.step : Seconds{kInfinity};
  }

  // By the objective, and with its peak where that is simulated.
  Scored score_candidate(const Strategy& strategy) {
    Scored scored{strategy, {}, {}, {}, {}};
    if (options_.simulate) scored = scores_.of(strategy);
    return simulated() ? scored : scores_.with_eq1(std::move(scored));
  }

  // Out of time, what is handed out is still simulated; called off, nothing.
  Scored score_found(const Choices& choices) {
    const bool called_off = is_set(options_.limits.cancelled);
    const bool simulates = options_.simulate && (scores_.contains(choices) || !called_off);
    Scored scored{space_.strategy("", choices), {}, {}, {}, {}};
    if (simulates) scored = scores_.of(choices, !called_off);
    return scores_.with_eq1(std::move(scored));
  }

  Scored score_usual(const Strategy& strategy) {
    if (!options_.simulate || is_set(options_.limits.cancelled)) return {strategy, {}, {}, {}, {}};
    return scores_.of(strategy);
  }

  // Strategies that no search considers (outsiders.h): in rounds, since stages shorten the step
  // then; and as long as `none` of all that was found fits, since they need less memory. Those that
  // fit are offered.
  template <class Offer, class None>
  void for_outsiders(const Offer& offer, const None& none) {
    if (!options_.simulate || is_set(options_.limits.cancelled)) return;
    if (input_.cut) offer_all(pipelines(input_, Recompute::none), offer);
    if (options_.memory_limit == kAnyMemory || !of_tokens(input_.graph)) return;
    if (none() && !input_.cut) offer_all(pipelines(input_, Recompute::none), offer);
    if (none() && input_.recompute == Recompute::none) {
      offer_all(pipelines(input_, Recompute::full), offer);
    }
  }

  template <class Offer>
  void offer_all(std::vector<Strategy> strategies, const Offer& offer) {
    std::erase_if(strategies, [&](const Strategy& strategy) {
      return !keeps(strategy, options_.kept) ||
             !parameters_fit(input_, strategy, options_.memory_limit);
    });
    std::vector<Scored> scored(strategies.size());
    parallel_for(scored.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
      if (!is_set(options_.limits.cancelled)) scored[i] = score_candidate(strategies[i]);
    });
    for (Scored& each : scored) {
      if (each.simulated() && scores_.fits(each)) offer(std::move(each));
    }
  }

  // What is too large is no answer. Without it, what was proved is not of the rest.
  void drop_too_large() {
    if (options_.algorithm == SearchAlgorithm::dfs) return;
    const auto too_large = [&](const Scored& scored) { return scores_.too_large(scored); };
    if (std::erase_if(result_.best, too_large) > 0) result_.optimal = false;
  }

  // The strategies found and the usual ones: all predicted, those that fit in order. A baseline
  // that the space does not hold may be better than all that it holds.
  void score_all() {
    report("prediction");
    result_.baselines.resize(usual_.size());
    parallel_for(usual_.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
      result_.baselines[i] = scores_.with_eq1(score_usual(usual_[i]));
    });
    for (const Choices& found : found_) result_.best.push_back(score_found(found));
    drop_too_large();
    for (const Scored& usual : result_.baselines) {
      if (keeps(usual.strategy, options_.kept)) offer(usual);
    }
    result_.alone = result_.best.empty();
    for_outsiders([&](const Scored& scored) { offer(scores_.with_eq1(scored)); },
                  [&] { return result_.best.empty(); });
    rank();
    name_found();
  }

  // What is proved is called so. Baselines keep their names.
  void name_found() {
    const std::string_view proved =
        options_.objective == Objective::eq1 ? kNameUnderEq1 : kNameUnderSimulation;
    const std::string name(result_.optimal ? proved : "best");
    for (std::size_t i = 0; i < result_.best.size(); ++i) {
      Strategy& strategy = result_.best[i].strategy;
      strategy = with_recomputation(input_, strategy);
      if (!strategy.name().empty()) continue;
      strategy = strategy.called(i == 0 ? name : fmt::format("{}-{}", name, i + 1));
    }
  }

  void offer(const Scored& usual) {
    const auto is_it = [&](const Scored& s) {
      return cut_alike(input_.graph, s.strategy, usual.strategy);
    };
    if (scores_.too_large(usual)) return;
    // An explicit limit is on what is known.
    if (options_.memory_limit && !scores_.fits(usual)) return;
    if (std::any_of(result_.best.begin(), result_.best.end(), is_it)) return;
    result_.best.push_back(usual);
  }

  void rank() {
    std::vector<Scored>& best = result_.best;
    std::stable_sort(best.begin(), best.end(),
                     [&](const Scored& a, const Scored& b) { return objective(a) < objective(b); });
    if (best.size() > options_.k_best) best.resize(options_.k_best);
    if (best.empty()) return;
    result_.outside = !scores_.in_space(best.front().strategy);
    result_.by_rule = result_.outside && is_by_rule(best.front().strategy);
    result_.optimal = result_.optimal && !result_.outside;
    if (simulated()) return bound_step();
    if (input_.cut) {  // the tables are of one number of rounds alone
      result_.rounds_differ = true;
      result_.optimal = false;
      result_.lower_bound = {};
    }
    if (result_.outside) return;
    // The tables round in the last bits.
    if (result_.optimal) result_.lower_bound = best.front().eq1;
    result_.lower_bound = std::min(result_.lower_bound, best.front().eq1);
  }

  void bound_step() {
    const Seconds least = result_.least();
    result_.lower_bound = step_bound_ ? step_bound_->least() : Seconds{};
    if (result_.outside) return;
    result_.optimal = least <= (1 + kEqualSteps) * result_.lower_bound;
    result_.lower_bound = std::min(result_.lower_bound, least);
  }

  const Case& input_;
  const Case of_rounds_;  ///< of which the tables are
  const SolveOptions& options_;
  Stopwatch start_;
  SearchSpace space_;
  Scores scores_;
  std::vector<Strategy> usual_;
  void add_known(const Strategy& strategy) {
    if (auto choices = space_.choices(strategy)) known_.push_back(std::move(*choices));
  }

  std::vector<Choices> known_;  // the usual ones and hybrids that the space holds
  std::vector<Choices> found_;
  Deadline deadline_;
  SolveLimits limits_;  ///< with the deadline's flag
  ScreenProof proof_;
  std::optional<StepBound> step_bound_;  // of the simulated objective
  std::optional<Screened> screened_;
  std::size_t screened_out_ = 0;
  CostTables tables_;
  Solved result_;
};

void check(const SolveOptions& options) {
  if (!options.simulate && (options.memory_limit || options.objective != Objective::eq1)) {
    throw InputError(
        "`no_simulation` gives Eq. 1 alone; allowed: `objective` eq1, no `memory_limit`");
  }
  if (options.gap >= 1) {
    throw InputError(fmt::format(
        "`gap` {}: a part of the step; allowed: a number from 0 to below 1", options.gap));
  }
  if (options.algorithm != SearchAlgorithm::dfs) return;
  if (options.memory_limit || options.k_best > 1 || options.objective != Objective::eq1) {
    throw InputError(
        "`algorithm` dfs finds one strategy under Eq. 1; allowed: `objective` eq1, no "
        "`memory_limit`, no `k_best`");
  }
}

// A sum without a value has no least one.
void check_finite(const Solved& solved) {
  if (solved.best.empty()) return;
  const Seconds best = solved.best.front().eq1;
  if (std::isfinite(best.value)) return;
  throw InputError(
      fmt::format("the fastest strategy takes {} s under Eq. 1; allowed: costs whose sum is finite",
                  best.value));
}

}  // namespace

std::vector<Strategy> baselines(const Case& input) {
  const int devices = static_cast<int>(input.cluster.device_count());
  return {data_parallel(input.graph, devices), model_parallel(input.graph, devices),
          owt_parallel(input.graph, devices)};
}

Seconds Solved::least() const {
  const Scored& first = best.front();
  if (objective == Objective::eq1) return first.eq1;
  return first.simulated() ? first.step : Seconds{kInfinity};
}

std::optional<Objective> searched_objective(std::string_view strategy) {
  if (strategy == kNameUnderEq1) return Objective::eq1;
  if (strategy == kNameUnderSimulation) return Objective::simulated;
  return std::nullopt;
}

Strategy best_strategy(const Case& input, const SolveOptions& options) {
  SolveOptions any = options;
  any.memory_limit = kAnyMemory;
  std::optional<Strategy> best = Search(input, options).only_best();
  if (!best) best = Search(input, any).only_best();
  const bool eq1 = options.objective == Objective::eq1;
  return best.value().called(std::string(eq1 ? kNameUnderEq1 : kNameUnderSimulation));
}

Solved solve(const Case& input, const SolveOptions& options) {
  check(options);
  Solved solved = Search(input, options).run();
  check_finite(solved);
  return solved;
}

}  // namespace strata
