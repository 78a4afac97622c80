// Why a step takes its time, why a layer is cut so, and what would have to be true for another
// strategy to win: each told figure against a prediction made by itself.

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/explain/choices.h"
#include "sim/explain/diff.h"
#include "sim/explain/story.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/score.h"
#include "sim/text/units.h"

namespace strata {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

CaseRequest request_for(const std::string& model, const std::string& cluster,
                        SyncAlgorithm sync = SyncAlgorithm::ring) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  request.training.sync.algorithm = sync;
  return request;
}

Case load(const std::string& model, const std::string& cluster) {
  return load_case(request_for(model, cluster));
}

Seconds eq1_seconds(const Case& input, const Strategy& strategy) {
  return predict(input, strategy).eq1_seconds();
}

Contender contender(const Case& input, const Strategy& strategy) {
  const Prediction p = predict(input, strategy);
  return {strategy, p.step_seconds(), p.plan.size()};
}

// The case after the change, as a command has it.
Case after(CaseRequest request, const BreakEven& turn) {
  if (turn.key == "batch") {
    request.training.batch = std::stoll(turn.value);
  } else {
    request.sets.emplace_back(turn.key, turn.value);
  }
  return load_case(request);
}

TEST(Explain, RegretIsWhatInsistingCosts) {
  const Case input = load("lenet5", "p100-1x2");
  const SearchSpace space(input.graph, input.cluster);
  const CostTables tables = eq1_tables(input, space);
  const Strategy best = load_strategy("eq1", input);
  const LayerId layer = input.graph.find("fc1");
  const Explanation explanation = explain(input, {}, best, layer);
  ASSERT_TRUE(explanation.chosen.has_value());
  EXPECT_EQ(explanation.choices[*explanation.chosen].regret, Seconds{0});
  // The referee: all strategies of nine variables of at most five choices that have the choice.
  std::vector<double> least(explanation.choices.size(), kInfinity);
  const std::uint32_t variable = *space.variable_of(layer);
  Choices choices(space.size(), 0);
  for (bool more = true; more;) {
    double& entry = least[choices[variable]];
    entry = std::min(entry, tables.seconds(choices));
    more = false;
    for (std::size_t v = 0; v < choices.size() && !more; ++v) {
      more = ++choices[v] < space[v].cuts->size();
      if (!more) choices[v] = 0;
    }
  }
  for (std::size_t i = 0; i < least.size(); ++i) {
    EXPECT_EQ(explanation.choices[i].regret, Seconds{least[i]} - explanation.optimum);
  }
}

TEST(Explain, TermsAreThoseOfThePrediction) {
  const Case input = load("lenet5", "p100-1x4");
  const Strategy owt = load_strategy("owt", input);
  const LayerId layer = input.graph.find("fc1");
  const Explanation explanation = explain(input, {}, owt, layer);
  const Prediction p = predict(input, owt);
  const ChoiceCosts& costs = explanation.choices[*explanation.chosen];
  Seconds compute, sync;
  for (LayerId l : explanation.layers) {
    compute += p.terms[l()].compute;
    sync += p.terms[l()].sync;
  }
  EXPECT_EQ(costs.compute, compute);
  EXPECT_EQ(costs.sync, sync);
  EXPECT_EQ(costs.transfer_in, p.terms[layer()].transfer);
  EXPECT_EQ(input.graph[costs.binding].name, "flatten");
}

TEST(Diff, ListsTheLayersThatAreCutOtherwise) {
  const Case input = load("lenet5", "p100-1x4");
  const StrategyDiff same = diff(input, load_strategy("data", input), load_strategy("data", input));
  EXPECT_TRUE(same.changed.empty());
  const StrategyDiff owt = diff(input, load_strategy("data", input), load_strategy("owt", input));
  EXPECT_EQ(input.graph[owt.changed.front()].name, "fc1");
  EXPECT_EQ(owt.before.eq1_seconds(), eq1_seconds(input, load_strategy("data", input)));
}

TEST(Explain, EachChoiceIsSimulatedAmongTheSameNeighbours) {
  const Case input = load("alexnet", "p100-1x4");
  const Strategy owt = load_strategy("owt", input);
  const LayerId layer = input.graph.find("classifier_1");
  const Explanation explanation = explain(input, {}, owt, layer);
  EXPECT_EQ(explanation.step, predict(input, owt).step_seconds());
  std::size_t simulated = 0;
  for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
    if (explanation.choices[i].step <= Seconds{}) continue;
    ++simulated;
    const Strategy with = with_choice(owt, explanation, i);
    EXPECT_TRUE(validate(with, input.graph, input.cluster).empty());
    EXPECT_EQ(with[layer], explanation.choices[i].config);
    const Prediction p = predict(input, with);
    EXPECT_EQ(explanation.choices[i].step, p.step_seconds());
    EXPECT_EQ(explanation.choices[i].peak_memory, std::ranges::max(p.peak_memory));
  }
  EXPECT_EQ(simulated, explanation.choices.size());
  const ChoiceCosts& other = explanation.choices[explanation.best_other().value()];
  for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
    if (i == explanation.chosen) continue;
    EXPECT_LE(other.step, explanation.choices[i].step);
  }
}

