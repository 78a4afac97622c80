// From a network to its best strategy, against trying every strategy: on random small networks of
// every op, however wired, on clusters of up to four devices, every search finds the same optimum,
// to the bit, and it is Eq. 1's.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/what_if.h"
#include "sim/solver/depth_first.h"
#include "sim/solver/solve.h"
#include "sim/study/case/eq1_tables.h"
#include "sim/study/search/solve.h"
#include "sim/study/search/step_bound.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using testing::pick;
using testing::Random;

constexpr int kNetworks = 1000;
constexpr double kMostStrategies = 2e6;  // that are tried one by one

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

double strategies(const SearchSpace& space) {
  double product = 1;
  for (std::size_t v = 0; v < space.size(); ++v) {
    product *= static_cast<double>(space[v].cuts->size());
  }
  return product;
}

// A cluster of up to four devices with its cost models; its network is to be replaced.
Case random_cluster(Random& random) {
  static std::map<std::string, Case> loaded;
  const char* const names[] = {"p100-1x2", "p100-2x1", "p100-1x3", "k80-3x1",
                               "p100-1x4", "p100-2x2", "h200-2x2", "k80-4x1",
                               "k80-1x4",  "h200-1x4", "p100-1x1", "star"};
  const std::string name = names[random() % std::size(names)];
  auto at = loaded.find(name);
  if (at == loaded.end()) {
    CaseRequest request;
    request.model = "lenet5";
    request.cluster = name == "star" ? "p100-1x4" : name;
    at = loaded.emplace(name, load_case(request)).first;
    if (name == "star") at->second.cluster = testing::star(4);
  }
  return at->second;
}

struct Trial {
  Case input;
  SearchOptions options;
};

// Of a few networks on one cluster the first whose strategies can all be tried.
Trial random_trial(Random& random) {
  for (;;) {
    Trial trial{random_cluster(random), {}};
    trial.input.graph = testing::random_network(random, pick(random, 3, 8));
    trial.input.sync = static_cast<SyncAlgorithm>(random() % kSyncNames.size());
    trial.options = {static_cast<DegreeSet>(random() % 3), random() % 2 == 0, random() % 2 == 0,
                     static_cast<ReductionCuts>(random() % 3)};
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    if (strategies(space) <= kMostStrategies) return trial;
  }
}

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
            trial_.input.dtypes);
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

// All choices of a small space, else some at random.
std::vector<Choices> some_choices(const SearchSpace& space, std::size_t most, Random& random) {
  std::vector<Choices> all;
  if (strategies(space) > static_cast<double>(most)) {
    for (std::size_t i = 0; i < most; ++i) {
      Choices& choices = all.emplace_back();
      for (std::size_t v = 0; v < space.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random() % space[v].cuts->size()));
      }
    }
    return all;
  }
  for (Choices choices(space.size(), 0);;) {
    all.push_back(choices);
    std::size_t v = space.size();
    while (v > 0 && ++choices[v - 1] == space[v - 1].cuts->size()) choices[--v] = 0;
    if (v == 0) return all;
  }
}

// A straggler may be the first device.
void slow_one_down(Random& random, Cluster& cluster) {
  const std::string& name = cluster[DeviceId(random() % cluster.device_count())].name;
  cluster = apply(cluster, "device." + name + ".speed", "0.5");
}

// What a device computes in a step of this plan, its partial sums and updates left out.
double computed_on(const Case& input, const Prediction& p, DeviceId device) {
  double sum = 0;
  for (std::size_t i = 0; i < p.plan.size(); ++i) {
    const Task& task = p.plan[TaskId(i)];
    if (task.kind != TaskKind::compute || task.device != device || is_sum(task.phase)) continue;
    if (task.phase != Phase::update) sum += p.costs[i].seconds.value;
  }
  return sum / input.cluster[device].speed;
}

double computed_on_either(const Case& input, const Prediction& p) {
  return std::max(computed_on(input, p, DeviceId(0u)),
                  computed_on(input, p, DeviceId(input.cluster.device_count() - 1)));
}

TEST(StepBound, IsWhatNoStrategySustainsLess) {
  std::size_t simulated = 0, tight = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Trial trial = random_trial(random);
    trial.options.reductions = ReductionCuts::all;
    if (random() % 4 == 0) slow_one_down(random, trial.input.cluster);
    if (random() % 4 == 0) trial.input.overlap = Overlap::none;
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    const StepBound bound(trial.input, space);
    PredictOptions options;
    options.eq1 = options.critical_path = options.memory = false;
    Seconds fastest{kInfinity};
    for (const Choices& choices : some_choices(space, 50, random)) {
      ASSERT_LE(bound.least(), (1 + 1e-12) * bound.of(choices));
      try {
        const Prediction p = predict(trial.input, space.strategy("", choices), options);
        const Seconds mean = p.timeline.makespan() / static_cast<double>(options.steps);
        ASSERT_LE(bound.of(choices), mean);
        ASSERT_LE(bound.of(choices), (1 + 1e-9) * p.step_seconds());
        // Where the update is small, it is just what one of the two computes.
        ASSERT_GE(bound.of(choices).value, computed_on_either(trial.input, p) - 1e-9);
        fastest = std::min(fastest, mean);
        ++simulated;
      } catch (const InputError&) {  // nothing of it takes time
      }
    }
    tight += bound.least() > 0.8 * fastest;
  }
  EXPECT_GT(simulated, 5'000u);
  EXPECT_GT(tight, 30u) << "a bound that says little";
}

}  // namespace
}  // namespace strata
