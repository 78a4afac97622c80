// What a user says of a search, and what that makes of it.

#include "sim/search/search_settings.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(SearchSettings, SearchesUnderEq1WhereNothingIsSimulated) {
  SearchSettings search;
  EXPECT_EQ(objective_of(search), Objective::simulated);
  search.algorithm = SearchAlgorithm::dfs;
  EXPECT_EQ(objective_of(search), Objective::eq1);
  search.objective = Objective::simulated;
  EXPECT_EQ(objective_of(search), Objective::simulated);
}

TEST(SearchSettings, AWiderSearchBoundsTheUsualOneToo) {
  SearchSettings search;
  search.space.reductions = ReductionCuts::all;
  EXPECT_TRUE(covers_usual_space(search));
  search.memory_limit = Bytes{1};
  EXPECT_FALSE(covers_usual_space(search));
  search = {};
  search.space.degrees = DegreeSet::pow2;
  EXPECT_FALSE(covers_usual_space(search));
}

}  // namespace
}  // namespace strata
