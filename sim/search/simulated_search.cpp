#include "sim/search/simulated_search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/solver/discount.h"
#include "sim/solver/elimination.h"
#include "sim/solver/restriction.h"
#include "sim/solver/solve.h"

namespace strata {
namespace {

// Parts of what Eq. 1 adds up that a step may show: of transfers, which the next layer waits for,
// more than of sums of gradients, which the rest of the backward pass hides.
constexpr std::array kTransfers = {1.0, 0.6, 0.3, 0.1};
constexpr std::array kSums = {1.0, 0.3, 0.1, 0.03, 0.0};
// Rankings of moves besides the one of the discount whose optimum is the fastest: as if all sums
// were hidden, and as if nearly all transfers were.
constexpr std::array kRankings = {Discount{1, 0}, Discount{0.1, 1}};
// Discounts are of problems that nearly reduce to a chain, so that each optimum takes milliseconds,
// and of tables of which a few copies do no harm.
constexpr std::size_t kFewNodes = 4, kLargestTables = std::size_t{256} << 20;
// So many that make another choice somewhere, where all layers together have so few.
constexpr std::size_t kAlternatives = 16, kFewChoices = 2000;
// Of all sums of gradients.
constexpr double kLargePart = 0.05;
// Choices times layers: ranking a strategy's moves by the estimate takes milliseconds.
constexpr std::size_t kQuickToRank = 50'000;
constexpr std::size_t kFewestEvaluations = 200, kMostEvaluations = 2000;
// A search ends after its starts and so many tasks of simulated steps, which take about a second
// of two cores. Simulations of small networks are short: those may be more.
constexpr std::size_t kUsualWork = 2'000'000;

class SimulatedSearch {
 public:
  SimulatedSearch(const SimulatedSpace& space, const StepBound& bound, Scores& scores,
                  const SolveOptions& options, const SolveLimits& limits)
      : space_(space),
        bound_(bound),
        scores_(scores),
        options_(options),
        limits_(limits),
        compute_(compute_seconds()) {}

  Refinement run(std::vector<Choices> starts) {
    std::vector<CostTables> rankings;
    if (space_.tables.bytes() <= kLargestTables) {
      add_discounts(starts, rankings);
      for (const Discount& discount : kRankings) rankings.push_back(tables_at(discount));
    } else {
      rankings.push_back(space_.tables);
    }
    return refine(
        rankings, starts, [&](const Choices& c) { return evaluate(c); }, refine_options(), limits_);
  }

 private:
  Choices original(const Choices& choices) const {
    return space_.screened != nullptr ? space_.screened->original(choices) : choices;
  }

  std::vector<std::vector<double>> compute_seconds() const {
    std::vector<std::vector<double>> compute(space_.tables.variables.size());
    for (std::size_t v = 0; v < compute.size(); ++v) {
      const std::vector<double>& all = *space_.tables.variables[v];
      for (std::uint32_t c = 0; c < all.size(); ++c) {
        const std::uint32_t choice = space_.screened != nullptr ? space_.screened->kept[v][c] : c;
        compute[v].push_back(std::min(all[c], bound_.compute(v, choice)));
      }
    }
    return compute;
  }

  CostTables tables_at(const Discount& discount) const {
    return discounted(space_.tables, compute_, discount);
  }

  SolveLimits on_one_thread() const {
    SolveLimits limits = limits_;
    limits.threads = 1;
    limits.progress = {};
    return limits;
  }

  struct Optimum {
    Choices choices;
    double seconds = kInfinity;  // of its simulated step
  };

  // The optima of the discounts, and what is near the fastest of them, whose tables rank moves. The
  // fastest comes first: a search that is out of time evaluates that one.
  void add_discounts(std::vector<Choices>& starts, std::vector<CostTables>& rankings) {
    if (final_nodes(space_.tables) > kFewNodes) return;
    const std::vector<Optimum> optima = discounted_optima(starts);
    const auto fastest =
        std::min_element(optima.begin(), optima.end(),
                         [](const Optimum& a, const Optimum& b) { return a.seconds < b.seconds; });
    if (fastest->choices.empty()) return;
    rankings.push_back(tables_at(discount_at(fastest - optima.begin())));
    if (fastest->seconds < kInfinity) starts.insert(starts.begin(), fastest->choices);
    for (const Optimum& each : optima) {
      if (!each.choices.empty()) starts.push_back(each.choices);
    }
    const std::vector<Choices> others = alternatives(rankings.front(), fastest->choices);
    starts.insert(starts.end(), others.begin(), others.end());
    for (const CostTables& tables : {rankings.front(), tables_at({1, 0})}) {
      const std::vector<Choices> alike = equal_copies(tables);
      starts.insert(starts.end(), alike.begin(), alike.end());
    }
  }

