// Which strategy wins where, on networks whose steps can be worked out by hand.

#include "sim/study/phase_map/phase_map.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "tests/folder.h"
#include "tests/sim/study/toy_links.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Four products of 1000 x 1000 on two devices that compute in no time, joined by a link of 1 GB/s
// and 1 ms each way. With the batch b, in milliseconds, k times the bandwidth:
//   data   sums 16 MB of gradients in two buckets, each a ring of two latencies, in which a device
//          sends as much as it has:                                   4 + 16 / k
//   model  cuts the outputs. Three products need the other half of what is before them, 500 numbers
//          of each sample, and send back as much of its gradient:     6 + 12 (b / 1000) / k
class TwoByTwo : public ::testing::Test {
 protected:
  TwoByTwo() {
    request_.input = testing::toy_case(folder_);
    request_.x = {"link.intra.bandwidth", {"1x", "4x"}};
    request_.y = {"batch", {"1000", "2000"}};
    request_.strategies = {"data", "model"};
  }

  testing::Folder folder_{"phase_map"};
  PhaseMapRequest request_;
};

// 1x: 20 and 18, 20 and 30; 4x: 8 and 9, 8 and 12.
TEST_F(TwoByTwo, TheWinnerTurnsWhereTheStepsSay) {
  const PhaseMap map = phase_map(request_);
  const auto winner = [&](std::size_t x, std::size_t y) {
    return map.strategies[map.at(x, y).winner.value()];
  };
  EXPECT_EQ(winner(0, 0), "model");
  EXPECT_EQ(winner(1, 0), "data");
  EXPECT_EQ(winner(0, 1), "data");
  EXPECT_EQ(winner(1, 1), "data");
  EXPECT_NEAR(map.at(0, 0).scores[0].step.value, 20e-3, 1e-8);
  EXPECT_NEAR(map.at(0, 0).scores[1].step.value, 18e-3, 1e-8);
  EXPECT_NEAR(map.at(0, 0).margin, 20. / 18, 1e-5);
  EXPECT_NEAR(map.at(1, 0).margin, 9. / 8, 1e-5);
  EXPECT_NEAR(map.at(0, 1).margin, 30. / 20, 1e-5);
  EXPECT_EQ(map.at(1, 1).batch, 2000);
  EXPECT_EQ(map.at(1, 1).devices, 2);
}

// Between 1x and 4x the logarithm of the ratio goes from ln(20/18) to -ln(9/8): it is 0 at
// 4^0.472 = 1.92 (the truth is 2). Between the batches from ln(20/18) to -ln(30/20): 1154.
TEST_F(TwoByTwo, CrossoversLieBetweenTheCells) {
  const PhaseMap map = phase_map(request_);
  const std::vector<Crossover> found = crossovers(map);
  EXPECT_THAT(found, ElementsAre(Crossover{true, 0, 0, 1, 0, "1.9x"},
                                 Crossover{false, 0, 0, 1, 0, "1154"}));
  EXPECT_EQ(crossover_text(map, found[0]), "model, from link.intra.bandwidth about 1.9x on data");
}

// 4 + 16 / 2 = 6 + 12 / 2.
TEST_F(TwoByTwo, OfEqualStepsTheFirstWins) {
  request_.x.values = {"2x"};
  request_.y.values = {"1000"};
  EXPECT_EQ(phase_map(request_).at(0, 0).winner, 0U);
  request_.strategies = {"model", "data"};
  const PhaseMap map = phase_map(request_);
  EXPECT_EQ(map.at(0, 0).winner, 0U);
  EXPECT_NEAR(map.at(0, 0).margin, 1, 1e-5);
}

