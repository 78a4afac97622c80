// From a network to its best strategy, against trying every strategy: on random small networks of
// every op, however wired, on clusters of up to four devices, every search finds the same optimum,
// to the bit, and it is Eq. 1's.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/case/eq1_tables.h"
#include "sim/search/solve.h"
#include "sim/solver/depth_first.h"
#include "sim/solver/solve.h"
#include "tests/sim/search/random_trial.h"

namespace strata {
namespace {

using testing::Random;
using testing::random_trial;
using testing::strategies;
using testing::Trial;

constexpr int kNetworks = 1000;

// The referee: counts through all strategies like an odometer, the last variable fastest. What the
// variables before the first wheel that turned cost is not added up again.
class Odometer {
 public:
  explicit Odometer(const CostTables& tables)
      : tables_(tables),
        choices_(tables.variables.size(), 0),
        until_(tables.variables.size() + 1, 0.0),
        edges_(tables.variables.size()) {
    for (const CostTables::Edge& edge : tables.edges) {
      edges_[std::max(edge.from, edge.to)].push_back(&edge);
    }
  }

  double optimum() {
    double least = kInfinity;
    for (std::size_t turned = 0; turned < choices_.size(); turned = turn()) {
      for (std::size_t v = turned; v < choices_.size(); ++v) until_[v + 1] = until_[v] + cost(v);
      least = std::min(least, until_.back());
    }
    return least;
  }

 private:
  // Of variable v and its edges to those before it.
  double cost(std::size_t v) const {
    double sum = (*tables_.variables[v])[choices_[v]];
    for (const CostTables::Edge* edge : edges_[v]) {
      sum += edge->table->at(choices_[edge->from], choices_[edge->to]);
    }
    return sum;
  }

  // On by one; returns the first wheel that turned, or how many there are after the last strategy.
  std::size_t turn() {
    for (std::size_t v = choices_.size(); v-- > 0;) {
      if (++choices_[v] < tables_.variables[v]->size()) return v;
      choices_[v] = 0;
    }
    return choices_.size();
  }

  const CostTables& tables_;
  Choices choices_;
  std::vector<double> until_;
  std::vector<std::vector<const CostTables::Edge*>> edges_;
};

class Searches {
 public:
  explicit Searches(const Trial& trial)
      : trial_(trial),
        space_(trial.input.graph, trial.input.cluster, trial.options),
        tables_(eq1_tables(trial.input, space_)),
        optimum_(Odometer(tables_).optimum()) {}

  void check_elimination(Random& random) {
    check(eliminate(tables_, plan_elimination(tables_)));
    std::vector<std::uint32_t> order(space_.size());
    std::iota(order.begin(), order.end(), 0u);
    check(eliminate(tables_, plan_elimination(tables_, order)));
    std::reverse(order.begin(), order.end());
    check(eliminate(tables_, plan_elimination(tables_, order)));
    for (int shuffle = 0; shuffle < 2; ++shuffle) {
      std::shuffle(order.begin(), order.end(), random);
      check(eliminate(tables_, plan_elimination(tables_, order)));
    }
  }

  void check_others() {
    check(depth_first(tables_));
    const SolveResult solved = strata::solve(tables_, {}, 1);
    ASSERT_EQ(solved.best.size(), 1u);
    check(solved.best.front());
    EXPECT_EQ(solved.lower_bound, optimum_);
  }

  // A table's entry is within half a quantum of Eq1's terms, whose own sums round.
  void check_eq1(Random& random) {
    Eq1 eq1(trial_.input.graph, trial_.input.cluster, models_, trial_.input.sync.algorithm,
            compute_settings(trial_.input));
    const double entries = static_cast<double>(tables_.variables.size() + tables_.edges.size());
    for (int round = 0; round < 3; ++round) {
      const Choices choices = round == 0 ? best_ : random_choices(random);
      const double seconds = tables_.seconds(choices);
      const std::vector<LayerTerms> terms = eq1.terms(space_.strategy("", choices));
      ASSERT_NEAR(total(terms).value, seconds, 1e-12 * seconds + entries * tables_.quantum);
    }
  }

  // What `strata solve` says: no worse than the baselines, which the space may not hold.
  void check_study() {
    SolveOptions options;
    options.space = trial_.options;
    options.objective = Objective::eq1;
    options.simulate = false;
    const Solved solved = solve(trial_.input, options);
    const double seconds = solved.best.front().eq1.value;
    EXPECT_EQ(solved.optimal, !solved.outside);
    EXPECT_EQ(solved.final_nodes, final_nodes(tables_));
    if (solved.optimal) {
      ASSERT_NEAR(seconds, optimum_, 1e-12 * seconds + 100 * tables_.quantum);
    } else {
      EXPECT_LE(seconds, optimum_);
    }
  }

  std::size_t k() const { return final_nodes(tables_); }

 private:
  void check(const Solution& solution) {
    ASSERT_TRUE(solution.found());
    EXPECT_EQ(solution.seconds, optimum_);
    EXPECT_TRUE(solution.optimal());
    EXPECT_EQ(tables_.seconds(solution.choices), optimum_);
    best_ = solution.choices;
  }

  Choices random_choices(Random& random) const {
    Choices choices;
    for (const auto& seconds : tables_.variables) {
      choices.push_back(static_cast<std::uint32_t>(random() % seconds->size()));
    }
    return choices;
  }

  const Trial& trial_;
  SearchSpace space_;
  CostTables tables_;
  double optimum_;
  Choices best_;
  std::vector<const CostModel*> models_ = cost_models(trial_.input);
};

// How much of what there is was met; by names as in tables and model files.
struct Met {
  std::set<std::string> ops, syncs;
  std::set<DegreeSet> degrees;
  int larger_k = 0, large_spaces = 0, alone = 0;

  void add(const Trial& trial, std::size_t k) {
    for (const Layer& layer : trial.input.graph.layers()) ops.emplace(name(layer.op));
    syncs.emplace(kSyncNames[static_cast<std::size_t>(trial.input.sync.algorithm)]);
    degrees.insert(*trial.options.degrees);
    larger_k += k > 2;
    alone += trial.input.cluster.device_count() == 1;
    large_spaces += strategies({trial.input.graph, trial.input.cluster, trial.options}) > 1e4;
  }
};

TEST(Solve, FindsWhatTryingEveryStrategyFinds) {
  Met met;
  for (std::uint64_t seed = 1; seed <= kNetworks; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Trial trial = random_trial(random);
    Searches searches(trial);
    ASSERT_NO_FATAL_FAILURE(searches.check_elimination(random));
    ASSERT_NO_FATAL_FAILURE(searches.check_others());
    ASSERT_NO_FATAL_FAILURE(searches.check_eq1(random));
    ASSERT_NO_FATAL_FAILURE(searches.check_study());
    ASSERT_FALSE(HasFailure());
    met.add(trial, searches.k());
  }
  EXPECT_GT(met.larger_k, 100);
  EXPECT_GT(met.large_spaces, 100);
  EXPECT_LT(met.alone, 200);
  EXPECT_GE(met.ops.size(), 14u);
  EXPECT_EQ(met.syncs.size(), kSyncNames.size());
  EXPECT_EQ(met.degrees.size(), 3u);
  RecordProperty("networks_with_larger_k", met.larger_k);
  RecordProperty("large_spaces", met.large_spaces);
}

}  // namespace
}  // namespace strata
