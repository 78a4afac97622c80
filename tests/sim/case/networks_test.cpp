// What is true of the paper's networks: they reduce to two nodes, and layer-wise parallelism is the
// least under Eq. 1 wherever they run.

#include <string>

#include <gtest/gtest.h>

#include "sim/case/eq1_tables.h"
#include "sim/search/solve.h"
#include "sim/solver/elimination.h"

namespace strata {
namespace {

Case load(const std::string& model, const std::string& cluster, SyncAlgorithm sync) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  request.training.sync = sync;
  return load_case(request);
}

Solved solve_by_eq1(const Case& input) {
  SolveOptions options;
  options.objective = Objective::eq1;
  options.simulate = false;
  return solve(input, options);
}

// Section 5: "all of which are reduced to a final graph with only 2 nodes".
TEST(FinalNodes, OfThePapersNetworksAreTwo) {
  for (const char* model :
       {"lenet5", "alexnet", "vgg16", "inception_v3", "resnet50", "resnet152"}) {
    const Case input = load(model, "p100-1x4", SyncAlgorithm::ring);
    const SearchSpace space(input.graph, input.cluster);
    EXPECT_EQ(final_nodes(eq1_tables(input, space)), 2u) << model;
  }
}

// Its dense blocks do not reduce (K = 118), and yet the optimum is proved: the gap is 0.
TEST(Solve, DenseNetIsSolvedToOptimality) {
  const Solved solved = solve_by_eq1(load("densenet121", "p100-1x4", SyncAlgorithm::ring));
  EXPECT_TRUE(solved.optimal);
  EXPECT_EQ(solved.gap(), 0);
  EXPECT_EQ(solved.final_nodes, 118u);
}

class LayerWise : public ::testing::TestWithParam<const char*> {};

// A theorem, for the space holds the three others; the test is of the search.
TEST_P(LayerWise, IsTheLeastUnderEq1) {
  for (const char* cluster : {"p100-1x1", "p100-1x2", "p100-1x4", "p100-2x4", "p100-4x4"}) {
    for (const SyncAlgorithm sync : {SyncAlgorithm::ps, SyncAlgorithm::ring}) {
      SCOPED_TRACE(std::string(cluster) + ", " + std::string(name(sync)));
      const Solved solved = solve_by_eq1(load(GetParam(), cluster, sync));
      EXPECT_TRUE(solved.optimal);
      EXPECT_EQ(solved.best.front().strategy.name(), "eq1");
      ASSERT_EQ(solved.baselines.size(), 3u);
      for (const Scored& usual : solved.baselines) {
        EXPECT_LE(solved.best.front().eq1, usual.eq1) << usual.strategy.name();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PaperNetworks, LayerWise,
                         ::testing::Values("alexnet", "vgg16", "inception_v3"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace strata
