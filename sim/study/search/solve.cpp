#include "sim/study/search/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/deadline.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/solver/depth_first.h"
#include "sim/solver/refine.h"
#include "sim/solver/screen.h"
#include "sim/solver/solve.h"
#include "sim/study/case/eq1_tables.h"
#include "sim/study/search/keep.h"
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
// Relative: what differs by less is equal but for rounding.
constexpr double kEqual = 1e-6;
// The peak of what is not simulated: it fits nowhere.
constexpr Bytes kNever{std::numeric_limits<std::int64_t>::max()};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Equal but for the network's inputs, which cost nothing to place.
bool same_cuts(const Graph& graph, const Strategy& a, const Strategy& b) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_input(graph[LayerId(i)].op)) continue;
    if (a[LayerId(i)] != b[LayerId(i)]) return false;
  }
  return true;
}

class Search {
 public:
  Search(const Case& input, const SolveOptions& options)
      : input_(input),
        options_(options),
        space_(keep({input.graph, input.cluster, options.space}, input, options.kept)),
        usual_(baselines(input)),
        deadline_(options.limits.time_limit, options.limits.cancelled),
        limits_(options.limits) {
    limits_.cancelled = deadline_.flag();
    result_.objective = options.objective;
    result_.variables = space_.size();
    result_.max_configs = space_.max_choices();
    for (std::size_t v = 0; v < space_.size(); ++v) result_.configs += space_[v].cuts->size();
    result_.log10_strategies = space_.log10_strategies();
    for (const Strategy& strategy : usual_) {
      if (auto choices = space_.choices(strategy)) known_.push_back(std::move(*choices));
    }
  }

  Solved run() {
    try {
      report("cost tables");
      if (simulated()) step_bound_.emplace(input_, space_, limits_);
      build_tables();
      result_.table_seconds = start_.seconds();
      search();
    } catch (const Cancelled&) {
      result_.stopped = true;
      result_.table_seconds = start_.seconds();
      if (!proof_.best.empty()) found_ = {proof_.best};
      result_.lower_bound = Seconds{proof_.lower_bound};
    }
    score_all();
    return std::move(result_);
  }

  Strategy only_best() {
    build_tables();
    search();
    throw_if_cancelled(options_.limits.cancelled);
    Strategy best = space_.strategy("optimal", found_.front());
    Seconds least = score_eq1(input_, best, &memo_).eq1;
    for (const Strategy& usual : usual_) {
      if (space_.choices(usual) || !keeps(usual, options_.kept)) continue;
      const Seconds seconds = score_eq1(input_, usual, &memo_).eq1;
      if (seconds < least) best = usual;
      least = std::min(least, seconds);
    }
    return best;
  }

 private:
  CostTables tables(const SearchSpace& space, TableDetail detail) const {
    return eq1_tables(input_, space, {limits_.threads, limits_.cancelled, detail});
  }

