#include "exec/calibrate/record.h"

#include <optional>
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
  const std::vector<std::optional<double>> paces = ten_sweeps().paces();
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

// Sweeps over few things, of which nothing is known, are no sign that a pace of 1 is usual: twelve
// of them beside eight of 0.9 to 1.11 leave none out. A slow one among the known is.
TEST(Record, SweepsOfFewThingsSayNothingOfTheOthers) {
  const auto record_with = [](double last) {
    Record record;
    const double paces[] = {0.9, 0.94, 0.97, 1, 1, 1.03, 1.07, last};
    for (int i = 1; i <= 20; ++i) {
      for (std::size_t sweep = 0; sweep < 8; ++sweep) record.add(key(i), {i * paces[sweep], sweep});
    }
    for (std::size_t sweep = 8; sweep < 20; ++sweep) record.add(key(0), {1, sweep});
    return record;
  };
  const std::vector<std::optional<double>> paces = record_with(1.11).paces();
  EXPECT_TRUE(paces[7]);
  EXPECT_FALSE(paces[8]);
  EXPECT_EQ(record_with(1.11).judge_by_pace().left_out, 0u);
  Record slow = record_with(2);
  EXPECT_EQ(slow.judge_by_pace().left_out, 1u);
  EXPECT_EQ(slow.judge_by_pace().of, 20u);
  for (const MeasuredCost& row : slow.rows(Sampled::calm, "")) {
    EXPECT_EQ(row.count, row.key == key(0) ? 12 : 7);
  }
}

}  // namespace
}  // namespace strata
