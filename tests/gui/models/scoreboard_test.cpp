// What was tried: by case, each strategy once, with the bound that a search proved.

#include "gui/models/scoreboard.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <gmock/gmock.h>

#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

CaseRequest case_of(const std::string& model) {
  return document_of(model, "p100-1x2").input;
}

/// A strategy of one layer, which takes so long.
TriedStrategy taking(double step, const StrategyChoice& choice, bool fits = true) {
  CaseResult result;
  result.step_seconds = step;
  result.eq1_seconds = 2 * step;
  result.peak_memory_bytes = 1000;
  result.comm_bytes = 500;
  result.fits = fits;
  return {choice, result};
}

std::vector<std::string> names(const Scoreboard& board, const CaseRequest& input) {
  std::vector<std::string> names;
  for (const TriedStrategy& one : board.find(input)->strategies) {
    names.push_back(one.name().toStdString());
  }
  return names;
}

TEST(Scoreboard, KeepsTheCasesApart) {
  Scoreboard board;
  board.add({case_of("lenet5"), {}, {taking(1, {"data"})}});
  board.add({case_of("alexnet"), Seconds{2}, {taking(3, {"owt"})}});
  EXPECT_THAT(names(board, case_of("lenet5")), ElementsAre("data"));
  EXPECT_THAT(names(board, case_of("alexnet")), ElementsAre("owt"));
  EXPECT_EQ(board.lower_bound(case_of("lenet5")), Seconds{});
  EXPECT_EQ(board.lower_bound(case_of("alexnet")), Seconds{2});
  EXPECT_EQ(board.find(case_of("vgg16")), nullptr);
}

// What is cut in another way under the same name is another strategy.
TEST(Scoreboard, KeepsEachStrategyOnce) {
  Scoreboard board;
  const CaseRequest lenet = case_of("lenet5");
  const StrategyChoice best{"optimal", {config_on_first_devices(kWhole)}, "best"};
  const StrategyChoice other{"optimal", {config_on_first_devices({{2, 1, 1, 1, 1}})}, "best"};
  board.add({lenet, Seconds{1}, {taking(3, {"data"}), taking(2, best)}});
  EXPECT_EQ(board.number_of(lenet, other), 2);
  board.add({lenet, Seconds{0.5}, {taking(4, {"data"}), taking(5, other)}});
  EXPECT_EQ(board.number_of(lenet, other), 2);
  EXPECT_EQ(board.number_of(lenet, best), 1);
  EXPECT_EQ(board.number_of(case_of("alexnet"), other), 1);
  EXPECT_THAT(names(board, lenet), ElementsAre("data", "best", "best 2"));
  EXPECT_EQ(board.find(lenet)->strategies[0].result.step_seconds, 4) << "the newest counts";
  EXPECT_EQ(board.lower_bound(lenet), Seconds{1}) << "the larger bound is proved, too";
}

TEST(Scoreboard, RemovesWhatIsPicked) {
  Scoreboard board;
  const CaseRequest lenet = case_of("lenet5");
  board.add({lenet, Seconds{1}, {taking(3, {"data"}), taking(2, {"owt"}), taking(4, {"model"})}});
  const QSignalSpy changed(&board, &Scoreboard::changed);
  board.remove(lenet, {taking(0, {"owt"}), taking(0, {"model"})});
  EXPECT_THAT(names(board, lenet), ElementsAre("data"));
  EXPECT_EQ(changed.size(), 1);
  EXPECT_EQ(board.lower_bound(lenet), Seconds{1});
}

TEST(Scoreboard, ForgetsWhatFilesSaid) {
  Scoreboard board;
  CaseRequest measured = case_of("lenet5");
  measured.profiles = {"mine.toml"};
  for (const CaseRequest& input : {case_of("lenet5"), case_of("mine.onnx"), measured}) {
    board.add({input, {}, {taking(1, {"data"})}});
  }
  board.forget_files();
  EXPECT_NE(board.find(case_of("lenet5")), nullptr);
  EXPECT_EQ(board.find(case_of("mine.onnx")), nullptr);
  EXPECT_EQ(board.find(measured), nullptr);
}