TEST_F(TwoByTwo, WhatLacksMemoryDoesNotWin) {
  // Data needs 32 MB for parameters and gradients alone; model needs 26 MB for all.
  testing::set_toy_memory(folder_, "32 MB");
  const PhaseMap map = phase_map(request_);
  EXPECT_FALSE(map.at(1, 0).scores[0].fits);
  EXPECT_EQ(map.at(1, 0).winner, 1U) << "model, though data is faster";
  EXPECT_EQ(map.at(1, 0).margin, 0) << "nobody else is left";
  testing::set_toy_memory(folder_, "1 MB");
  const PhaseMap none = phase_map(request_);
  EXPECT_EQ(none.at(0, 0).winner, std::nullopt);
  EXPECT_EQ(why_no_winner(none.at(0, 0)), "no strategy that was tried fits in memory");
  EXPECT_THAT(crossovers(none), SizeIs(0));
}

TEST_F(TwoByTwo, TellsEachCellOnceAndDependsOnNoThread) {
  std::vector<std::size_t> told;
  request_.threads = 4;
  const PhaseMap map =
      phase_map(request_, nullptr, [&](std::size_t cell, const MapCell&) { told.push_back(cell); });
  std::ranges::sort(told);
  EXPECT_THAT(told, ElementsAre(0, 1, 2, 3));
  request_.threads = 1;
  EXPECT_EQ(phase_map(request_).cells, map.cells);
}

TEST_F(TwoByTwo, CanBeCalledOff) {
  std::atomic<bool> cancelled = false;
  const auto stop = [&](std::size_t, const MapCell&) { cancelled = true; };
  EXPECT_THROW(phase_map(request_, &cancelled, stop), Cancelled);
}

// Of at most 16384 devices.
TEST_F(TwoByTwo, ACellWithoutACaseSaysWhy) {
  request_.input = {};
  request_.input.model = "lenet5";
  request_.input.cluster = "p100-1x1";
  request_.x = {"hosts", {"1", "200"}};
  request_.y = {"devices_per_host", {"1", "100"}};
  request_.strategies = {"data"};
  const PhaseMap map = phase_map(request_);
  EXPECT_THAT(map.at(1, 1).error, HasSubstr("their product at most 16384"));
  EXPECT_EQ(why_no_winner(map.at(1, 1)), map.at(1, 1).error);
  EXPECT_EQ(map.at(1, 0).winner, 0U);
  EXPECT_EQ(map.at(0, 1).devices, 100);
  request_.input.sets = {{"layer.conv1.speed", "2x"}};
  const PhaseMap faster = phase_map(request_);
  EXPECT_EQ(faster.at(1, 1).error, map.at(1, 1).error);
  EXPECT_EQ(faster.at(1, 0).winner, 0U);
}

TEST_F(TwoByTwo, AStrategysFileIsReadFirst) {
  request_.strategies = {"data", "absent.json"};
  EXPECT_THAT(said([&] { phase_map(request_); }), HasSubstr("absent.json"));
}

// Named first, it wins where it is slower by less than can be seen: it turns before the steps are
// equal.
TEST_F(TwoByTwo, ATieTellsNothingOfWhereTheyTurn) {
  PhaseMap map{request_.x, request_.y, request_.strategies, std::vector<MapCell>(4)};
  const auto set = [&](std::size_t place, double data, double model, std::size_t winner) {
    MapCell& cell = map.cells[place];
    cell.scores = {{Seconds{data}}, {Seconds{model}}};
    cell.winner = winner;
    cell.margin = std::max(1.0, winner == 0 ? model / data : data / model);
  };
  set(0, 2, 1, 1);
  set(1, 1.001, 1, 0);
  const std::vector<Crossover> found = crossovers(map);
  EXPECT_THAT(found, ElementsAre(Crossover{true, 0, 0, 1, 0, ""}));
  EXPECT_EQ(crossover_text(map, found[0]), "model, from link.intra.bandwidth 4x on data");
}

TEST_F(TwoByTwo, AStrategyWithoutAnyStepSaysWhy) {
  PhaseMap map{request_.x, request_.y, request_.strategies, std::vector<MapCell>(2)};
  for (MapCell& cell : map.cells) {
    cell.scores = {{Seconds{1}}, {}};
    cell.scores[1].why = "it is too long";
  }
  EXPECT_EQ(why_no_step(map, 0), "");
  EXPECT_EQ(why_no_step(map, 1), "it is too long");
}