  // Of many devices only the choices that one optimum may need, or the refinement of one.
  bool screens() const {
    if (options_.algorithm != SearchAlgorithm::elimination || options_.memory_limit) return false;
    const std::size_t devices = input_.cluster.device_count();
    return simulated() ? devices > kManyDevices : devices > kFewDevices && options_.k_best == 1;
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
    std::vector<Choices> known = {screened_->restricted(proof_.best)};
    for (const Choices& choices : known_) known.push_back(screened_->restricted(choices));
    std::erase(known, Choices{});
    known_ = std::move(known);
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

  void search() {
    const Stopwatch watch;
    const std::size_t count = simulated() ? std::max(options_.k_best, kStarts) : options_.k_best;
    if (options_.memory_limit) {
      search_within(count);
    } else if (options_.algorithm == SearchAlgorithm::dfs) {
      const Solution found = depth_first(tables_, limits_left());
      take({found}, found.lower_bound);
      result_.final_nodes = final_nodes(tables_);
    } else {
      const SolveResult found = strata::solve(tables_, known_, count, limits_left());
      take(found.best, found.lower_bound);
      result_.final_nodes = found.final_nodes;
      result_.pruned = found.pruned + screened_out_;
      result_.width = found.width;
    }
    result_.solve_seconds = watch.seconds();
    if (simulated()) refine_found();
  }

  void take(const std::vector<Solution>& found, double lower_bound) {
    for (const Solution& solution : found) {
      if (!solution.found()) continue;
      found_.push_back(original(solution.choices));
    }
    result_.lower_bound = Seconds{lower_bound};
    result_.optimal = !found_.empty() && found.front().seconds <= lower_bound;
    const bool over = start_.seconds() >= options_.limits.time_limit;
    result_.stopped = !result_.optimal && (over || is_set(limits_.cancelled));
  }

  void search_within(std::size_t count) {
    const auto peak = [&](const Choices& choices) {
      const Scored scored = score_choices(choices, true);
      return scored.simulated() ? scored.peak_memory : kNever;
    };
    const WithinMemory found =
        within_memory(tables_, memory_floor(input_.graph, input_.dtypes, space_),
                      *options_.memory_limit, known_, count, peak, limits_left());
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
    starts.insert(starts.end(), known_.begin(), known_.end());
    // Afterwards the usual ones are printed with their peaks.
    const auto evaluate = [&](const Choices& choices) {
      const bool usual = std::find(known_.begin(), known_.end(), choices) != known_.end();
      const bool memory = usual || options_.memory_limit;
      const Scored scored = score_choices(original(choices), memory);
      return scored.simulated() && fits(scored) ? scored.step.value : kInfinity;
    };
    RefineOptions options{options_.evaluations, shapes()};
    if (options_.k_best == 1) {
      options.lower_bound = [&](const Choices& choices) {
        return step_bound_->of(original(choices)).value;
      };
    }
    const Refinement refined = refine(tables_, starts, evaluate, options, limits_left());
    // Where a limit left nothing evaluated, the best under Eq. 1 stay.
    std::vector<Choices> best;
    for (const Evaluated& e : refined.best) best.push_back(original(e.choices));
    if (!best.empty()) found_ = std::move(best);
    if (found_.size() > options_.k_best) found_.resize(options_.k_best);
    result_.evaluations = refined.evaluations;
    result_.stopped = result_.stopped || refined.stopped;
    result_.refine_seconds = watch.seconds();
  }

  // Variables that share their cuts have equal choices.
  std::vector<std::uint32_t> shapes() const {
    const SearchSpace& space = screened_ ? screened_->space : space_;
    std::map<const Cuts*, std::uint32_t> numbers;
    std::vector<std::uint32_t> shapes;
    for (std::size_t v = 0; v < space.size(); ++v) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      shapes.push_back(numbers.emplace(space[v].cuts.get(), next).first->second);
    }
    return shapes;
  }

  bool fits(const Scored& scored) const {
    if (!options_.memory_limit) return true;
    return scored.simulated() && scored.peak_memory <= *options_.memory_limit;
  }

  // What was not simulated comes last.
  Seconds objective(const Scored& scored) const {
    if (!simulated()) return scored.eq1;
    return scored.simulated() ? scored.step : Seconds{kInfinity};
  }

  // Simulated where that is quick and possible: a link may be too slow for the simulation's clock.
  Scored try_score(const Strategy& strategy, bool memory) {
    if (quick_to_simulate(input_.graph, strategy)) {
      try {
        return score_simulated(input_, strategy, &memo_, memory);
      } catch (const InputError&) {
      }
    }
    return {strategy, {}, {}, {}, {}};
  }
  Scored with_eq1(Scored scored) {
    scored.eq1 = score_eq1(input_, scored.strategy, &memo_).eq1;
    return scored;
  }

  // Remembers; called from several threads.
  Scored score_choices(const Choices& choices, bool memory) {
    {
      const std::lock_guard guard(scoring_);
      const auto known = scored_.find(choices);
      if (known != scored_.end() && (known->second.memory || !memory)) return known->second.scored;
    }
    Scored scored = try_score(space_.strategy("", choices), memory);
    const std::lock_guard guard(scoring_);
    return scored_.insert_or_assign(choices, Remembered{std::move(scored), memory})
        .first->second.scored;
  }

  // Out of time, only what is handed out is still simulated; called off, nothing.
  Scored score_found(const Choices& choices, std::string name) {
    const bool called_off = is_set(options_.limits.cancelled);
    const bool simulates = options_.simulate && (scored_.contains(choices) || !called_off);
    const Strategy strategy = space_.strategy(std::move(name), choices);
    Scored scored;
    if (simulates) scored = score_choices(choices, !called_off);
    scored.strategy = strategy;
    return with_eq1(std::move(scored));
  }

