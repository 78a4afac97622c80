#include "tests/sim/record/fingerprint.h"

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::carried_fingerprint;
using strata::testing::Fingerprint;
using strata::testing::fingerprint;

// By hand: h = (h ^ byte) * 0x100000001b3 modulo 2^64 from 0xcbf29ce484222325, for the bytes
// 01 00 00 00 00 00 00 00; for 1.0 the bytes are 00 00 00 00 00 00 f0 3f.
TEST(Fingerprint, IsFnv1aOfTheBytesLowestFirst) {
  EXPECT_EQ(Fingerprint().text(), "cbf29ce484222325");
  EXPECT_EQ((Fingerprint() << 1).text(), "89cd31291d2aefa4");
  EXPECT_EQ((Fingerprint() << 1.0).text(), "aab1693229ba1db8");
}

struct Lowered {
  Graph graph = build_zoo("lenet5", 8);
  Cluster cluster = strata::testing::star(4);
  Strategy strategy = data_parallel(graph, 4);
  LowerOptions options = {};

  std::string text() const {
    return fingerprint(lower(graph, cluster, strategy, options), graph).text();
  }
};

TEST(Fingerprint, OfPlansTellsWhatRunsWhereAndWhatMoves) {
  const std::string data = Lowered().text();
  EXPECT_EQ(Lowered().text(), data);

  Lowered tree;
  tree.options.sync = SyncAlgorithm::tree;
  EXPECT_NE(tree.text(), data);

  Lowered moved;
  std::vector<Config> configs(moved.strategy.configs().begin(), moved.strategy.configs().end());
  std::vector<DeviceId> devices(configs.back().devices.begin(), configs.back().devices.end());
  std::swap(devices[0], devices[1]);
  configs.back().devices = devices;
  moved.strategy = {"moved", configs};
  EXPECT_NE(moved.text(), data);
  EXPECT_NE(fingerprint(moved.strategy).text(), fingerprint(Lowered().strategy).text());

  Lowered half;
  half.options.dtypes.gradients = DType::fp16;
  EXPECT_NE(half.text(), data);
}

TEST(Fingerprint, OfWhatIsCarriedTellsWhoWaitsForTheStepBefore) {
  const Lowered four;
  const Plan data = lower(four.graph, four.cluster, four.strategy, four.options);
  Lowered server;
  server.options.sync = SyncAlgorithm::ps;
  const Plan ps = lower(server.graph, server.cluster, server.strategy, server.options);
  EXPECT_EQ(carried_fingerprint(data).text(), carried_fingerprint(Plan(data)).text());
  EXPECT_NE(carried_fingerprint(data).text(), carried_fingerprint(ps).text());
}

TEST(Fingerprint, OfTimelinesTellsEachTime) {
  const Timeline a(1, {{{0}, {1}, {2}}, {{2}, {2}, {3}}});
  const Timeline early(1, {{{0}, {1}, {2}}, {{1.5}, {2}, {3}}});
  const Timeline late(1, {{{0}, {1}, {2}}, {{2}, {2}, {3.0000000000000004}}});
  EXPECT_EQ(fingerprint(a).text(), fingerprint(Timeline(a)).text());
  EXPECT_NE(fingerprint(a).text(), fingerprint(early).text());
  EXPECT_NE(fingerprint(a).text(), fingerprint(late).text());
}

}  // namespace
}  // namespace strata
