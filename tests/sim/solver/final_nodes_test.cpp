// K of the paper's Algorithm 1 on drawn graphs.

#include <gtest/gtest.h>

#include "sim/solver/elimination.h"
#include "tests/sim/solver/problems.h"

namespace strata {
namespace {

using testing::make_graph;

TEST(FinalNodes, AChainEndsAsItsTwoEnds) {
  EXPECT_EQ(final_nodes(make_graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}})), 2u);
}

TEST(FinalNodes, OneNodeStays) {
  EXPECT_EQ(final_nodes(make_graph(1, {})), 1u);
}

// 1 and 2 go; the two edges 0 -> 3 that take their places become one.
TEST(FinalNodes, ADiamondEndsAsItsTwoEnds) {
  EXPECT_EQ(final_nodes(make_graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}})), 2u);
}

// 0 -> 1 twice is one edge, so 1 has one edge on each side.
TEST(FinalNodes, ParallelEdgesAreOne) {
  EXPECT_EQ(final_nodes(make_graph(3, {{0, 1}, {0, 1}, {1, 2}})), 2u);
}

// Residual blocks: 0 -> 1 -> 2 with 0 -> 2, then the same again. Eliminating 1 gives 0 -> 2 twice,
// merged; only then has 2 one edge on each side.
TEST(FinalNodes, ShortcutsReduceOnceTheirBlockIsGone) {
  EXPECT_EQ(final_nodes(make_graph(5, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}})), 2u);
}

// Every node feeds all later ones (a dense block): 0 -> {1, 2, 3}, 1 -> {2, 3}, 2 -> 3. The inner
// nodes have three edges each.
TEST(FinalNodes, ADenseBlockStaysAsItIs) {
  EXPECT_EQ(final_nodes(make_graph(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}})), 4u);
}

// Two inputs, or two outputs (an auxiliary head), are ends that nothing takes away:
//   0 -> 2 -> 3 -> 4, 1 -> 2, 3 -> 5. All of 0, 1, 4, 5 are ends, 2 and 3 branch.
TEST(FinalNodes, EndsAndBranchesStay) {
  EXPECT_EQ(final_nodes(make_graph(6, {{0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}})), 6u);
}

TEST(FinalNodes, SeparatePartsAddUp) {
  EXPECT_EQ(final_nodes(make_graph(6, {{0, 1}, {1, 2}, {3, 4}, {4, 5}})), 4u);
}

}  // namespace
}  // namespace strata
