// The lower bound on the simulated step: that it is one, for every strategy and each of the sums
// that it is a mean of, and that the least mean is found.

#include "sim/search/step_bound.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/search/bound_sums.h"
#include "sim/search/layer_chain.h"
#include "tests/sim/search/random_trial.h"

namespace strata {
namespace {

using testing::chain_trial;
using testing::harder_trial;
using testing::pick;
using testing::Random;
using testing::some_choices;
using testing::strategies;
using testing::Trial;

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

// Hosts that are as fast as that make a device's own updates stand out in a bound.
void offload_some(Random& random, Case& input) {
  const auto devices = input.cluster.devices();
  const auto copies = [](const Device& device) { return device.copy_engine; };
  if (input.sync.algorithm == SyncAlgorithm::ps || !std::ranges::all_of(devices, copies)) return;
  if (random() % 4 != 0) return;
  input.sync.offload = Offload::optimizer;
  input.runtime.host = {{{1e15}, 1}, {{1e15}, 1}};
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
    Trial trial = harder_trial(random, 2e6);
    trial.options.reductions = ReductionCuts::all;
    offload_some(random, trial.input);
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    const StepBound bound(trial.input, space);
    PredictOptions options;
    options.eq1 = options.critical_path = options.memory = false;
    Seconds fastest{kInfinity};
    for (const Choices& choices : some_choices(space, 50, random)) {
      try {
        const Prediction p = predict(trial.input, space.strategy("", choices), options);
        const Seconds mean = p.timeline.makespan() / static_cast<double>(options.steps);
        ASSERT_LE(bound.of(choices), mean);
        ASSERT_LE(bound.of(choices), (1 + 1e-9) * p.step_seconds());
        ASSERT_LE(bound.least(), (1 + 1e-9) * p.step_seconds());
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

// Devices and links work in each round; what is computed again only adds to that.
TEST(StepBound, HoldsOfSeveralRounds) {
  std::size_t simulated = 0, tight = 0, again = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Trial trial = random() % 2 == 0 ? harder_trial(random, 2e6) : chain_trial(random, 4);
    Case& input = trial.input;
    input.rounds = static_cast<std::uint32_t>(pick(random, 1, 4));
    input.recompute = static_cast<Recompute>(random() % kRecomputeNames.size());
    const ScheduleKind kinds[] = {ScheduleKind::gpipe, ScheduleKind::one_f_one_b,
                                  ScheduleKind::zb_h1};
    if (random() % 2 == 0) input.schedule.kind = kinds[random() % std::size(kinds)];
    const SearchSpace space(input.graph, input.cluster, trial.options);
    const StepBound bound(input, space);
    PredictOptions options;
    options.eq1 = options.critical_path = options.memory = false;
    Seconds fastest{kInfinity};
    for (const Choices& choices : some_choices(space, 12, random)) {
      try {
        const Prediction p = predict(input, space.strategy("", choices), options);
        ASSERT_LE(bound.of(choices), (1 + 1e-9) * p.step_seconds());
        ASSERT_LE(bound.least(), (1 + 1e-9) * p.step_seconds());
        fastest = std::min(fastest, p.step_seconds());
        again += p.strategy.segments().empty() ? 0 : 1;
        ++simulated;
      } catch (const InputError&) {  // nothing of it takes time
      }
    }
    tight += bound.least() > 0.7 * fastest;
  }
  EXPECT_GT(simulated, 2'000u);
  EXPECT_GT(tight, 20u) << "a bound that says little";
  EXPECT_GT(again, 200u);
}

PredictOptions only_the_step(Random& random) {
  PredictOptions options;
  options.eq1 = options.critical_path = options.memory = false;
  options.all_steps = random() % 2 == 0;
  if (random() % 2 == 0) options.devices = Simulated::one_of_each_class;
  return options;
}

// The largest of the sums that the bound weighs, of one strategy.
double largest_sum(const Case& input, const SearchSpace& space, const Choices& choices) {
  std::vector<Choices> kept;
  for (const std::uint32_t choice : choices) kept.push_back({choice});
  const std::vector<std::vector<double>> no_excess(choices.size(), {0});
  const BoundSums sums = bound_sums(input, space.restricted(kept), no_excess, 1, {});
  double largest = 0;
  for (std::size_t term = 0; term < sums.terms; ++term) {
    std::vector<double> weights(sums.terms);
    weights[term] = 1;
    largest = std::max(largest, least_mean(sums, weights).value);
  }
  return largest;
}

// What the clock rounds away, of a few tens of phases and flows.
constexpr double kTicks = 1e-9;

TEST(StepBound, HoldsForEachOfItsSums) {
  std::size_t simulated = 0, chains = 0, close = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Trial trial = chain_trial(random, 16);
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    const PredictOptions options = only_the_step(random);
    const std::size_t count = trial.input.cluster.device_count() > 4 ? 4 : 12;
    chains += LayerChain::applies(trial.input);
    for (const Choices& choices : some_choices(space, count, random)) {
      try {
        const Prediction p = predict(trial.input, space.strategy("", choices), options);
        const double sum = largest_sum(trial.input, space, choices);
        ASSERT_LE(sum, (1 + 1e-9) * p.step_seconds().value + kTicks);
        close += sum > 0.9 * p.step_seconds().value;
        ++simulated;
      } catch (const InputError&) {  // nothing of it takes time
      }
    }
  }
  EXPECT_GT(simulated, 2'000u);
  EXPECT_GT(chains, 200u);
  EXPECT_GT(close, simulated / 5) << "sums that say little";
}

TEST(StepBound, IsNoMoreThanTheFastestOfAChain) {
  std::size_t spaces = 0, close = 0;
  for (std::uint64_t seed = 1; spaces < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Trial trial = chain_trial(random, 4);
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    if (!LayerChain::applies(trial.input) || strategies(space) > 400) continue;
    const StepBound bound(trial.input, space);
    const PredictOptions options = only_the_step(random);
    double fastest = kInfinity;
    for (const Choices& choices : some_choices(space, 400, random)) {
      const Prediction p = predict(trial.input, space.strategy("", choices), options);
      fastest = std::min(fastest, p.step_seconds().value);
    }
    ASSERT_LE(bound.least().value, (1 + 1e-9) * fastest);
    close += bound.least().value > 0.9 * fastest;
    ++spaces;
  }
  EXPECT_GT(close, 30u);
}

BoundSums random_sums(Random& random, bool bucket) {
  const auto number = [&] { return static_cast<double>(pick(random, 0, 100)); };
  BoundSums sums;
  sums.terms = 3;
  sums.paired = 1;
  sums.chain = 2;
  const std::int64_t variables = pick(random, 1, 5);
  for (std::int64_t v = 0; v < variables; ++v) {
    std::vector<BoundTerms>& choices = sums.variables.emplace_back();
    for (std::int64_t c = pick(random, 1, 4); c > 0; --c) {
      choices.push_back({number(), number(), number()});
    }
  }
  for (std::size_t v = 0; v + 1 < sums.variables.size(); ++v) {
    std::vector<double>& pairs = sums.pairs.emplace_back();
    pairs.resize(2 * sums.variables[v].size() * sums.variables[v + 1].size());
    for (double& pair : pairs) pair = number();
  }
  if (!bucket) return sums;
  sums.bucket.seconds_per_byte = 1;
  sums.bucket.first_limit = 20;
  double above = 0;
  sums.bucket.variables.resize(sums.variables.size());
  for (std::size_t v = sums.variables.size(); v-- > 0;) {
    LastBucket::Variable& variable = sums.bucket.variables[v];
    variable.bytes = static_cast<double>(pick(random, 0, 3)) * 12;
    variable.may_fill_later = above + variable.bytes >= 30;
    if (variable.bytes < 30) above += variable.bytes;
    for (std::size_t c = 0; c < sums.variables[v].size(); ++c) {
      variable.on_all.push_back(random() % 2 == 0);
    }
  }
  return sums;
}

// Fills buckets from the last layer on, the first to 20 bytes and others to 30: what is with the
// first layer.
double bytes_with_first(const BoundSums& sums, const Choices& choices) {
  double filled = 0, limit = 20;
  for (std::size_t v = choices.size(); v-- > 0;) {
    const LastBucket::Variable& variable = sums.bucket.variables[v];
    if (!variable.on_all[choices[v]]) {
      if (v == 0) return 0;
      continue;
    }
    if (v == 0) return variable.bytes > 0 ? filled : 0;  // its own bytes are no part of the walk
    filled += variable.bytes;
    if (filled < limit) continue;
    filled = 0;
    limit = 30;
  }
  return 0;
}

TEST(WeightedBound, FindsTheLeastMean) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool bucket = random() % 2 == 0;
    const BoundSums sums = random_sums(random, bucket);
    const std::vector<double> weights = {0.25, 0.5, 0.25};
    const LeastMean found = least_mean(sums, weights);
    double least = kInfinity, by_choices = kInfinity;
    Choices choices(sums.variables.size(), 0);
    for (std::size_t v = 0; v < choices.size();) {
      double mean = bucket ? weights[sums.chain] * bytes_with_first(sums, choices) : 0;
      for (std::size_t k = 0; k < choices.size(); ++k) {
        for (std::size_t t = 0; t < sums.terms; ++t) {
          mean += weights[t] * sums.variables[k][choices[k]][t];
          if (k == 0 || t < sums.paired) continue;
          mean += weights[t] * sums.pair(k - 1, choices[k - 1], choices[k])[t - sums.paired];
        }
      }
      least = std::min(least, mean);
      if (choices == found.choices) by_choices = mean;
      for (v = 0; v < choices.size() && ++choices[v] == sums.variables[v].size(); ++v) {
        choices[v] = 0;
      }
    }
    ASSERT_LE(found.value, least + 1e-9);
    ASSERT_LE(found.value, by_choices + 1e-9);
    if (!bucket) {
      ASSERT_NEAR(found.value, least, 1e-9);
    }
    double of_sums = 0;
    for (std::size_t t = 0; t < sums.terms; ++t) of_sums += weights[t] * found.sums[t];
    ASSERT_NEAR(found.value, of_sums, 1e-9);
  }
}

double start_interval(const Timeline& timeline) {
  const Timeline::Window window = timeline.steady_window();
  const auto first_start = [&](std::size_t step) {
    Seconds first{kInfinity};
    for (const Span& span : timeline.step(step)) first = std::min(first, span.start);
    return first.value;
  };
  return (first_start(window.last) - first_start(window.first)) /
         static_cast<double>(window.last - window.first);
}

// Where steps begin further apart than they end, later steps tell.
TEST(Steps, AreNoShorterThanWhatTheyComeTo) {
  std::size_t apart = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Trial trial = chain_trial(random, 4);
    trial.input.sync = SyncAlgorithm::ps;
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    PredictOptions options;
    options.eq1 = options.critical_path = options.memory = false;
    for (const Choices& choices : some_choices(space, 4, random)) {
      const Strategy strategy = space.strategy("", choices);
      options.steps = 4;
      const Prediction p = predict(trial.input, strategy, options);
      double least = start_interval(p.timeline);
      if (least <= (1 + 1e-9) * p.step_seconds().value) continue;
      for (options.steps = 8; options.steps <= 32; options.steps *= 2) {
        least = std::min(least, start_interval(predict(trial.input, strategy, options).timeline));
      }
      EXPECT_GE((1 + 1e-8) * p.step_seconds().value, least);
      ++apart;
    }
  }
  EXPECT_GT(apart, 3u);
}

}  // namespace
}  // namespace strata
