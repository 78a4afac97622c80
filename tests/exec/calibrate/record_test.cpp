#include "exec/calibrate/record.h"

#include <string>

#include <gtest/gtest.h>

#include "exec/calibrate/sweeps.h"

namespace strata {
namespace {

CostKey key(int i) {
  return {"op" + std::to_string(i), DType::fp32, Phase::forward, {}, {}};
}

// Twenty things of 1 to 20 seconds; in every third sweep all of them take half as long again.
Record ten_sweeps() {
  Record record;
  for (std::size_t sweep = 0; sweep < 9; ++sweep) {
    for (int i = 1; i <= 20; ++i) {
      const double pace = sweep % 3 == 2 ? 1.5 : 1;
      record.add(key(i), {i * pace, sweep});
    }
  }
  return record;
}

TEST(Record, TellsHowFastTheMachineWasInEachSweep) {
  const std::vector<double> paces = ten_sweeps().paces();
  ASSERT_EQ(paces.size(), 9u);
  for (std::size_t sweep = 0; sweep < 9; ++sweep) {
    EXPECT_EQ(paces[sweep], sweep % 3 == 2 ? 1.5 : 1);
  }
}

TEST(Record, LeavesSlowSweepsOut) {
  Record record = ten_sweeps();
  EXPECT_EQ(record.rows(Sampled::calm, "")[0].count, 9);
  const Disturbance slow = record.judge_by_pace();
  EXPECT_EQ(slow.left_out, 3u);
  EXPECT_EQ(slow.of, 9u);
  EXPECT_NEAR(slow.threshold, 0.01, 1e-12);  // six of one pace
  const std::vector<MeasuredCost> rows = record.rows(Sampled::calm, "here");
  ASSERT_EQ(rows.size(), 20u);
  for (const MeasuredCost& row : rows) {
    EXPECT_EQ(row.count, 6);
    EXPECT_EQ(row.source, "here");
  }
  EXPECT_EQ(record.rows(Sampled::always, "")[0].count, 9);
}

// A few ratios may all be those of one thing that scatters.
TEST(Record, SaysNothingOfTheMachineByFewThings) {
  Record record;
  for (std::size_t sweep = 0; sweep < 5; ++sweep) record.add(key(0), {sweep == 4 ? 9.0 : 1, sweep});
  EXPECT_EQ(record.judge_by_pace(), (Disturbance{0, 5}));
}

}  // namespace
}  // namespace strata