TEST(Explain, TellsWhatTheLayersReceiveSendAndSum) {
  const Case input = load("lenet5", "p100-1x4");
  const Explanation fc1 = explain(input, {}, load_strategy("owt", input), input.graph.find("fc1"));
  ASSERT_FALSE(fc1.exposures.empty());
  for (const Exposure& part : fc1.exposures) {
    const bool in = std::ranges::find(fc1.layers, part.layer) != fc1.layers.end();
    const bool out = std::ranges::find(fc1.layers, part.producer) != fc1.layers.end();
    EXPECT_TRUE(in || out) << what(input.graph, part);
  }
  EXPECT_EQ(what(input.graph, fc1.exposures.front()), "the transfer from flatten to fc1");
}

// Every change that is told, made by itself: the order turns there, and not a digit nearer.
TEST(BreakEven, IsWhereTheOrderTurns) {
  const CaseRequest request = request_for("alexnet", "p100-2x4", SyncAlgorithm::ps);
  const Case input = load_case(request);
  const Strategy owt = load_strategy("owt", input), data = load_strategy("data", input);
  const std::vector<BreakEven> turns =
      break_evens(input, request, contender(input, owt), {contender(input, data)}).turns.front();
  ASSERT_LT(predict(input, owt).step_seconds(), predict(input, data).step_seconds());
  ASSERT_FALSE(turns.empty());
  for (const BreakEven& turn : turns) {
    SCOPED_TRACE(change_text(turn));
    const Case changed = after(request, turn);
    EXPECT_EQ(predict(changed, owt).step_seconds(), turn.step);
    EXPECT_EQ(predict(changed, data).step_seconds(), turn.other_step);
    EXPECT_LT(turn.other_step, turn.step);
    if (!is_factor(turn.value)) continue;
    const double factor = parse_factor(turn.value);
    if (factor == 2 || factor == 0.5) continue;  // the first that is looked at
    const double digit = std::pow(10, std::floor(std::log10(factor)) - 1);
    BreakEven nearer = turn;
    nearer.value = fmt::format("{:.2g}x", factor > 1 ? factor - digit : factor + digit);
    const Case before = after(request, nearer);
    EXPECT_LT(0.994 * predict(before, owt).step_seconds().value,
              predict(before, data).step_seconds().value);
  }
}

TEST(BreakEven, TurnsBothWays) {
  const CaseRequest request = request_for("alexnet", "p100-2x4", SyncAlgorithm::ps);
  const Case input = load_case(request);
  const Strategy owt = load_strategy("owt", input), data = load_strategy("data", input);
  const std::vector<BreakEven> there =
      break_evens(input, request, contender(input, owt), {contender(input, data)}).turns.front();
  const std::vector<BreakEven> back =
      break_evens(input, request, contender(input, data), {contender(input, owt)}).turns.front();
  ASSERT_EQ(there.size(), back.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    EXPECT_EQ(there[i].key, back[i].key);
    EXPECT_EQ(there[i].value, back[i].value);
    EXPECT_EQ(there[i].step, back[i].other_step);
  }
}

TEST(BreakEven, OneDeviceHasNothingToTurn) {
  EXPECT_TRUE(break_even_keys(load("lenet5", "p100-1x1")).empty());
  EXPECT_THAT(break_even_keys(load("lenet5", "p100-2x4")),
              ::testing::ElementsAre("link.intra.bandwidth", "link.inter.bandwidth",
                                     "device.*.speed", "batch", "overlap"));
}

// How long a task of the kinds is under way in the steady window: between any two moments at which
// one begins or ends, either some is or none.
Seconds under_way(const Prediction& p, const std::vector<WorkKind>& kinds) {
  const SteadyTime steady = p.timeline.steady_time();
  std::vector<std::pair<Seconds, int>> moments;
  for (std::size_t step = 0; step < p.timeline.steps(); ++step) {
    for (std::size_t i = 0; i < p.plan.size(); ++i) {
      const Span& span = p.timeline.span(step, TaskId(i));
      if (std::ranges::find(kinds, work_kind(p.plan[TaskId(i)])) == kinds.end()) continue;
      moments.emplace_back(std::clamp(span.start, steady.from, steady.to), 1);
      moments.emplace_back(std::clamp(span.end, steady.from, steady.to), -1);
    }
  }
  std::ranges::sort(moments);
  Seconds sum, before;
  int running = 0;
  for (const auto& [at, change] : moments) {
    if (running > 0) sum += at - before;
    before = at;
    running += change;
  }
  return sum / steady.steps;
}

