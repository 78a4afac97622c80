#include "sim/solver/discount.h"

#include <gtest/gtest.h>

#include "tests/sim/solver/problems.h"

namespace strata {
namespace {

using testing::make_tables;

class DiscountTest : public ::testing::Test {
 protected:
  int draws_ = 0;
  CostTables tables_ = make_tables({2, 3}, {{0, 1}}, [this] { return 8. + draws_++ % 5; });
  const double one_ = tables_.quantum;
  std::vector<std::vector<double>> compute_ = {{4 * one_, 8 * one_}, {one_, 2 * one_, 3 * one_}};
};

TEST_F(DiscountTest, OfNothingIsEq1) {
  const CostTables same = discounted(tables_, compute_, {1, 1});
  for (std::size_t v = 0; v < 2; ++v) EXPECT_EQ(*same.variables[v], *tables_.variables[v]);
  EXPECT_EQ(same.edges.front().table->seconds, tables_.edges.front().table->seconds);
}

TEST_F(DiscountTest, OfAllIsWhatDevicesCompute) {
  const CostTables compute = discounted(tables_, compute_, {0, 0});
  for (std::size_t v = 0; v < 2; ++v) EXPECT_EQ(*compute.variables[v], compute_[v]);
  EXPECT_EQ(compute.seconds(Choices{1, 2}), 11 * one_);
}

TEST_F(DiscountTest, LeavesItsPartOfSumsAndOfTransfers) {
  const CostTables half = discounted(tables_, compute_, {0.5, 0.25});
  const double own = (*tables_.variables[0])[1];
  EXPECT_NEAR((*half.variables[0])[1], 8 * one_ + 0.25 * (own - 8 * one_), one_ / 2);
  EXPECT_NEAR(half.edges.front().table->at(1, 2), 0.5 * tables_.edges.front().table->at(1, 2),
              one_ / 2);
}

}  // namespace
}  // namespace strata
