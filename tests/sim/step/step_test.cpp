// What small networks' steps come to, action by action.

#include "sim/step/step.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {
namespace {

/// A reader of a Step, in words.
struct Words {
  const Graph& graph;
  const Step& step;

  std::string of(LayerId layer) const { return graph[layer].name; }
  // By the layer that ends it.
  std::string of_bucket(std::uint32_t number) const {
    return of(step.buckets[number].parts.back().layer);
  }

  std::string operator()(const Read& x) const {
    const std::string how = x.from == ReadFrom::another_reading ? " as another did"
                            : x.from == ReadFrom::before        ? " kept"
                                                                : "";
    return fmt::format("{} reads {}{}", of(x.layer), of(graph[x.layer].inputs[x.input]), how);
  }
  std::string operator()(const GatherParameters& x) const {
    return fmt::format("{} gathers parameters{}", of(x.layer), x.backward ? " again" : "");
  }
  std::string operator()(const Compute& x) const {
    return fmt::format("{} {}{}", of(x.layer), name(x.phase), x.and_weights ? " and weights" : "");
  }
  std::string operator()(const SumStatistics& x) const { return of(x.layer) + " sums statistics"; }
  std::string operator()(const SumPartialOutputs& x) const { return of(x.layer) + " sums terms"; }
  std::string operator()(const SumOutputGradient& x) const {
    return of(x.layer) + " has its gradient";
  }
  std::string operator()(const ReturnGradient& x) const {
    return fmt::format("{} returns to {}", of(x.layer), of(graph[x.layer].inputs[x.input]));
  }
  std::string operator()(const Forget& x) const {
    return fmt::format("{} forgets{}", of(x.layer), x.inputs_alone ? " inputs" : "");
  }
  std::string operator()(const PutTogetherAgain& x) const {
    return of(x.layer) + " puts together again";
  }
  std::string operator()(const GatherInputsAgain& x) const {
    return of(x.layer) + " gathers again";
  }
  std::string operator()(const SumGradients& x) const { return "sum to " + of_bucket(x.bucket); }
  std::string operator()(const ReduceScatter& x) const {
    return "scatter to " + of_bucket(x.bucket);
  }
  std::string operator()(const UpdateLayer& x) const { return "update " + of(x.layer); }
  std::string operator()(const UpdateBucket& x) const { return "update to " + of_bucket(x.bucket); }
  std::string operator()(const UpdateInterval& x) const {
    return "update interval to " + of_bucket(x.bucket);
  }
  std::string operator()(const SumIntervals& x) const {
    return "sum intervals of " + of_bucket(x.first);
  }
  std::string operator()(const SumGradientNorm&) const { return "norm"; }
  std::string operator()(const GatherUpdated& x) const {
    return "gather to " + of_bucket(x.bucket);
  }
};

// A line each; "1:" before what is of round 1, "again" behind what is computed again.
std::string text_of(const Graph& graph, const Strategy& strategy, const StepOptions& options) {
  const Step step = make_step(graph, strategy, options);
  std::string text;
  for (const Action& action : step.actions) {
    if (step.rounds > 1) text += fmt::format("{}: ", action.round);
    text += std::visit(Words{graph, step}, action.work);
    text += action.again_for.valid() ? ", again\n" : "\n";
  }
  return text;
}

/// A network of two products, and how they are cut.
struct Two {
  Two(const Degrees& first, const Degrees& second) {
    GraphBuilder builder("two", 8);
    const LayerId data = builder.add("data", Input{{1, 8, 1, 1, 1}}, {});
    const LayerId a = builder.add("a", FullyConnected{8}, {data});
    const LayerId b = builder.add("b", FullyConnected{8}, {a});
    builder.add("loss", SoftmaxCrossEntropy{}, {b});
    graph = std::move(builder).build();
    configs = {config_on_first_devices(first), config_on_first_devices(first),
               config_on_first_devices(second), config_on_first_devices(second)};
  }
  std::string text(const StepOptions& options = {}) const {
    return text_of(graph, Strategy("two", configs), options);
  }
  Graph graph;
  std::vector<Config> configs;
};

Degrees cut(Dim dim, std::int32_t ways) {
  Degrees degrees = kWhole;
  degrees[dim] = ways;
  return degrees;
}

// The lines that say one of the words.
std::string lines_with(const std::string& text, std::initializer_list<std::string_view> words) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const auto says = [&](std::string_view word) { return line.find(word) != line.npos; };
    if (std::ranges::any_of(words, says)) lines += line;
    at = end;
  }
  return lines;
}

