#include "sim/strategy/chunks.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

using ::testing::ElementsAre;

// Where chunks begin, by name.
std::vector<std::string> begins(const Graph& graph, std::size_t stages, std::size_t each = 1) {
  const std::vector<std::uint32_t> chunk_of = divide_into_chunks(graph, stages, each);
  std::vector<std::string> names;
  for (std::size_t i = 1; i < graph.size(); ++i) {
    if (chunk_of[i] != chunk_of[i - 1]) names.push_back(graph[LayerId(i)].name);
  }
  return names;
}

std::string error(const Graph& graph, std::size_t stages, std::size_t each = 1) {
  try {
    divide_into_chunks(graph, stages, each);
  } catch (const InputError& wrong) {
    return wrong.message();
  }
  return "";
}

TEST(Chunks, HaveEquallyManyBlocksEach) {
  EXPECT_THAT(
      begins(build_zoo("gpt2", 1), 4),
      ElementsAre("block4_attention_norm", "block7_attention_norm", "block10_attention_norm"));
  EXPECT_THAT(
      begins(build_zoo("gpt2", 1), 2, 2),
      ElementsAre("block4_attention_norm", "block7_attention_norm", "block10_attention_norm"));
  EXPECT_THAT(begins(build_zoo("llama3-8b", 1), 2), ElementsAre("block17_attention_norm"));
  EXPECT_THAT(begins(build_zoo("vit_b_16", 1), 2), ElementsAre("block7_attention_norm"));
  // Its norms stand behind the sums of residuals: the last of a block is the first of the next.
  EXPECT_THAT(begins(build_zoo("bert-base", 1), 2), ElementsAre("block6_ffn_norm"));
}

TEST(Chunks, SayWhereBlocksDoNotDivide) {
  const Graph gpt = build_zoo("gpt2", 1);
  EXPECT_EQ(error(gpt, 5),
            "its 12 blocks do not divide into 5 stages; allowed: 2, 3, 4, 6, 7 or 12 stages");
  EXPECT_EQ(
      error(gpt, 4, 2),
      "its 12 blocks do not divide into 4 stages of 2 chunks each; allowed: 4 or 12 chunks in all");
}

// Three dense blocks stand before 58 with experts; the head is as much work as one and a half.
TEST(Chunks, HaveWholeBlocksWhereOthersStandBefore) {
  const Graph graph = build_zoo("deepseek-v3", 1);
  std::vector<std::string> wanted;
  for (int block = 5; block <= 61; block += 4) {
    wanted.push_back("block" + std::to_string(block) + "_attention_norm");
  }
  EXPECT_EQ(begins(graph, 16), wanted);
  EXPECT_EQ(error(graph, 62),
            "its 58 blocks do not divide into 62 stages; allowed: 2, 3, 4, 5, 6, 10, 12, 15, 20, "
            "29, 30 or 58 stages");
}

// A residual network's blocks are of several kinds, of which none is most of it.
TEST(Chunks, OfOtherNetworksHaveTheLeastLargest) {
  EXPECT_THAT(begins(build_zoo("vgg16", 1), 2), ElementsAre("features_14"));
  EXPECT_THAT(begins(build_zoo("resnet50", 1), 4),
              ElementsAre("layer2_0_conv3", "layer3_0_conv3", "layer3_5_conv1"));
}

TEST(Chunks, CutNoBlock) {
  const Graph gpt = build_zoo("gpt2", 1);
  EXPECT_EQ(
      error(gpt, 4, 5),
      "its 12 blocks do not divide into 4 stages of 5 chunks each; allowed: 4 or 12 chunks in all");
  EXPECT_EQ(error(gpt, 14),
            "its 12 blocks do not divide into 14 stages; allowed: 2, 3, 4, 6, 7 or 12 stages");
  const Graph few = build_zoo("gpt:layers=3,hidden=32,heads=4,seq=16,vocab=64", 1);
  EXPECT_THAT(begins(few, 3), ElementsAre("block2_attention_norm", "block3_attention_norm"));
  EXPECT_EQ(error(few, 2), "its 3 blocks do not divide into 2 stages; allowed: 3 stages");
}

TEST(Chunks, EachHasALayer) {
  GraphBuilder builder("chain", 1);
  LayerId before = builder.add("data", Input{{1, 4, 1, 1, 1}}, {});
  for (const char* name : {"a", "b", "c"}) {
    before = builder.add(name, Activation{}, {before});
  }
  const Graph chain = std::move(builder).build();
  EXPECT_THAT(divide_into_chunks(chain, 1, 1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(divide_into_chunks(chain, 3, 1), ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(error(chain, 4), "its 3 layers are too few for 4 stages");
  EXPECT_EQ(error(chain, 2, 2), "its 3 layers are too few for 2 stages of 2 chunks each");
}

// Products of random sizes, some of which read a layer far before.
Graph random_network(std::mt19937& random) {
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % end); };
  GraphBuilder builder("random", 1);
  std::vector<LayerId> layers = {builder.add("data", Input{{1, 4, 1, 1, 1}}, {})};
  const std::int64_t count = 3 + below(6);
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<LayerId> inputs = {layers.back()};
    Op op = FullyConnected{1 + below(9)};
    if (below(3) == 0) op = Activation{};
    if (below(3) == 0) {
      op = Concat{};
      inputs.push_back(layers[static_cast<std::size_t>(below(std::ssize(layers)))]);
    }
    layers.push_back(builder.add("l" + std::to_string(i), std::move(op), std::move(inputs)));
  }
  return std::move(builder).build();
}

// Of the largest chunk the multiply-adds, then the elements across cuts.
std::pair<std::int64_t, std::int64_t> score(const Graph& graph,
                                            const std::vector<std::uint32_t>& chunk_of) {
  std::vector<std::int64_t> sizes(graph.size());
  std::int64_t across = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (is_input(graph[layer].op)) continue;
    sizes[chunk_of[i]] += macs(graph, layer);
    if (graph.consumers(layer).empty()) continue;
    const LayerId reader = graph.consumers(layer).back();
    across += volume(graph[layer].output) * (chunk_of[reader()] - chunk_of[i]);
  }
  return {*std::max_element(sizes.begin(), sizes.end()), across};
}

TEST(Chunks, AreTheBestOfAll) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Graph graph = random_network(random);
    const std::size_t layers = graph.size() - 1;
    const std::size_t chunks = 2 + random() % (layers - 1);
    auto best = std::pair(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
    for (unsigned cuts = 0; cuts < 1U << (layers - 1); ++cuts) {  // bit i: before layer i + 2
      std::vector<std::uint32_t> chunk_of(graph.size());
      for (std::size_t i = 2; i < graph.size(); ++i) {
        chunk_of[i] = chunk_of[i - 1] + (cuts >> (i - 2) & 1U);
      }
      if (chunk_of.back() + 1 == chunks) best = std::min(best, score(graph, chunk_of));
    }
    const std::vector<std::uint32_t> chunk_of = divide_into_chunks(graph, chunks, 1);
    EXPECT_EQ(chunk_of.back() + 1, chunks) << "seed " << seed;
    EXPECT_EQ(score(graph, chunk_of), best) << "seed " << seed;
  }
}

}  // namespace
}  // namespace strata
