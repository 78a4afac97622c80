// Sums over a measured stretch of time, on a device whose computation and transfers are drawn in
// the tests.

#include "gui/models/timeline/range_sums.h"

#include <gmock/gmock.h>

#include "gui/models/timeline/plan_recording.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

// compute   |conv   |       |fc     |
// arriving      |conv           |
// arriving 2            |fc |
//           0   1   2   3   4   5   6
Recording small_recording() {
  Recording recording;
  recording.labels = {
      make_label("conv forward", "", LayerId(1)), make_label("fc forward", "", LayerId(2)),
      make_label("conv transfer", "", LayerId(1)), make_label("fc transfer", "", LayerId(2))};
  const auto work = style_number(recording, {Shade::task, TaskKind::compute, Phase::forward, 0});
  const auto move = style_number(recording, {Shade::task, TaskKind::transfer, Phase::forward, 0});
  recording.lanes.emplace_back(LaneName{"a/0", "compute", LaneKind::device},
                               std::vector<Slice>{{0, 2, 0, 0, 1, work}, {4, 6, 1, 1, 1, work}});
  recording.lanes.emplace_back(LaneName{"a/0", "arriving", LaneKind::stream},
                               std::vector<Slice>{{1, 5, 2, 2, 1, move}});
  recording.lanes.emplace_back(LaneName{"a/0", "arriving 2", LaneKind::stream},
                               std::vector<Slice>{{3, 4, 3, 3, 1, move}});
  return recording;
}

RangeSum row_of(const RangeSums& sums, const std::string& what) {
  for (const RangeSum& row : sums.rows) {
    if (row.what == what) return row;
  }
  ADD_FAILURE() << "no row " << what;
  return {};
}

// From 2 to 4 nothing is computed: conv's transfer has the first second alone, and shares the other
// with fc's.
TEST(RangeSumsTest, WhatNoComputationHidesIsExposed) {
  const RangeSums sums = sum_range(small_recording(), {{0}, {6}}, SumBy::layer);
  EXPECT_EQ(sums.all, 6);
  EXPECT_EQ(row_of(sums, "conv"), (RangeSum{"conv", LayerId(1), 2, 2, 3.5, 1.5}));
  EXPECT_EQ(row_of(sums, "fc"), (RangeSum{"fc", LayerId(2), 2, 2, 0.5, 0.5}));
  EXPECT_EQ(sums.rows.front().what, "conv");
}

TEST(RangeSumsTest, PartsOfTasksCount) {
  const RangeSums sums = sum_range(small_recording(), {{1.5}, {3}}, SumBy::kind);
  EXPECT_EQ(row_of(sums, "forward"), (RangeSum{"forward", LayerId(), 1, 0.5, 0, 0}));
  EXPECT_EQ(row_of(sums, "transfer"), (RangeSum{"transfer", LayerId(), 1, 0, 1.5, 1}));
}

TEST(RangeSumsTest, OfADeviceNothingIsCountedTwice) {
  const RangeSums sums = sum_range(small_recording(), {{0}, {6}}, SumBy::device);
  ASSERT_EQ(sums.rows.size(), 1);
  EXPECT_EQ(sums.rows[0], (RangeSum{"a/0", LayerId(), 4, 4, 4, 2}));
  RangeSumTable table;
  table.show(sums.all, sums.rows);
  EXPECT_EQ(table.csv().toStdString(),
            "what,share,compute_seconds,communication_seconds,exposed_seconds,tasks\n"
            "a/0,0.6666666666666666,4,4,2,4\n");
}

TEST(RangeSumsTest, AgreesWithHowBusyTheDevicesAre) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x2", "owt");
  const RecordingPtr recording = record(scene);
  const auto& use = scene->use.devices;
  for (const SumBy by : {SumBy::layer, SumBy::kind, SumBy::device}) {
    const RangeSums sums = sum_range(*recording, *recording->step, by);
    double compute = 0, communication = 0;
    for (const RangeSum& row : sums.rows) {
      compute += row.compute;
      communication += row.communication;
      EXPECT_LE(row.exposed, row.communication + 1e-12);
      EXPECT_GE(row.exposed, -1e-12);
    }
    EXPECT_NEAR(compute / sums.all, (use[0] + use[1]) / 2, 1e-9);
    EXPECT_LE(communication, sums.all + 1e-12);
  }
}

}  // namespace
}  // namespace strata::gui
