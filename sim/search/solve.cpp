#include "sim/search/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/deadline.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/search/keep.h"
#include "sim/search/least_step.h"
#include "sim/search/outsiders.h"
#include "sim/search/simulated_search.h"
#include "sim/search/step_bound.h"
#include "sim/search/tried.h"
#include "sim/search/within_memory.h"
#include "sim/solver/depth_first.h"
#include "sim/solver/screen.h"
#include "sim/solver/solve.h"

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

// For the tables that the solver makes of the cost tables.
constexpr std::size_t kMostTableBytes = std::size_t{1} << 30;

// Of a time limit, for Eq. 1 of strategies that it does not decide about.
constexpr double kShareOfEq1 = 0.1;

// Starts of a refinement need no proof under Eq. 1: seconds of branch and bound in place of
// minutes.
constexpr std::size_t kPartsForStarts = 1000;

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
        options_(options),
        deadline_(options.limits.time_limit, options.limits.cancelled),
        last_words_(time_for_last_words(options.limits.time_limit), options.limits.cancelled),
        limits_(options.limits),
        of_rounds_(in_largest_rounds(input)),
        space_(with_rounds(input, keep({of_rounds_.graph, of_rounds_.cluster, options.space},
                                       of_rounds_, options.kept))),
        scores_(input, space_, options.memory_limit),
        has_tables_(eq1_tables_fit(of_rounds_, space_)),
        tried_(input, options, scores_) {
    if (!has_tables_ && !simulated()) refuse_tables(of_rounds_, space_);
    result_.no_tables = !has_tables_;
    limits_.cancelled = deadline_.flag();
    limits_.table_bytes = std::min(limits_.table_bytes, kMostTableBytes);
    if (simulated()) limits_.most_parts = kPartsForStarts;
    if (simulated() && limits_.progress) limits_.progress = without_eq1(options.limits.progress);
    result_.objective = options.objective;
    result_.variables = space_.size();
    result_.max_configs = space_.max_choices();
    for (std::size_t v = 0; v < space_.size(); ++v) result_.configs += space_[v].cuts->size();
    result_.log10_strategies = space_.log10_strategies();
  }

  Solved run() {
    try {
      try_usual();
      add_eq1();
      if (has_tables_) prepare();
      if (has_tables_) search();
    } catch (const Cancelled&) {
      stop();
    }
    gather();
    return std::move(result_);
  }

 private:
  using Flag = const std::atomic<bool>*;

  // Half a second is the least: the usual strategies of a small network take no longer.
  static double time_for_last_words(double time_limit) { return std::max(0.5, 1.05 * time_limit); }

  // What takes no tables comes first, so that a search that is stopped has something to show.
  void try_usual() {
    report("the usual strategies");
    usual_ = with_rounds(input_, baselines(input_));
    for (const Strategy& strategy : usual_) add_known(strategy);
    const std::vector<Strategy> shared = with_rounds(input_, hybrids(input_));
    for (const Strategy& strategy : shared) add_known(strategy);
    tried_.add(usual_, last_words_.flag());
    throw_if_cancelled(limits_.cancelled);
    if (!options_.simulate) return;
    tried_.add_fitting(shared, limits_.cancelled);
    report("strategies by rule");
    tried_.add_outsiders(limits_.cancelled);
  }

  void add_known(const Strategy& strategy) {
    if (auto choices = space_.choices(strategy)) known_.push_back(std::move(*choices));
  }

  // Eq. 1 of what was tried: where it decides, all the time that there is; else a small part, as
  // one that exchanges everything takes minutes.
  void add_eq1() {
    const double share = simulated() ? kShareOfEq1 : 1;
    const double left = std::max(0.0, options_.limits.time_limit - start_.seconds());
    const Deadline enough(share * left, limits_.cancelled);
    tried_.add_eq1(enough.flag());
    throw_if_cancelled(limits_.cancelled);
  }

  // An answer has what the objective compares; under a limit of memory it is known to fit.
  bool may_win(const Scored& scored) const {
    if (simulated() ? !scored.simulated() : !scored.has_eq1()) return false;
    return !options_.simulate || scores_.fits(scored);
  }

  CostTables tables(const SearchSpace& space, TableDetail detail) const {
    return eq1_tables(of_rounds_, space, {limits_.threads, limits_.cancelled, detail});
  }

  // Of many devices only the choices that one optimum may need, or the refinement of one.
  bool screens() const {
    if (options_.algorithm != SearchAlgorithm::elimination) return false;
    const std::size_t devices = input_.cluster.device_count();
    return simulated() ? devices > kManyDevices : devices > kFewDevices && options_.k_best == 1;
  }

  void prepare() {
    tables_begun_.emplace();
    report("cost tables");
    build_tables();
    if (simulated()) {
      report("bound on the step");
      step_bound_.emplace(of_rounds_, space_, limits_);
      if (input_.cut) {
        step_bound_->include(least_step(input_, options_.space, options_.kept, limits_));
        bounds_all_rounds_ = true;
      }
    }
    result_.table_seconds = tables_begun_->seconds();
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

  // What is found must be known to fit under Eq. 1; as a start, some of it.
  bool found_fit() {
    if (options_.memory_limit == kAnyMemory || options_.algorithm == SearchAlgorithm::dfs) {
      return true;
    }
    std::vector<char> fits(found_.size(), 0);
    parallel_for(found_.size(), options_.limits.threads, [&](std::size_t i, unsigned) {
      fits[i] = scores_.fits(scores_.of(found_[i], true, limits_.cancelled)) ? 1 : 0;
    });
    const auto count = static_cast<std::size_t>(std::count(fits.begin(), fits.end(), 1));
    return count == found_.size() || (simulated() && count > 0);
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
    const Bytes limit = options_.memory_limit.value_or(capacity_of_floor(input_));
    // Other devices may have more or less than the first one, which the limit is of.
    const auto peak = [&](const Choices& choices) {
      const Scored scored = scores_.of(choices, true, limits_.cancelled);
      if (!scored.has_peak()) return kAnyMemory;
      return scores_.fits(scored) ? std::min(scored.peak_memory, limit)
                                  : std::max(scored.peak_memory, limit + Bytes{1});
    };
    const auto floor = memory_floor(input_, space_, limits_.cancelled);
    const WithinMemory found =
        within_memory(tables_, floor, limit, known_, count, peak, limits_left());
    take(found.best, found.lower_bound);
    result_.final_nodes = final_nodes(tables_);
    result_.least_memory = found.least;
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
    found_.clear();
    for (const Evaluated& e : refined.best) found_.push_back(original(e.choices));
    if (found_.size() > options_.k_best) found_.resize(options_.k_best);
    result_.evaluations = refined.evaluations;
    result_.stopped = result_.stopped || refined.stopped;
    result_.refine_seconds = watch.seconds();
  }

  // What was found so far stays, and what is proved.
  void stop() {
    result_.stopped = true;
    result_.optimal = false;
    if (tables_begun_ && result_.table_seconds == 0) {
      result_.table_seconds = tables_begun_->seconds();
    }
    if (found_.empty() && !proof_.best.empty()) found_ = {proof_.best};
    result_.lower_bound = std::max(result_.lower_bound, Seconds{proof_.lower_bound});
  }

  Seconds objective(const Scored& scored) const { return simulated() ? scored.step : scored.eq1; }

  // What was simulated before is known, however little time is left.
  Scored score_found(const Choices& choices) {
    Scored scored;
    try {
      if (options_.simulate) scored = scores_.of(choices, true, last_words_.flag());
      scored.strategy = space_.strategy("", choices);
      scored.eq1 = scores_.eq1(scored.strategy, last_words_.flag());
    } catch (const Cancelled&) {
      result_.stopped = true;
      scored.strategy = space_.strategy("", choices);
      scored.eq1 = eq1_by_tables(choices);
    }
    return scored;
  }

  // 0 where the tables do not tell.
  Seconds eq1_by_tables(const Choices& choices) const {
    if (input_.cut || tables_.variables.empty()) return {};
    const Choices own = screened_ ? screened_->restricted(choices) : choices;
    return own.empty() ? Seconds{} : Seconds{tables_.seconds(own)};
  }

  // Strategies of the space, then the others. A baseline that the space does not hold may be better
  // than all that it holds.
  void gather() {
    report("prediction");
    if (result_.stopped && simulated()) {
      for (Choices& each : scores_.fastest(options_.k_best)) found_.push_back(std::move(each));
    }
    for (const Choices& found : found_) {
      const Scored scored = score_found(found);
      if (may_win_found(scored)) {
        add(scored);
      } else {
        result_.optimal = false;  // what was proved is not of the rest
      }
    }
    result_.alone = result_.best.empty();
    gather_tried();
    result_.nearest = scores_.nearest();
    rank();
    name_found();
  }

  // What was not simulated exchanges so much that there is no time for its Eq. 1, either.
  void gather_tried() {
    for (Scored& each : tried_.all()) {
      if (each.simulated() || !result_.stopped) tried_.add_eq1(each, last_words_.flag());
    }
    result_.baselines = tried_.all();
    result_.baselines.resize(usual_.size());
    for (const Scored& each : tried_.all()) {
      if (may_win(each) && keeps(each.strategy, options_.kept)) add(each);
    }
  }

  // The paper's search asks for no memory.
  bool may_win_found(const Scored& scored) const {
    return may_win(scored) || (options_.algorithm == SearchAlgorithm::dfs && scored.has_eq1());
  }

  // What is proved is called so. Baselines keep their names.
  void name_found() {
    const std::string_view proved = searched_name(options_.objective);
    const std::string name(result_.optimal ? proved : "best");
    for (std::size_t i = 0; i < result_.best.size(); ++i) {
      Strategy& strategy = result_.best[i].strategy;
      strategy = with_recomputation(input_, strategy);
      if (!strategy.name().empty()) continue;
      strategy = strategy.called(i == 0 ? name : fmt::format("{}-{}", name, i + 1));
    }
  }

  void add(const Scored& scored) {
    const auto is_it = [&](const Scored& s) {
      return cut_alike(input_.graph, s.strategy, scored.strategy);
    };
    if (std::none_of(result_.best.begin(), result_.best.end(), is_it)) {
      result_.best.push_back(scored);
    }
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

  // Of several numbers of rounds each has a bound of its own.
  void bound_step() {
    const Seconds least = result_.least();
    const bool bounded = step_bound_ && (!input_.cut || bounds_all_rounds_);
    result_.lower_bound = bounded ? step_bound_->least() : Seconds{};
    if (result_.outside) return;
    result_.optimal = least <= (1 + kEqualSteps) * result_.lower_bound;
    result_.lower_bound = std::min(result_.lower_bound, least);
  }

  const Case& input_;
  const SolveOptions& options_;
  Stopwatch start_;
  std::optional<Stopwatch> tables_begun_;
  Deadline deadline_;
  Deadline last_words_;   ///< for what a stopped search still says of its answer
  SolveLimits limits_;    ///< with the deadline's flag
  const Case of_rounds_;  ///< of which the tables are
  SearchSpace space_;
  Scores scores_;
  const bool has_tables_;  ///< without them only what needs none is tried
  std::vector<Strategy> usual_;
  TriedStrategies tried_;       ///< the usual ones first
  std::vector<Choices> known_;  ///< the usual ones and hybrids that the space holds
  std::vector<Choices> found_;
  ScreenProof proof_;
  std::optional<StepBound> step_bound_;  // of the simulated objective
  bool bounds_all_rounds_ = false;
  std::optional<Screened> screened_;
  std::size_t screened_out_ = 0;
  CostTables tables_;
  Solved result_;
};

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

Searched search_for_best(const Case& input, const SolveOptions& options) {
  Solved found = Search(input, options).run();
  if (found.stopped) throw_if_cancelled(options.limits.cancelled);
  const std::string name(searched_name(options.objective));
  if (!found.best.empty()) return {found.best.front().strategy.called(name), ""};
  const std::string why = none_found(input, found, options.memory_limit);
  if (!found.nearest) throw InputError(why);
  return {with_recomputation(input, found.nearest->strategy).called(name), why};
}

Strategy best_strategy(const Case& input, const SolveOptions& options) {
  return search_for_best(input, options).strategy;
}

Solved solve(const Case& input, const SolveOptions& options) {
  check(options);
  Solved solved = Search(input, options).run();
  check_finite(solved);
  return solved;
}

}  // namespace strata