  // The best under these tables in which all layers with large sums of gradients have as many
  // copies of their parameters. Their sums hide behind the same computation: what is best for one
  // follows from the others, so they had best change together.
  std::vector<Choices> equal_copies(const CostTables& tables) const {
    if (count_choices(tables) > kFewChoices) return {};
    std::map<std::int64_t, std::vector<Choices>> kept;  // by copies: of all variables
    for (std::size_t v = 0; v < tables.variables.size(); ++v) {
      for (const auto& [copies, choices] : by_copies(v)) kept.try_emplace(copies);
    }
    std::vector<Choices> found;
    for (auto& [copies, choices] : kept) {
      if (is_set(limits_.cancelled)) break;
      for (std::size_t v = 0; v < tables.variables.size(); ++v) {
        const auto alike = by_copies(v);
        const auto with = alike.find(copies);
        choices.push_back(with != alike.end() ? with->second : all_of(*tables.variables[v]));
      }
      const Restriction alone = restrict_choices(tables, choices);
      const SolveResult best = solve(alone.tables, {}, 1, on_one_thread());
      if (!best.best.empty()) found.push_back(alone.original(best.best.front().choices));
    }
    return found;
  }

  // Of gradients, whatever the choice.
  double largest_sums(std::size_t v) const {
    double largest = 0;
    for (std::size_t c = 0; c < compute_[v].size(); ++c) {
      largest = std::max(largest, (*space_.tables.variables[v])[c] - compute_[v][c]);
    }
    return largest;
  }

  // The choices of a variable by how many copies of its parameters they make; none where its sums
  // of gradients are a small part of all.
  std::map<std::int64_t, Choices> by_copies(std::size_t v) const {
    std::map<std::int64_t, Choices> choices;
    double whole = 0;
    for (std::size_t u = 0; u < compute_.size(); ++u) whole += largest_sums(u);
    if (largest_sums(v) < kLargePart * whole) return choices;
    const Cuts& cuts = *searched_space()[v].cuts;
    for (std::uint32_t c = 0; c < cuts.size(); ++c) {
      const Degrees& degrees = cuts[c].degrees;
      choices[product(degrees) / degrees[Dim::c] / degrees.r].push_back(c);
    }
    return choices;
  }

  static Discount discount_at(std::ptrdiff_t i) {
    const auto place = static_cast<std::size_t>(i);
    return {kTransfers[place / kSums.size()], kSums[place % kSums.size()]};
  }

  // By discount; empty where there is no time for it.
  std::vector<Optimum> discounted_optima(std::span<const Choices> known) {
    std::vector<Optimum> optima(kTransfers.size() * kSums.size());
    parallel_for(optima.size(), limits_.threads, [&](std::size_t i, unsigned) {
      throw_if_cancelled(limits_.cancelled);
      const CostTables tables = tables_at(discount_at(static_cast<std::ptrdiff_t>(i)));
      const SolveResult found = solve(tables, known, 1, on_one_thread());
      if (found.best.empty() || is_set(limits_.cancelled)) return;
      optima[i] = {found.best.front().choices, evaluate(found.best.front().choices)};
    });
    return optima;
  }

  // The best under these tables that make another choice somewhere, those first that lose least.
  std::vector<Choices> alternatives(const CostTables& tables, const Choices& optimum) const {
    if (count_choices(tables) > kFewChoices) return {};
    struct Other {
      double seconds;
      std::uint32_t variable, choice;
      auto operator<=>(const Other&) const = default;
    };
    std::vector<std::vector<Other>> by_variable(tables.variables.size());
    parallel_for(by_variable.size(), limits_.threads, [&](std::size_t v, unsigned) {
      const auto variable = static_cast<std::uint32_t>(v);
      const auto least = counterfactuals(tables, variable, optimum, on_one_thread());
      for (std::uint32_t c = 0; c < least.size(); ++c) {
        if (c != optimum[v]) by_variable[v].push_back({least[c], variable, c});
      }
    });
    std::vector<Other> others;
    for (const auto& of_one : by_variable)
      others.insert(others.end(), of_one.begin(), of_one.end());
    std::sort(others.begin(), others.end());
    std::vector<Choices> found;
    for (const Other& other : others) {
      if (found.size() == kAlternatives || is_set(limits_.cancelled)) break;
      const auto makes_it = [&](const Choices& c) { return c[other.variable] == other.choice; };
      if (std::any_of(found.begin(), found.end(), makes_it)) continue;
      const Restriction with_it =
          restrict_choices(tables, all_but(tables, other.variable, other.choice));
      const SolveResult best = solve(with_it.tables, {}, 1, on_one_thread());
      if (!best.best.empty()) found.push_back(with_it.original(best.best.front().choices));
    }
    return found;
  }