TEST(MapAxis, WhatLiesBetweenTwoValuesIsAfterTheOneAndNotAfterTheOther) {
  const MapAxis batch{"batch", {"16", "32"}}, down{"batch", {"32", "16"}};
  EXPECT_EQ(text_between(batch, 0, 20.5), "21");
  EXPECT_EQ(text_between(batch, 0, 32), "32");
  EXPECT_EQ(text_between(batch, 0, 16), "32") << "the first to turn";
  EXPECT_EQ(text_between(down, 0, 20.5), "20");
  EXPECT_EQ(text_between(down, 0, 16), "16");
  const MapAxis near{"link.intra.bandwidth", {"1.02x", "1.04x"}};
  EXPECT_EQ(text_between(near, 0, 1.03), "1.04x") << "1x is before it";
}

TEST_F(TwoByTwo, SearchedStrategiesAreSearchedForInEveryCell) {
  request_.strategies = {"data", "model", "optimal"};
  for (const MapCell& cell : phase_map(request_).cells) {
    for (const MapScore& score : cell.scores) {
      EXPECT_LE(cell.scores.back().step.value, score.step.value * (1 + 1e-6));
    }
  }
}

TEST_F(TwoByTwo, ItsTableHasAllStrategiesOfAllCells) {
  const ReportTable table = table_of(phase_map(request_));
  EXPECT_THAT(table.rows, SizeIs(8));
  EXPECT_EQ(
      print_csv({table.columns, {}}),
      "link.intra.bandwidth,batch,devices,samples,strategy,step_seconds,peak_memory_bytes,fits,"
      "wins,why\r\n");
  EXPECT_EQ(table.rows[0][4].text, "data");
  EXPECT_EQ(table.rows[1][8].text, "1");
}

TEST_F(TwoByTwo, WhatIsWrongByItselfIsAnError) {
  const auto error = [&](auto change) {
    PhaseMapRequest request = request_;
    change(request);
    return said([&] { phase_map(request); });
  };
  EXPECT_EQ(
      error([](PhaseMapRequest& r) { r.x.key = "colour"; }),
      "unknown axis 'colour'; allowed: batch, batch_per_device, hosts, devices_per_host, or a "
      "key of `set`, as link.inter.bandwidth");
  EXPECT_EQ(error([](PhaseMapRequest& r) {
              r.x = {"batch_per_device", {"1"}};
            }),
            "the axes batch_per_device and batch are one number; allowed: two");
  EXPECT_EQ(error([](PhaseMapRequest& r) { r.x.values = {}; }),
            "axis link.intra.bandwidth has no values; allowed: at least one");
  EXPECT_EQ(error([](PhaseMapRequest& r) { r.strategies = {"date"}; }),
            "unknown strategy 'date'; allowed: data, model, owt, eq1, optimal, "
            "hybrid:tp=T[,sp=1][,cp=C[,cp_by=heads]][,ep=E[,etp=T]][,pp=P[,vp=V|v]], or a file "
            "ending in .json");
  EXPECT_EQ(error([](PhaseMapRequest& r) {
              r.strategies = {"data", "data"};
            }),
            "strategy data is there twice; allowed: each once");
  EXPECT_THAT(error([](PhaseMapRequest& r) {
                r.x.values = {"1x", "fast"};
              }),
              HasSubstr("'fast' is not a bandwidth"));
  EXPECT_THAT(error([](PhaseMapRequest& r) {
                r.x = {"hosts", {"2"}};
              }),
              HasSubstr("does not say how many; allowed: for clusters as p100-4x4"));
}

