#include "sim/solver/neighbourhood.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/sim/solver/problems.h"

namespace strata {
namespace {

using testing::make_tables;

class NeighbourhoodTest : public ::testing::Test {
 protected:
  Choices made(const Move& move) const {
    Choices next = at_;
    for (const auto& [variable, choice] : move.changes) next[variable] = choice;
    return next;
  }
  // Of moves: in ascending order of what they cost, each once, each telling what it costs.
  std::set<Choices> check(const std::vector<Move>& moves) const {
    std::set<Choices> reached;
    for (const Move& move : moves) {
      EXPECT_NEAR(move.cost, tables_.seconds(made(move)) - tables_.seconds(at_), 1e-9);
      EXPECT_NE(made(move), at_);
      reached.insert(made(move));
    }
    EXPECT_TRUE(std::is_sorted(moves.begin(), moves.end()));
    EXPECT_EQ(reached.size(), moves.size());
    return reached;
  }

  int draws_ = 0;
  CostTables tables_ = make_tables({3, 3, 3, 3}, {{0, 1}, {1, 2}, {2, 3}},
                                   [this] { return static_cast<double>(draws_++ * 7 % 11); });
  ChoiceKinds kinds_{4, {0, 1, 2}};
  Choices at_ = {0, 0, 1, 1};
  std::vector<Choices> others_ = {{2, 1, 1, 0}};
};

TEST_F(NeighbourhoodTest, HasEveryChoiceAloneAndEveryStretchOfOneCut) {
  const std::set<Choices> reached = check(Neighbourhood(tables_, kinds_, others_).moves(at_));
  for (std::size_t v = 0; v < 4; ++v) {
    for (std::uint32_t c = 0; c < 3; ++c) {
      Choices alone = at_;
      alone[v] = c;
      EXPECT_TRUE(alone == at_ || reached.contains(alone));
    }
  }
  EXPECT_TRUE(reached.contains({2, 2, 2, 2}));
  EXPECT_TRUE(reached.contains({0, 2, 2, 1}));
  EXPECT_TRUE(reached.contains({2, 1, 1, 1})) << "the head of the other strategy";
  EXPECT_TRUE(reached.contains({0, 0, 1, 0})) << "its tail";
}

TEST_F(NeighbourhoodTest, HasStretchesOnlyOfCutsThatAllOfThemMayHave) {
  kinds_[2] = {5, 6, 7};
  const std::set<Choices> reached = check(Neighbourhood(tables_, kinds_, {}).moves(at_));
  EXPECT_TRUE(reached.contains({2, 2, 1, 1}));
  EXPECT_FALSE(reached.contains({2, 2, 2, 2}));
}

TEST_F(NeighbourhoodTest, HasAnyTwoChoicesOfASmallProblem) {
  const std::set<Choices> reached = check(Neighbourhood(tables_, kinds_, {}).pairs(at_));
  EXPECT_EQ(reached.size(), 6u * 2 * 2);
  EXPECT_TRUE(reached.contains({2, 0, 1, 2}));
}

// What a neighbour loses by staying as it is, it does not.
TEST_F(NeighbourhoodTest, LetsNeighboursFollow) {
  CostTables tables = make_tables({2, 2, 2}, {{0, 1}, {1, 2}}, [] { return 0.; });
  auto apart = std::make_shared<CostTable>(CostTable{2, 2, {0, 9, 9, 0}});
  for (CostTables::Edge& edge : tables.edges) edge.table = apart;
  const ChoiceKinds kinds = {{0, 1}, {2, 3}, {4, 5}};
  const std::vector<Move> moves = Neighbourhood(tables, kinds, {}).moves({0, 0, 0});
  EXPECT_EQ(moves.front().cost, 0);
  EXPECT_EQ(moves.front().changes.size(), 3u);
}

}  // namespace
}  // namespace strata