TEST(Exposures, AreWhatIsUnderWayAndWhatOfItIsOnThePath) {
  for (const char* model : {"lenet5", "alexnet", "inception_v3"}) {
    for (const char* strategy : {"data", "owt", "eq1"}) {
      for (const SyncAlgorithm sync : {SyncAlgorithm::ps, SyncAlgorithm::ring}) {
        for (const char* overlap : {"on", "off"}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", model, strategy, name(sync), overlap));
          CaseRequest request = request_for(model, "p100-1x4", sync);
          request.sets = {{"overlap", overlap}};
          const Case input = load_case(request);
          const Prediction p = predict(input, load_strategy(strategy, input));
          const auto path = critical_path(p.plan, p.timeline);
          const Exposures found = exposures(input.graph, p.plan, p.timeline, path);
          const Seconds on_path = p.path.transfer + p.path.sync + p.path.statistics;
          const double rounding = 1e-9 * p.step_seconds().value;
          EXPECT_NEAR(found.all.exposed.value, on_path.value, rounding);
          const Seconds lasts =
              under_way(p, {WorkKind::transfer, WorkKind::sync, WorkKind::statistics});
          EXPECT_NEAR(found.all.lasts.value, lasts.value, rounding);
          Seconds exposed, longest;
          for (const Exposure& part : found.parts) {
            EXPECT_LE(part.exposed.value, part.lasts.value + rounding);
            exposed += part.exposed;
            longest = std::max(longest, part.lasts);
          }
          EXPECT_NEAR(exposed.value, on_path.value, rounding);
          EXPECT_LE(longest, found.all.lasts + Seconds{rounding});
        }
      }
    }
  }
}

TEST(Story, IsThatOfThePrediction) {
  const CaseRequest request = request_for("alexnet", "p100-2x2", SyncAlgorithm::ps);
  const Case input = load_case(request);
  const Strategy data = load_strategy("data", input);
  const Prediction p = predict(input, data);
  const Story story = tell(input, request, {}, data);
  EXPECT_EQ(story.step, p.step_seconds());
  EXPECT_EQ(story.eq1, p.eq1_seconds());
  EXPECT_EQ(story.peak_memory, p.largest_peak());
  EXPECT_GT(story.lower_bound, Seconds{});
  EXPECT_LE(story.lower_bound, story.step);
  EXPECT_NEAR(story.exposures.all.exposed.value,
              (story.path.transfer + story.path.sync + story.path.statistics).value, 1e-12);
  ASSERT_EQ(story.rivals.size(), 3u);  // model, owt and eq1
  for (const Rival& rival : story.rivals) {
    const Prediction other = predict(input, rival.strategy);
    EXPECT_EQ(rival.step, other.step_seconds());
    EXPECT_EQ(rival.eq1, other.eq1_seconds());
    EXPECT_EQ(rival.peak_memory, other.largest_peak());
  }
  EXPECT_TRUE(std::ranges::is_sorted(story.rivals, {}, &Rival::step));
  EXPECT_THAT(sentences(input, story),
              AllOf(Contains(HasSubstr("A step takes " + format_seconds(story.step))),
                    Contains(HasSubstr("the sum of classifier_1's gradients")),
                    Contains(HasSubstr("owt takes"))));
}

// Two stages, two rounds: 1f1b has each stage idle for a third of the step.
TEST(Story, OfAPipelineTellsOfItsBubble) {
  CaseRequest request = request_for("lenet5", "p100-1x2");
  request.training.batch = 8, request.training.micro_batch = 4;
  const Case input = load_case(request);
  const Strategy staged = load_strategy("hybrid:pp=2", input);
  PredictOptions options;
  options.breakdown = true;
  const Prediction p = predict(input, staged, options);
  const Story story = tell(input, request, {}, staged);
  EXPECT_GT(story.parts.bubble, Seconds{});
  EXPECT_NEAR(story.parts.bubble.value, p.breakdown.mean.bubble.value, 1e-12);
  EXPECT_THAT(sentences(input, story),
              Contains(AllOf(HasSubstr("hybrid:pp=2 is a pipeline of 2 stages. A device's step on "
                                       "average: "),
                             HasSubstr(format_seconds(story.parts.bubble) + " bubble."))));
  EXPECT_THAT(sentences(input, tell(input, request, {}, load_strategy("data", input))),
              Not(Contains(HasSubstr("pipeline"))));
}

