// What a report of predictions beside runs makes of its cases.

#include <cmath>

#include <gtest/gtest.h>

#include "sim/study/validate/validate.h"

namespace strata {
namespace {

ValidateCase toy(const std::string& model, double predicted, double measured) {
  ValidateCase c;
  c.model = model;
  c.devices = 2;
  c.predicted = c.profile = {predicted};
  c.measured = {measured};
  c.turns.assign(9, {measured});
  c.error.median = predicted / measured - 1;
  c.verdict = Judgement::holds;
  return c;
}

TEST(ValidateReport, ErrorsAreRelativeToWhatWasMeasured) {
  ValidateReport report;
  report.cases = {toy("a", 1.1, 1), toy("a", 1, 2)};
  EXPECT_NEAR(report.mean_absolute_error(), 0.3, 1e-12);
  EXPECT_NEAR(report.max_absolute_error(), 0.5, 1e-12);
}

TEST(ValidateReport, SaysNothingOfWhatIsNotKnown) {
  ValidateReport report;
  report.cases = {toy("a", 1.1, 1), toy("b", 1, 2)};
  report.cases[1].verdict = Judgement::too_noisy;
  report.cases[1].error = {-0.5, -0.6, -0.4, 0.98, 7};
  for (ValidateCase& c : report.cases) c.round = {2};
  EXPECT_EQ(report.judged_cases(), 1u);
  EXPECT_NEAR(report.mean_absolute_error(), 0.1, 1e-12);
  EXPECT_NEAR(report.max_absolute_error(), 0.1, 1e-12);
  EXPECT_EQ(report.verdict(), Judgement::too_noisy);
  // Twice as narrow: four times as many pairs, of both models.
  ASSERT_TRUE(report.to_judge());
  EXPECT_EQ(report.to_judge()->rounds, 28u);
  EXPECT_NEAR(report.to_judge()->seconds.value, 2 * 28 * 2, 1e-9);
}

TEST(ValidateReport, RanksStrategiesOfOneModelOnly) {
  ValidateReport report;
  // Of a: 1 < 2 is predicted right, 1 < 3 right, 2 < 3 wrong; of b, 10 and 10.05 are a tie.
  report.cases = {toy("a", 1, 1), toy("a", 5, 2), toy("a", 4, 3), toy("b", 3, 10),
                  toy("b", 2, 10.05)};
  EXPECT_NEAR(report.rank_agreement(), 2.0 / 3, 1e-12);
  EXPECT_TRUE(report.fastest_first());
  report.cases.push_back(toy("b", 1, 11));
  EXPECT_FALSE(report.fastest_first());
}

// Whatever the replays say, which no search ever sees.
TEST(ValidateReport, RanksByTheProfile) {
  ValidateReport report;
  report.cases = {toy("a", 1, 1), toy("a", 2, 2)};
  std::swap(report.cases[0].predicted, report.cases[1].predicted);
  EXPECT_EQ(report.rank_agreement(), 1);
  EXPECT_TRUE(report.fastest_first());
  std::swap(report.cases[0].profile, report.cases[1].profile);
  EXPECT_EQ(report.rank_agreement(), 0);
  EXPECT_FALSE(report.fastest_first());
}

TEST(ValidateReport, DoesNotRankWhatTheMeasurementDoesNot) {
  ValidateReport report;
  report.cases = {toy("a", 2, 10), toy("a", 1, 11)};
  EXPECT_EQ(report.rank_agreement(), 0);
  EXPECT_FALSE(report.fastest_first());
  EXPECT_EQ(report.ranked_pairs(), 1u);
  // Of nine turns the interval is from the second to the eighth: one that is slower does not
  // matter, two do.
  report.cases[0].turns[3] = {11};
  EXPECT_EQ(report.ranked_pairs(), 1u);
  report.cases[0].turns[6] = {11};
  EXPECT_EQ(report.ranked_pairs(), 0u);
  EXPECT_EQ(report.rank_agreement(), 1);
  EXPECT_TRUE(report.fastest_first());
}

// Each turn is three times as slow as the one before, for both.
TEST(ValidateReport, RanksStrategiesTurnByTurn) {
  ValidateReport report;
  report.cases = {toy("a", 1, 1), toy("a", 2, 1)};
  for (std::size_t i = 0; i < 9; ++i) {
    const double pace = std::pow(3, static_cast<double>(i));
    report.cases[0].turns[i] = {pace};
    report.cases[1].turns[i] = {1.05 * pace};
  }
  EXPECT_EQ(report.ranked_pairs(), 1u);
  EXPECT_EQ(report.rank_agreement(), 1);
  // Those that both have: five are too few.
  report.cases[1].turns.resize(6);
  EXPECT_EQ(report.ranked_pairs(), 1u);
  report.cases[1].turns.resize(5);
  EXPECT_EQ(report.ranked_pairs(), 0u);
  report.cases[1].turns.clear();
  EXPECT_EQ(report.ranked_pairs(), 0u);
}

}  // namespace
}  // namespace strata
