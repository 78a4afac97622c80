// A phase map in the background, and its cells as cases on the desk.

#include <QSignalSpy>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gui/models/phase_map/map_cells.h"
#include "gui/models/phase_map/map_run.h"
#include "tests/gui/models/event_loop.h"
#include "tests/sim/study/toy_links.h"

namespace strata::gui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// 1x: data 20 ms, model 18 ms; 4x: 8 ms and 9 ms (tests/sim/study/phase_map_test.cpp).
class MapRunTest : public ::testing::Test {
 protected:
  MapRunTest() {
    testing::application();
    request_.input = testing::toy_case(folder_);
    request_.input.training.batch = 1000;
    request_.x = {"link.intra.bandwidth", {"1x", "4x"}};
    request_.y = {"batch", {"1000", "2000"}};
    request_.strategies = {"data", "model"};
  }
  void draw() {
    run_.start(request_);
    ASSERT_TRUE(testing::wait_until([&] { return !run_.running(); }));
  }
  std::string winner(std::size_t column, std::size_t row) const {
    return run_.map().strategies[run_.map().at(column, row).winner.value()];
  }

  testing::Folder folder_{"map_run"};
  PhaseMapRequest request_;
  Jobs jobs_;
  MapRun run_{jobs_};
};

TEST_F(MapRunTest, FindsAllCells) {
  QSignalSpy changed(&run_, &MapRun::changed);
  draw();
  EXPECT_EQ(run_.known(), 4U);
  EXPECT_TRUE(run_.knows(1, 1));
  EXPECT_EQ(winner(0, 0), "model");
  EXPECT_EQ(winner(1, 0), "data");
  EXPECT_EQ(winner(0, 1), "data");
  EXPECT_GE(changed.count(), 2) << "it began, and cells were found";
}

TEST_F(MapRunTest, WhatIsWrongIsSaidAndLeavesNoMap) {
  QSignalSpy failed(&run_, &MapRun::failed);
  request_.x.values = {"fast"};
  draw();
  ASSERT_EQ(failed.count(), 1);
  EXPECT_THAT(failed[0][0].toString().toStdString(), HasSubstr("'fast' is not a bandwidth"));
  EXPECT_TRUE(run_.map().cells.empty());
  EXPECT_FALSE(run_.knows(0, 0));
  EXPECT_FALSE(run_.knows(1, 1));
}

TEST_F(MapRunTest, KeepsWhatItHasWhenItIsStopped) {
  request_.y.values.clear();
  for (int batch = 2; batch < 20'000; ++batch) {
    request_.y.values.push_back(std::to_string(batch));
  }
  run_.start(request_);
  ASSERT_TRUE(testing::wait_until([&] { return run_.known() > 0 || !run_.running(); }));
  run_.stop();
  ASSERT_TRUE(testing::wait_until([&] { return !run_.running(); }));
  EXPECT_GT(run_.known(), 0U);
  EXPECT_LT(run_.known(), run_.map().cells.size());
}

TEST_F(MapRunTest, ANewerMapTakesThePlaceOfTheOneBefore) {
  run_.start(request_);
  request_.x.values = {"1x"};
  draw();
  EXPECT_EQ(run_.map().cells.size(), 2U);
  EXPECT_EQ(run_.known(), 2U);
}

TEST_F(MapRunTest, ACellIsACaseUnderItsWinner) {
  draw();
  Document desk;
  desk.input = request_.input;
  desk.strategy.source = "owt";
  const Document quick = document_of_cell(run_.request(), run_.map(), {1, 1}, desk);
  EXPECT_EQ(quick.input.training.batch, 2000);
  EXPECT_EQ(quick.what_if("link.intra.bandwidth"), "4x");
  EXPECT_EQ(quick.strategy.source, "data");
  const Document same = document_of_cell(run_.request(), run_.map(), {0, 0}, desk);
  EXPECT_EQ(same.input, desk.input) << "1x is as it is";
  EXPECT_EQ(same.strategy.source, "model");
  EXPECT_TRUE(is_map_of(run_.request(), quick.input));
  EXPECT_EQ(place_of(cases_of(run_.request()), quick.input), (MapPlace{1, 1}));
  Document other = quick.with_what_if("overlap", "off");
  EXPECT_FALSE(is_map_of(run_.request(), other.input));
  EXPECT_EQ(place_of(cases_of(run_.request()), other.input), std::nullopt);
}