// A sample of VGG-16 keeps 110 MB of activations: a thousand fit on no P100.
TEST(Story, SaysThatNothingFits) {
  CaseRequest request = request_for("vgg16", "p100-1x2");
  request.training.batch_per_device = 512;
  const Case input = load_case(request);
  const Story story = tell(input, request, {}, load_strategy("data", input));
  EXPECT_FALSE(story.fits);
  EXPECT_TRUE(story.nothing_fits());
  EXPECT_LE(story.least_memory, story.peak_memory);
  EXPECT_THAT(sentences(input, story),
              Contains(HasSubstr("Nothing of the search space fits: a device needs at least ")));
}

// Of four rounds under `model`; choices that cut samples would have two rounds by themselves.
TEST(Explain, ComparesChoicesInTheRoundsOfTheStrategy) {
  CaseRequest request = request_for("lenet5", "p100-1x2");
  request.training.batch = 8;
  request.training.micro_batch = 2;
  const Case input = load_case(request);
  const Strategy strategy = load_strategy("model", input);
  const Case rounds = in_rounds(input, strategy);
  ASSERT_EQ(rounds.rounds, 4U);
  const Explanation explanation = explain(input, {}, strategy, input.graph.find("conv2"));
  int others = 0;
  for (std::size_t i = 0; i < explanation.choices.size(); ++i) {
    const Strategy with = with_choice(strategy, explanation, i);
    if (explanation.choices[i].step <= Seconds{}) continue;
    EXPECT_EQ(explanation.choices[i].step, predict(rounds, with).step_seconds());
    others += data_parallel_groups(input.graph, with) > 1;
  }
  EXPECT_GT(others, 0);
}

TEST(QuickToSimulate, CountsEveryRound) {
  CaseRequest request = request_for("lenet5", "p100-1x2");
  request.training.batch = 64;
  request.training.micro_batch = 1;
  const Case input = load_case(request);
  const Strategy model = load_strategy("model", input);
  const Case round = in_rounds(load("lenet5", "p100-1x2"), model);
  ASSERT_EQ(round.rounds, 1U);
  double pairs = 1;
  while (!quick_to_simulate(round, model, pairs)) ++pairs;
  // At most 16 of 64 rounds are simulated, but all of gpipe's.
  EXPECT_FALSE(quick_to_simulate(input, model, 16 * pairs - 1));
  EXPECT_TRUE(quick_to_simulate(input, model, 16 * pairs));
  Case in_gpipes_order = input;
  in_gpipes_order.schedule.kind = ScheduleKind::gpipe;
  EXPECT_FALSE(quick_to_simulate(in_gpipes_order, model, 64 * pairs - 1));
  EXPECT_TRUE(quick_to_simulate(in_gpipes_order, model, 64 * pairs));
}

TEST(Story, OfOneDeviceNothingMoves) {
  const CaseRequest request = request_for("lenet5", "p100-1x1");
  const Case input = load_case(request);
  const Story story = tell(input, request, {}, load_strategy("data", input));
  EXPECT_TRUE(story.rivals.empty());  // all cut nothing
  EXPECT_FALSE(story.link.has_value());
  EXPECT_THAT(sentences(input, story), Contains("Nothing moves between devices."));
}

TEST(Story, EndsWhenItIsCalledOff) {
  const CaseRequest request = request_for("vgg16", "p100-4x4");
  const Case input = load_case(request);
  const std::atomic<bool> off = true;
  SolveLimits limits;
  limits.cancelled = &off;
  EXPECT_THROW(tell(input, request, {}, load_strategy("data", input), limits), Cancelled);
}

// 8,000 devices have many divisors; of 16,000 the routes alone are too many.
TEST(Eq1Tables, FitWithPowersOfTwoWhereDivisorsAreTooMany) {
  const Case input = load("vgg16", "a100-1000x8");
  const auto fit = [&](DegreeSet degrees) {
    SearchOptions options;
    options.degrees = degrees;
    return eq1_tables_fit(input, SearchSpace(input.graph, input.cluster, options));
  };
  EXPECT_FALSE(fit(DegreeSet::divisors));
  EXPECT_TRUE(fit(DegreeSet::pow2));
  EXPECT_TRUE(routes_fit(input.cluster));
  EXPECT_FALSE(routes_fit(load("vgg16", "a100-2000x8").cluster));
}

}  // namespace
}  // namespace strata
