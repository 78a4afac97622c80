// What shards of one layer share, hold and may be: statistics, phases, parameters, limits.

#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/graph/parameter_rows.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"

namespace strata {
namespace {

struct Sample {
  Graph graph;
  const Layer& layer() const { return graph.layers().back(); }
};

Sample one_layer(const Op& op, const Extents& sample, std::int64_t batch) {
  GraphBuilder builder("one", batch);
  const LayerId data = builder.add("data", Input{sample}, {});
  builder.add("layer", op, {data});
  return {std::move(builder).build()};
}

TEST(Statistics, BatchNormSumsTwoValuesAChannelBothWays) {
  const Sample it = one_layer(BatchNorm{}, {{1, 6, 1, 4, 4}}, 8);
  Box shard = whole(it.layer().output);
  shard[Dim::c] = {2, 5};
  shard[Dim::n] = {0, 4};
  EXPECT_EQ(statistics(it.layer(), shard),
            (Statistics{{{true, false, true, true, true}}, Combination::moments, 6, 6}));
}

TEST(Statistics, SoftmaxExchangesARowsMaximumAndSum) {
  const Sample it = one_layer(SoftmaxCrossEntropy{}, {{1, 10, 1, 1, 1}}, 8);
  Box shard = whole(it.layer().output);
  shard[Dim::c] = {5, 10};
  shard[Dim::n] = {0, 4};
  EXPECT_EQ(statistics(it.layer(), shard),
            (Statistics{{{false, true, false, false, false}}, Combination::log_sum_exp, 8, 0}));
}

TEST(Statistics, LayerNormSumsTwoValuesAPositionBothWays) {
  const Sample it = one_layer(LayerNorm{}, {{1, 6, 1, 4, 4}}, 8);
  Box shard = whole(it.layer().output);
  shard[Dim::c] = {2, 5};
  shard[Dim::n] = {0, 4};
  const Statistics sums = statistics(it.layer(), shard);
  const std::int64_t values = 2 * 4 * 4 * 4;
  EXPECT_EQ(sums, (Statistics{
                      {{false, true, false, false, false}}, Combination::moments, values, values}));
  EXPECT_EQ(elements_over(sums.over, shard), 3);
}

// Batch norm's backward sums are its parameters' gradients; layer norm's weigh by its scale.
TEST(Statistics, SayWhatTheyHaveToDoWithParameters) {
  const auto of = [](const Op& op) {
    const Sample it = one_layer(op, {{1, 6, 1, 4, 4}}, 8);
    const Statistics sums = statistics(it.layer(), whole(it.layer().output));
    return std::pair(sums.give_parameter_gradients(), sums.weigh_by_parameters());
  };
  EXPECT_EQ(of(BatchNorm{}), std::pair(true, false));
  EXPECT_EQ(of(LayerNorm{}), std::pair(false, true));
  EXPECT_EQ(of(Activation{}), std::pair(false, false));
}

std::string phases_of(const Op& op, bool input_needs_gradient) {
  const Sample it = one_layer(op, {{1, 6, 1, 4, 4}}, 8);
  const PhaseSet phases = step_phases(it.graph, LayerId(1), {input_needs_gradient, true});
  std::string text;
  for (int i = 0; i < kKernelPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phases[phase]) text += fmt::format("{}{}", text.empty() ? "" : " ", name(phase));
  }
  return text;
}

// A layer norm's backward sums serve the gradient of its input alone.
TEST(StepPhases, FollowFromTheStatistics) {
  EXPECT_EQ(phases_of(BatchNorm{}, true),
            "forward_statistics forward backward_statistics backward_data update");
  EXPECT_EQ(phases_of(BatchNorm{}, false), "forward_statistics forward backward_statistics update");
  EXPECT_EQ(phases_of(LayerNorm{}, true),
            "forward_statistics forward backward_statistics backward_data backward_weights update");
  EXPECT_EQ(phases_of(LayerNorm{}, false), "forward_statistics forward backward_weights update");
  EXPECT_EQ(phases_of(LayerNorm{.affine = false}, true),
            "forward_statistics forward backward_statistics backward_data");
}

TEST(Statistics, OtherOpsHaveNone) {
  const Sample it = one_layer(Activation{}, {{1, 10, 1, 1, 1}}, 8);
  EXPECT_EQ(statistics(it.layer(), whole(it.layer().output)), Statistics{});
}

TEST(ShardParameters, AreCutInChannelsAlone) {
  const Sample it = one_layer(FullyConnected{10}, {{1, 6, 1, 1, 1}}, 8);
  Box shard = whole(it.layer().output);
  EXPECT_EQ(shard_parameters(it.layer(), shard), (Parameters{60, 10}));
  shard[Dim::n] = {0, 2};
  EXPECT_EQ(shard_parameters(it.layer(), shard), (Parameters{60, 10}));
  shard[Dim::c] = {3, 6};
  EXPECT_EQ(shard_parameters(it.layer(), shard), (Parameters{18, 3}));
}

// Four experts of 10 rows of 6.
TEST(ShardParameters, OfExpertsAreCutInThese) {
  const Sample it = one_layer(ExpertLinear{10}, {{1, 6, 4, 1, 3}}, 8);
  const Parameters& all = it.layer().parameters;
  Tile shard = whole(it.layer().output);
  EXPECT_EQ(all.weight, 240);
  shard[Dim::n] = {0, 2}, shard[Dim::w] = {1, 2};
  EXPECT_EQ(shard_parameters(it.layer(), shard), all);
  shard[Dim::d] = {1, 3}, shard[Dim::c] = {4, 9}, shard.terms = {0, 3};
  EXPECT_EQ(shard_parameters(it.layer(), shard), (Parameters{2 * 5 * 3, 0, all.loops}));
  std::vector<float> whole_weight(240), held(30);
  std::iota(whole_weight.begin(), whole_weight.end(), 0.0F);
  ParameterRows(it.layer(), shard).read(held.data(), whole_weight.data());
  // The rows 4 to 8 of the experts 1 and 2, of each the first three terms.
  EXPECT_EQ(std::vector<float>(held.begin(), held.begin() + 4),
            (std::vector<float>{84, 85, 86, 90}));
  EXPECT_EQ(held[15], 120 + 24);
}

// Of three heads of 4 channels, a row each: what half of a shard's channels' heads have.
TEST(ShardParameters, OfHeadsAreCutInThese) {
  GraphBuilder builder("heads", 2);
  const LayerId x = builder.add("x", Input{{{1, 12, 1, 1, 5}}}, {});
  const LayerId id =
      builder.add("seen", Attention{.head_size = 4, .buckets = 6, .max_distance = 9}, {x, x, x});
  const Graph graph = std::move(builder).build();
  const Layer& layer = graph[id];
  EXPECT_EQ(layer.parameters, (Parameters{.weight = 18, .channels_a_row = 4}));
  Tile shard = whole(layer.output);
  shard[Dim::c] = {4, 12};
  EXPECT_EQ(shard_parameters(layer, shard), (Parameters{.weight = 12, .channels_a_row = 4}));
  std::vector<float> all(18), held(12);
  std::iota(all.begin(), all.end(), 0.0F);
  ParameterRows(layer, shard).read(held.data(), all.data());
  EXPECT_EQ(held, std::vector<float>(all.begin() + 6, all.end()));
}

// T5's 32 buckets of an encoder: 16 for keys before a query and 16 for those behind it, of these 8
// of one distance each, then up to 11, 15, 22, 31, 45, 63, 90 and any.
TEST(Attention, DistancesHaveBuckets) {
  const Attention both{.buckets = 32};
  const auto buckets = [](const Attention& op, std::initializer_list<std::int64_t> distances) {
    std::vector<std::int64_t> of;
    for (std::int64_t distance : distances) of.push_back(op.bucket_of(distance));
    return of;
  };
  EXPECT_THAT(
      buckets(both, {0, -1, -7, -8, -11, -12, -15, -16, -22, -23, -31, -32, -45, -46, -63, -64, -90,
                     -91, -1000}),
      testing::ElementsAre(0, 1, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15));
  EXPECT_THAT(buckets(both, {1, 7, 8, 16, 1000}), testing::ElementsAre(17, 23, 24, 26, 31));
  const Attention before{.causal = true, .buckets = 32};
  EXPECT_THAT(buckets(before, {5, 0, -1, -15, -16, -18, -19, -113, -1000}),
              testing::ElementsAre(0, 0, 1, 15, 16, 16, 17, 31, 31));
}

TEST(ShardParameters, OfAnOpaqueOpAreHeldWhole) {
  const Sample it = one_layer(Opaque{"Einsum", {{1, 3, 1, 2, 1}}, 7}, {{1, 6, 1, 4, 4}}, 8);
  Box shard = whole(it.layer().output);
  shard[Dim::n] = {0, 2};
  EXPECT_EQ(shard_parameters(it.layer(), shard), (Parameters{7, 0}));  // 7 / 3 channels is none
}

TEST(MostParts, OfAnOpaqueOpAreOfTheSampleAlone) {
  const Sample it = one_layer(Opaque{"Resize", {{1, 3, 1, 4, 4}}}, {{1, 3, 1, 2, 2}}, 8);
  EXPECT_EQ(most_parts(it.layer()), (Extents{{8, 1, 1, 1, 1}}));
  EXPECT_EQ(why_no_more(it.layer(), Dim::n), "its extent");
  EXPECT_EQ(why_no_more(it.layer(), Dim::h), "for an opaque op is cut in n alone");
}

// An attention's heads are not cut.
TEST(MostParts, OfAnAttentionDivideItsHeads) {
  GraphBuilder builder("heads", 2);
  const LayerId x = builder.add("x", Input{{{1, 24, 1, 1, 5}}}, {});
  const LayerId id = builder.add("seen", Attention{.head_size = 4}, {x, x, x});
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(most_parts(graph[id]), (Extents{{2, 6, 1, 1, 5}}));
  EXPECT_TRUE(may_cut(graph[id], Dim::c, 3));
  EXPECT_FALSE(may_cut(graph[id], Dim::c, 4));
  EXPECT_EQ(clipped(graph[id], Dim::c, 5), 3);
  EXPECT_EQ(clipped(graph[id], Dim::w, 8), 5);
  EXPECT_EQ(why_no_more(graph[id], Dim::c), "a divisor of its 6 heads");
}

// Both of an attention's products and of a gate's; not what goes elsewhere, nor a shared weight.
TEST(FirstReader, IsOfProductsThatMeet) {
  const Graph llama =
      std::move([] {
        GraphBuilder builder("meet");
        LayerId at = builder.add("numbers", Input{{{1, 1, 1, 1, 4}}}, {});
        at = builder.add("embedding", Embedding{9, 8}, {at});
        const LayerId q = builder.add("q", Linear{8, false}, {at});
        const LayerId k = builder.add("k", Linear{4, false}, {at});
        const LayerId v = builder.add("v", Linear{4, false}, {at});
        const LayerId other = builder.add("other", Linear{3, false}, {at});
        const LayerId head = builder.add("head", Linear{9, false, "embedding"}, {at});
        builder.add("seen", Attention{.head_size = 4}, {q, k, v});
        builder.add("loss", SoftmaxCrossEntropy{}, {head});
        builder.add("relu", Activation{}, {other});
        return builder;
      }())
          .build();
  EXPECT_EQ(first_reader(llama, llama.find("k")), llama.find("q"));
  EXPECT_EQ(first_reader(llama, llama.find("v")), llama.find("q"));
  for (const char* name : {"q", "other", "head", "seen"}) {
    EXPECT_FALSE(first_reader(llama, llama.find(name)).valid()) << name;
  }
}

TEST(MostParts, AreOfEveryDimLongerThanOne) {
  const Sample image = one_layer(Activation{}, {{1, 3, 1, 4, 4}}, 8);
  EXPECT_EQ(most_parts(image.layer()), (Extents{{8, 3, 1, 4, 4}}));
  const Sample single = one_layer(FullyConnected{10}, {{1, 3, 1, 4, 4}}, 1);
  EXPECT_EQ(most_parts(single.layer()), (Extents{{1, 10, 1, 1, 1}}));
}

}  // namespace
}  // namespace strata