TEST(Step, ReplicasSumAndUpdateWhatTheirBackwardPassesMade) {
  EXPECT_EQ(Two(cut(Dim::n, 2), cut(Dim::n, 2)).text(),
            "a reads data\n"
            "a forward\n"
            "b reads a\n"
            "b forward\n"
            "loss reads b\n"
            "loss forward_statistics\n"
            "loss sums statistics\n"
            "loss forward\n"
            "loss has its gradient\n"
            "loss backward_data\n"
            "loss returns to b\n"
            "b has its gradient\n"
            "b backward_data and weights\n"
            "b returns to a\n"
            "sum to b\n"
            "update to b\n"
            "a has its gradient\n"
            "a backward_weights\n"
            "sum to a\n"
            "update to a\n");
}

TEST(Step, LayersCutInTermsSumThemAndUpdateByThemselves) {
  Degrees terms = kWhole;
  terms.r = 2;
  EXPECT_EQ(lines_with(Two(cut(Dim::c, 2), terms).text(), {"sum", "update"}),
            "b sums terms\n"
            "loss sums statistics\n"
            "update b\n"
            "update a\n");
}

TEST(Step, SharedParametersAreGatheredForEachPassAndScatteredInEachRound) {
  StepOptions options;
  options.sync.zero = Zero::parameters;
  options.rounds = 2;
  const std::string text = Two(cut(Dim::n, 2), cut(Dim::n, 2)).text(options);
  EXPECT_EQ(lines_with(text, {"a gathers", "b gathers", "scatter", "update", "gather to"}),
            "0: a gathers parameters\n"
            "0: b gathers parameters\n"
            "0: b gathers parameters again\n"
            "0: scatter to b\n"
            "0: a gathers parameters again\n"
            "0: scatter to a\n"
            "1: a gathers parameters\n"
            "1: b gathers parameters\n"
            "1: b gathers parameters again\n"
            "1: scatter to b\n"
            "1: a gathers parameters again\n"
            "1: scatter to a\n"
            "1: update interval to b\n"
            "1: update interval to a\n");
}

/// The two products on a device each.
Two in_stages() {
  Two two(kWhole, kWhole);
  two.configs[2].devices = two.configs[3].devices = {DeviceId(1U)};
  return two;
}

StepOptions two_rounds(ScheduleKind schedule) {
  StepOptions options;
  options.rounds = 2;
  options.schedule.kind = schedule;
  return options;
}

TEST(Step, OneRoundOfOneStageIsInNoOrderButThatOfItsLayers) {
  const Two replicas(cut(Dim::n, 2), cut(Dim::n, 2));
  StepOptions options;
  options.schedule.kind = ScheduleKind::one_f_one_b;
  EXPECT_EQ(replicas.text(options), replicas.text());
  options.schedule.kind = ScheduleKind::zb_h1;  // which splits the backward pass
  EXPECT_NE(replicas.text(options), replicas.text());
}

TEST(Step, PassesComeInTheOrderOfTheSchedule) {
  const auto passes = [](ScheduleKind schedule) {
    const std::string text = in_stages().text(two_rounds(schedule));
    return lines_with(text, {"a forward", "b forward", "a backward", "b backward", "update"});
  };
  EXPECT_EQ(passes(ScheduleKind::gpipe),
            "0: a forward\n"
            "1: a forward\n"
            "0: b forward\n"
            "1: b forward\n"
            "0: b backward_data and weights\n"
            "0: a backward_weights\n"
            "1: b backward_data and weights\n"
            "1: a backward_weights\n"
            "1: update b\n"
            "1: update a\n");
  EXPECT_EQ(passes(ScheduleKind::one_f_one_b),
            "0: a forward\n"
            "1: a forward\n"
            "0: b forward\n"
            "0: b backward_data and weights\n"
            "0: a backward_weights\n"
            "1: b forward\n"
            "1: b backward_data and weights\n"
            "1: a backward_weights\n"
            "1: update b\n"
            "1: update a\n");
  // Gradients of parameters fill what would be a bubble.
  EXPECT_EQ(passes(ScheduleKind::zb_h1),
            "0: a forward\n"
            "1: a forward\n"
            "0: b forward\n"
            "0: b backward_data\n"
            "1: b forward\n"
            "0: a backward_weights\n"
            "1: b backward_data\n"
            "0: b backward_weights\n"
            "1: a backward_weights\n"
            "1: b backward_weights\n"
            "1: update a\n"
            "1: update b\n");
}

TEST(Step, SegmentsAreComputedAgainBeforeTheirBackwardPassWhateverTheSchedule) {
  for (const ScheduleKind schedule : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b}) {
    const Two two = in_stages();
    const Strategy strategy = Strategy("two", two.configs).with({0, 0, 1, 1});
    const std::string text = text_of(two.graph, strategy, two_rounds(schedule));
    EXPECT_EQ(lines_with(text, {"0: loss has", "0: b forgets", "0: b reads a kept",
                                "0: b forward, again", "0: b back", "a forward, again"}),
              "0: loss has its gradient\n"
              "0: b forgets, again\n"
              "0: b reads a kept, again\n"
              "0: b forward, again\n"
              "0: b backward_data and weights\n");
  }
}

}  // namespace
}  // namespace strata
