// What `--recompute full` computes again: every block of a transformer is a segment of its own,
// whatever other blocks stand before it.

#include "sim/strategy/recomputation.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"

namespace strata {
namespace {

struct BlocksOf {
  std::string model;
  std::size_t blocks;
};

class FullRecomputation : public ::testing::TestWithParam<BlocksOf> {};

TEST_P(FullRecomputation, HasASegmentForEachBlock) {
  const Graph graph = build_zoo(GetParam().model, 2);
  const Segments found = segments(graph, Recompute::full, {});
  ASSERT_EQ(found.size(), graph.size());
  EXPECT_EQ(*std::max_element(found.begin(), found.end()), GetParam().blocks);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::string& name = graph[LayerId(i)].name;
    if (!name.starts_with("block")) continue;
    const std::string number = name.substr(5, name.find('_') - 5);
    EXPECT_EQ(std::to_string(found[i]), number) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FullRecomputation,
    ::testing::Values(BlocksOf{"gpt2", 12}, BlocksOf{"llama3-8b:seq=128", 32},
                      BlocksOf{"gemma-2-2b:seq=128", 26}, BlocksOf{"gemma-3-4b:seq=128", 34},
                      BlocksOf{"mixtral-8x7b:seq=128", 32}, BlocksOf{"gpt-oss-20b:seq=128", 24},
                      BlocksOf{"deepseek-v2-lite:seq=128", 27}, BlocksOf{"deepseek-v3:seq=128", 61},
                      BlocksOf{"kimi-k2:seq=128", 61}),
    [](const auto& info) {
      std::string name = info.param.model.substr(0, info.param.model.find(':'));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace strata