TEST(Scoreboard, AScenesStrategyIsTried) {
  const ScenePtr scene = scene_of("lenet5", "p100-1x2", "owt");
  const TriedCase one = tried(*scene);
  EXPECT_EQ(one.input, scene->document.input);
  ASSERT_EQ(one.strategies.size(), 1);
  EXPECT_EQ(one.strategies[0].choice, StrategyChoice{"owt"});
  const CaseResult& result = one.strategies[0].result;
  EXPECT_EQ(result.step_seconds, scene->prediction.step_seconds().value);
  EXPECT_EQ(result.peak_memory_bytes, scene->prediction.largest_peak().value);
  EXPECT_EQ(result.fits, true);
}

// The usual strategies beside the best; a bound of some strategies alone is none of all.
TEST(Scoreboard, ASearchTriesTheUsualOnesToo) {
  const CaseRequest request = case_of("lenet5");
  const Case input = load_case(request);
  const Solved solved = solve(input);
  const StrategyChoice best{"optimal", {}, "best"};
  Scoreboard board;
  board.add(tried(request, input, solved, best, true));
  EXPECT_THAT(names(board, request), ElementsAre("optimal", "data", "model", "owt"));
  EXPECT_EQ(board.lower_bound(request), solved.lower_bound);
  EXPECT_EQ(board.find(request)->strategies.front().result.step_seconds, solved.least().value);
  EXPECT_EQ(tried(request, input, solved, best, false).lower_bound, Seconds{});
}

// With a bound of 0.9 s and a baseline that takes 2 s.
TEST(ScoreTable, ComparesTheStrategies) {
  ScoreTable table;
  const QAbstractItemModelTester tester(&table,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  const std::vector<TriedStrategy> rows = {taking(2, {"data"}), taking(1, {"owt"}),
                                           taking(0.9, {"optimal"}, false)};
  table.show({{"owt"}, Seconds{2}, Seconds{0.9}}, rows);
  table.sort(ScoreTable::step, Qt::AscendingOrder);
  const auto text = [&](int row, ScoreTable::Column column) {
    return table.index(row, column).data().toString().toStdString();
  };
  EXPECT_EQ(text(0, ScoreTable::strategy), "optimal");
  EXPECT_EQ(text(0, ScoreTable::gap), "none");
  EXPECT_EQ(text(0, ScoreTable::fits), "no");
  EXPECT_EQ(text(1, ScoreTable::strategy), "owt  (chosen)");
  EXPECT_EQ(text(1, ScoreTable::step), "1 s");
  EXPECT_EQ(text(1, ScoreTable::speedup), "2.00×");
  EXPECT_EQ(text(1, ScoreTable::gap), "10 %");
  EXPECT_EQ(text(1, ScoreTable::memory), "1.00 kB");
  EXPECT_EQ(text(1, ScoreTable::eq1), "2 s");
  EXPECT_EQ(table.index(1, ScoreTable::gap).data(Qt::ToolTipRole).toString().toStdString(),
            "at most 10 % from the fastest");
  EXPECT_EQ(table.chosen_row(), 1);
  EXPECT_EQ(table.csv().split('\n').mid(0, 2).join('\n').toStdString(),
            "strategy,step_seconds,speedup,gap,peak_memory_bytes,fits,eq1_seconds,comm_bytes\n"
            "optimal,0.9,2.2222222222222223,0,1000,0,1.8,500");
}

TEST(ScoreTable, LeavesOutWhatIsNotKnown) {
  ScoreTable table;
  table.show({}, {taking(2, {"data"})});
  EXPECT_EQ(table.index(0, ScoreTable::speedup).data().toString(), QString());
  EXPECT_EQ(table.index(0, ScoreTable::gap).data().toString(), QString());
  EXPECT_EQ(table.chosen_row(), 0);
  EXPECT_EQ(table.csv().split('\n').at(1).toStdString(), "data,2,,,1000,1,4,500");
}

}  // namespace
}  // namespace strata::gui