  Scored score_usual(const Strategy& strategy) {
    if (!options_.simulate || is_set(limits_.cancelled)) return {strategy, {}, {}, {}, {}};
    const std::optional<Choices> choices = space_.choices(strategy);
    if (!choices) return try_score(strategy, true);
    Scored scored = score_choices(*choices, true);
    scored.strategy = strategy;
    return scored;
  }

  // The strategies found and the usual ones: all predicted, those that fit in order. A baseline
  // that the space does not hold may be better than all that it holds.
  void score_all() {
    // What is proved is called so.
    const bool refined = simulated() && result_.evaluations > 0;
    const std::string name = refined ? "refined" : result_.optimal ? "optimal" : "best";
    report("prediction");
    result_.baselines.resize(usual_.size());
    parallel_for(usual_.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
      result_.baselines[i] = with_eq1(score_usual(usual_[i]));
    });
    for (std::size_t i = 0; i < found_.size(); ++i) {
      result_.best.push_back(
          score_found(found_[i], i == 0 ? name : fmt::format("{}-{}", name, i + 1)));
    }
    for (const Scored& usual : result_.baselines) {
      if (keeps(usual.strategy, options_.kept)) offer(usual);
    }
    rank();
  }

  void offer(const Scored& usual) {
    const auto is_it = [&](const Scored& s) {
      return same_cuts(input_.graph, s.strategy, usual.strategy);
    };
    if (!fits(usual) || std::any_of(result_.best.begin(), result_.best.end(), is_it)) return;
    result_.best.push_back(usual);
  }

  void rank() {
    std::vector<Scored>& best = result_.best;
    std::stable_sort(best.begin(), best.end(),
                     [&](const Scored& a, const Scored& b) { return objective(a) < objective(b); });
    if (best.size() > options_.k_best) best.resize(options_.k_best);
    if (best.empty()) return;
    result_.outside = !space_.choices(best.front().strategy).has_value();
    result_.optimal = result_.optimal && !result_.outside;
    if (simulated()) return bound_step();
    if (result_.outside) return;
    // The tables round in the last bits.
    if (result_.optimal) result_.lower_bound = best.front().eq1;
    result_.lower_bound = std::min(result_.lower_bound, best.front().eq1);
  }

  void bound_step() {
    const Seconds least = result_.least();
    result_.lower_bound = step_bound_ ? step_bound_->least() : Seconds{};
    if (result_.outside) return;
    result_.optimal = least <= (1 + kEqual) * result_.lower_bound;
    result_.lower_bound = std::min(result_.lower_bound, least);
  }

  struct Remembered {
    Scored scored;
    bool memory;  ///< with its peak
  };

  const Case& input_;
  const SolveOptions& options_;
  CaseMemo memo_{input_};
  Stopwatch start_;
  SearchSpace space_;
  std::vector<Strategy> usual_;
  std::vector<Choices> known_;  // the usual ones that the space holds
  std::vector<Choices> found_;
  Deadline deadline_;
  SolveLimits limits_;  ///< with the deadline's flag
  std::mutex scoring_;
  std::map<Choices, Remembered> scored_;
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
        "`no_simulation` gives Eq. 1 alone; allowed: no `memory_limit`, no `objective` simulated");
  }
  if (options.algorithm != SearchAlgorithm::dfs) return;
  if (options.memory_limit || options.k_best > 1 || options.objective != Objective::eq1) {
    throw InputError(
        "`algorithm` dfs finds one strategy under Eq. 1; allowed: no `memory_limit`, no `k_best`, "
        "no "
        "`objective` simulated");
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

Strategy optimal_strategy(const Case& input, const SearchOptions& space,
                          const SolveLimits& limits) {
  SolveOptions options;
  options.space = space;
  options.limits = limits;
  return Search(input, options).only_best();
}

Solved solve(const Case& input, const SolveOptions& options) {
  check(options);
  Solved solved = Search(input, options).run();
  check_finite(solved);
  return solved;
}

}  // namespace strata