  // All choices of a variable.
  static Choices all_of(const std::vector<double>& seconds) {
    Choices all(seconds.size());
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }

  // All choices of all variables but one, which makes this one.
  static std::vector<Choices> all_but(const CostTables& tables, std::uint32_t variable,
                                      std::uint32_t choice) {
    std::vector<Choices> kept;
    for (const auto& seconds : tables.variables) {
      kept.push_back(all_of(*seconds));
    }
    kept[variable] = {choice};
    return kept;
  }

  // Infinite for what is too large. Whether it is takes time to know: it is asked of the starts and
  // of what is better than the best before its batch, so that the order within a batch makes no
  // difference.
  double evaluate(const Choices& choices) {
    const bool memory = options_.k_best > 1 || best_before_ == kInfinity;
    Scored scored = scores_.of(original(choices), memory, limits_.cancelled);
    work_ += scored.work;
    if (!memory && scored.simulated() && scored.step.value <= best_before_) {
      scored = scores_.of(original(choices), true, limits_.cancelled);
    }
    const bool may_win = scored.simulated() && !scores_.too_large(scored);
    return may_win ? scored.step.value : kInfinity;
  }

  RefineOptions refine_options() {
    RefineOptions options;
    options.evaluations = options_.evaluations.value_or(usual_evaluations());
    options.kinds = kinds();
    options.done = [this, enough = good_enough()](double best) {
      best_before_ = best;
      const bool proved = options_.k_best == 1 && best <= enough;
      return proved || (!options_.evaluations && work_ > kUsualWork);
    };
    if (options_.k_best == 1) {
      options.lower_bound = [this](const Choices& c) { return bound_.of(original(c)).value; };
    }
    options.least = bound_.least().value;
    if (count_choices(space_.tables) * space_.tables.variables.size() <= kQuickToRank) {
      options.estimate.emplace(space_.tables, compute_);
    }
    return options;
  }

  std::size_t usual_evaluations() const {
    return std::clamp(2 * count_choices(space_.tables), kFewestEvaluations, kMostEvaluations);
  }

  // What takes no more is proved to be as good as was asked.
  double good_enough() const {
    const double bound = bound_.least().value;
    return std::max((1 + kEqualSteps) * bound, bound / (1 - options_.gap));
  }

  // With the choices of the tables.
  const SearchSpace& searched_space() const {
    return space_.screened != nullptr ? space_.screened->space : space_.space;
  }

  ChoiceKinds kinds() const {
    const SearchSpace& space = searched_space();
    std::map<Cut, std::uint32_t> numbers;
    ChoiceKinds kinds(space.size());
    for (std::size_t v = 0; v < space.size(); ++v) {
      for (const Cut& cut : *space[v].cuts) {
        const auto next = static_cast<std::uint32_t>(numbers.size());
        kinds[v].push_back(numbers.emplace(cut, next).first->second);
      }
    }
    return kinds;
  }

  const SimulatedSpace& space_;
  const StepBound& bound_;
  Scores& scores_;
  const SolveOptions& options_;
  const SolveLimits& limits_;
  const std::vector<std::vector<double>> compute_;  // by variable and choice
  double best_before_ = kInfinity;                  // changes between batches
  std::atomic<std::size_t> work_ = 0;
};

}  // namespace

Refinement search_simulated(const SimulatedSpace& space, const std::vector<Choices>& starts,
                            const StepBound& bound, Scores& scores, const SolveOptions& options,
                            const SolveLimits& limits) {
  return SimulatedSearch(space, bound, scores, options, limits).run(starts);
}

}  // namespace strata
