#include "exec/calibrate/sweeps.h"

#include <gtest/gtest.h>

#include "tests/exec/calibrate/requests.h"
#include "tests/exec/zoo/small_network.h"

namespace strata {
namespace {

struct Made {
  Graph graph = strata::testing::build({"lenet5"});
  Sweeps sweeps{graph, {strata::testing::requests_for(graph), {}}};
};

// Whole layers, then their halves.
TEST(Sweeps, TakeOneShapeOfEachLayer) {
  const Made made;
  ASSERT_EQ(made.sweeps.all().size(), 2u);
  for (const Sweep& sweep : made.sweeps.all()) {
    for (std::size_t k = 1; k < sweep.size(); ++k) {
      EXPECT_LT(made.sweeps[sweep[k - 1]].layer, made.sweeps[sweep[k]].layer);
    }
  }
  const Shape& first = made.sweeps[made.sweeps.all()[0][0]];
  const Shape& second = made.sweeps[made.sweeps.all()[1][0]];
  EXPECT_EQ(first.output[Dim::n].size(), 2 * second.output[Dim::n].size());
  EXPECT_EQ(first.phases.size(), first.keys.size());
}

// A shard of a cut reduction adds up its terms alone.
TEST(Sweeps, KeepTheTermsOfAShard) {
  const Graph graph = strata::testing::build({"lenet5"});
  const LayerId layer = graph.find("fc1");
  Degrees degrees = kWhole;
  degrees.r = 2;
  const Tile half = partition(graph[layer], degrees).tile(1);
  const Sweeps sweeps(graph, {{{layer, half, Phase::forward}}, {}});
  ASSERT_EQ(sweeps.all().size(), 1u);
  EXPECT_EQ(sweeps[sweeps.all()[0][0]].output, half);
}

// Of shapes that hold a byte each, three at a time: every shape is there as before, in its order.
TEST(Sweeps, AreCutIntoStretchesThatFit) {
  Made made;
  std::vector<std::size_t> before, after;
  for (const Sweep& sweep : made.sweeps.all())
    before.insert(before.end(), sweep.begin(), sweep.end());
  made.sweeps.cut([](const Shape&) { return Bytes{1}; }, Bytes{3});
  for (const Sweep& sweep : made.sweeps.all()) {
    EXPECT_LE(sweep.size(), 3u);
    EXPECT_FALSE(sweep.empty());
    after.insert(after.end(), sweep.begin(), sweep.end());
  }
  EXPECT_EQ(after, before);
}

// What is too large for the memory is left to fail there, with a message that says so.
TEST(Sweeps, KeepShapesThatFitNowhere) {
  Made made;
  made.sweeps.cut([](const Shape&) { return Bytes{5}; }, Bytes{3});
  for (const Sweep& sweep : made.sweeps.all()) EXPECT_EQ(sweep.size(), 1u);
}

}  // namespace
}  // namespace strata