TEST(MapAxis, SizesAreOfTheClustersName) {
  CaseRequest request;
  request.cluster = "p100-4x2";
  EXPECT_EQ(with_value(request, "hosts", "8").cluster, "p100-8x2");
  EXPECT_EQ(with_value(request, "devices_per_host", "4").cluster, "p100-4x4");
  EXPECT_EQ(said([&] { with_value(request, "hosts", "0"); }),
            "hosts: '0' is no count; allowed: 1, 2, 3, ...");
}

TEST(PhaseMap, OneHostHasNoLinksBetweenHosts) {
  PhaseMapRequest request;
  request.input.model = "lenet5";
  request.input.cluster = "p100-2x2";
  request.x = {"link.inter.bandwidth", {"0.1x", "10x"}};
  request.y = {"hosts", {"1", "2"}};
  request.strategies = {"data"};
  const PhaseMap map = phase_map(request);
  EXPECT_EQ(map.at(0, 0).scores, map.at(1, 0).scores);
  EXPECT_NE(map.at(0, 1).scores, map.at(1, 1).scores);
  EXPECT_THAT(request_of(request, 0, 0).sets, SizeIs(0));
  EXPECT_THAT(request_of(request, 0, 1).sets, SizeIs(1));
  request.x.key = "link.outer.bandwidth";
  EXPECT_THAT(said([&] { phase_map(request); }), HasSubstr("has no link 'outer'"));
}

TEST(MapAxis, AWhatIfOfTheCaseGivesWayToTheAxis) {
  CaseRequest request;
  request.sets = {{"link.inter.bandwidth", "25 GB/s"}, {"overlap", "off"}};
  EXPECT_EQ(with_value(request, "link.inter.bandwidth", "2x").sets,
            (WhatIfs{{"link.inter.bandwidth", "2x"}, {"overlap", "off"}}));
  EXPECT_EQ(with_value(request, "link.inter.bandwidth", "1x").sets, (WhatIfs{{"overlap", "off"}}));
}

TEST(MapAxis, ABatchTakesThePlaceOfTheOther) {
  CaseRequest request;
  request.training.batch = 512;
  EXPECT_EQ(with_value(request, "batch_per_device", "8").training.batch, std::nullopt);
  EXPECT_EQ(with_value(request, "batch", "64").training.batch, 64);
}

TEST(MapAxis, UsualOnesAreOfTheCase) {
  CaseRequest request;
  request.cluster = "p100-4x4";
  const std::vector<MapAxis> axes = usual_axes(request, load_cluster(request.cluster, {}));
  std::vector<std::string> keys;
  for (const MapAxis& axis : axes) keys.push_back(axis.key);
  EXPECT_THAT(keys, ElementsAre("link.intra.bandwidth", "link.inter.bandwidth", "batch_per_device",
                                "hosts", "devices_per_host", "device.*.speed"));
  EXPECT_THAT(axes[1].values, ElementsAre("0.125x", "0.25x", "0.5x", "1x", "2x", "4x", "8x"));
  EXPECT_THAT(axes[2].values, ElementsAre("4", "8", "16", "32", "64", "128", "256"));
  EXPECT_EQ(usual_x(axes).key, "link.inter.bandwidth");
  EXPECT_EQ(usual_y(axes).key, "batch_per_device");
  EXPECT_EQ(usual_y(axes, "batch").key, "link.inter.bandwidth") << "one number with the usual one";
  EXPECT_EQ(usual_x(axes, "link.inter.bandwidth").key, "link.intra.bandwidth");
  EXPECT_EQ(read_axis("hosts", axes).values, axes[3].values);
  EXPECT_EQ(read_axis("hosts=2,3", axes), (MapAxis{"hosts", {"2", "3"}}));
  EXPECT_EQ(print_axis({"hosts", {"2", "3"}}), "hosts=2,3");
  EXPECT_THAT(said([&] { read_axis("overlap", axes); }),
              HasSubstr("overlap: no usual values; allowed: link.intra.bandwidth,"));
}

}  // namespace
}  // namespace strata