// No host has no devices: the first column has no case.
TEST(MapCells, AreTheDesksWhereTheFirstHasNoCase) {
  PhaseMapRequest map;
  map.input.model = "lenet5";
  map.input.cluster = "h100-2x8";
  map.x = {std::string(kDevicesPerHostKey), {"0", "4", "8"}};
  map.y = {std::string(kHostsKey), {"1", "2"}};
  ASSERT_EQ(cases_of(map).cells[0], std::nullopt);
  EXPECT_TRUE(is_map_of(map, map.input));
  CaseRequest other = map.input;
  other.cluster = "h100-4x4";
  EXPECT_TRUE(is_map_of(map, other)) << "but for its two numbers";
  other.training.dtype = DType::fp16;
  EXPECT_FALSE(is_map_of(map, other));
  other = map.input;
  other.sets = {{"link.inter.bandwidth", "0.5x"}};
  EXPECT_FALSE(is_map_of(map, other)) << "though one host has no such link";
  map.x.values = {"0"};
  EXPECT_TRUE(is_map_of(map, map.input)) << "nowhere a case";
  EXPECT_FALSE(is_map_of(map, other));
  EXPECT_FALSE(is_map_of({}, map.input));
}

TEST_F(MapRunTest, SaysAllThatItKnowsOfACell) {
  draw();
  EXPECT_THAT(cell_text(run_.map(), {0, 0}).toStdString(),
              AllOf(HasSubstr("Bandwidth in a host: 1x"), HasSubstr("Batch of all devices: 1000"),
                    HasSubstr("2 devices, a batch of 1"), HasSubstr("model wins"),
                    HasSubstr("1.11 times as long"), HasSubstr("data: 20 ms")));
}

// What a what-if resized on the desk, it did not in the cell's case.
TEST_F(MapRunTest, ACellIsNotResized) {
  draw();
  Document desk;
  desk.input = request_.input;
  desk.base_cluster = "p100-1x4";
  desk.base_batch = 64;
  const Document opened = document_of_cell(run_.request(), run_.map(), {1, 1}, desk);
  EXPECT_EQ(opened.base_cluster, "");
  EXPECT_EQ(opened.base_batch, std::nullopt);
}

TEST(MapCells, SayWhyAWinnerStandsAlone) {
  const PhaseMap map{{"hosts", {"1"}}, {"batch", {"1"}}, {"data", "model", "owt"}, {}};
  MapCell cell;
  cell.winner = 0;
  MapScore large{Seconds{1}}, none;
  large.fits = false;
  const auto said = [&](std::vector<MapScore> others) {
    cell.scores = std::move(others);
    cell.scores.insert(cell.scores.begin(), MapScore{Seconds{2}});
    return winner_text(map, cell).toStdString();
  };
  EXPECT_EQ(said({large, large}), "only data fits in memory");
  EXPECT_EQ(said({none, none}), "only data has a step");
  EXPECT_EQ(said({large, none}), "only data has a step and fits in memory");
  EXPECT_EQ(said({}), "data is the only strategy");
}

TEST_F(MapRunTest, HasACommandThatPrintsIt) {
  EXPECT_THAT(map_command(request_).toStdString(),
              AllOf(HasSubstr("strata map "), HasSubstr(" --x link.intra.bandwidth=1x,4x"),
                    HasSubstr(" --y batch=1000,2000 --strategy data,model")));
  request_.strategies = PhaseMapRequest().strategies;
  EXPECT_THAT(map_command(request_).toStdString(), Not(HasSubstr("--strategy")));
}

TEST(MapCells, CutsByHandAreOfTheirDevices) {
  PhaseMapRequest request;
  request.input.model = "lenet5";
  request.input.cluster = "p100-1x2";
  request.x = {"hosts", {"1", "2"}};
  request.y = {"batch_per_device", {"32"}};
  const PhaseMap map{request.x, request.y, request.strategies, std::vector<MapCell>(2)};
  Document desk;
  desk.input = request.input;
  desk.strategy.configs = {config_on_first_devices(kWhole)};
  EXPECT_TRUE(document_of_cell(request, map, {0, 0}, desk).strategy.edited());
  EXPECT_FALSE(document_of_cell(request, map, {1, 0}, desk).strategy.edited());
}

}  // namespace
}  // namespace strata::gui
