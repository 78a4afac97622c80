// What was tried stays beside each other: a row comes with a prediction or a search, is taken by a
// click, and is there again when its case is.

#include "gui/widgets/scoreboard/scoreboard_view.h"

#include <QTest>

#include <gmock/gmock.h>

#include "gui/models/network/solve_rest.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ScoreboardViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(900, 400);
    view_.show();
    workspace_.open(document_of("alexnet", "p100-1x4"));
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  }
  void choose(const char* strategy) {
    workspace_.set_strategy({strategy});
    settle();
  }
  void find_fastest() {
    solve_rest(
        workspace_, &view_, {}, [](const SolvedRest&) {}, [](const QString&) {});
    settle();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const TriedStrategy& row : view_.scores().rows()) names.push_back(row.choice.label());
    return names;
  }
  int row_of(const std::string& name) const {
    const std::vector<std::string> all = names();
    return static_cast<int>(std::find(all.begin(), all.end(), name) - all.begin());
  }
  void click(const std::string& name, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    const QModelIndex cell = view_.scores().index(row_of(name), ScoreTable::step);
    QTest::mouseClick(view_.table().viewport(), Qt::LeftButton, modifiers,
                      view_.table().visualRect(cell).center());
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  ScoreboardView view_{workspace_};
};

TEST_F(ScoreboardViewTest, KeepsWhatWasPredicted) {
  EXPECT_THAT(names(), ElementsAre("data"));
  choose("owt");
  choose("model");
  workspace_.set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  EXPECT_THAT(names(), UnorderedElementsAre("data", "owt", "model", "model, edited"));
  workspace_.undo_stack().undo();
  settle();
  EXPECT_THAT(names(), SizeIs(4));
  const auto& rows = view_.scores().rows();
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, [](const TriedStrategy& row) {
    return row.result.step_seconds.value();
  })) << "the fastest first";
}

TEST_F(ScoreboardViewTest, ASearchAddsWhatItFindsAndProves) {
  find_fastest();
  EXPECT_THAT(names(), UnorderedElementsAre("data", "owt", "model", "best"));
  EXPECT_EQ(names().front(), "best");
  EXPECT_EQ(view_.scores().chosen_row(), 0);
  EXPECT_EQ(view_.table().picked(), 0);
  EXPECT_GT(workspace_.scoreboard().lower_bound(workspace_.document().input).value, 0);
  const QString gap = view_.scores().index(0, ScoreTable::gap).data().toString();
  EXPECT_THAT(gap.toStdString(), HasSubstr("%"));
}

TEST_F(ScoreboardViewTest, AClickTakesAStrategyAsOneStepOfUndo) {
  find_fastest();
  const StrategyChoice best = workspace_.document().strategy;
  const int steps = workspace_.undo_stack().count();
  click("owt");
  settle();
  EXPECT_EQ(workspace_.document().strategy, StrategyChoice{"owt"});
  EXPECT_EQ(workspace_.undo_stack().count(), steps + 1);
  view_.table().pick(row_of("best"));
  QTest::keyClick(&view_.table(), Qt::Key_Return);
  EXPECT_EQ(workspace_.document().strategy, best);
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document().strategy, StrategyChoice{"owt"});
}

TEST_F(ScoreboardViewTest, RemovesThePickedRows) {
  find_fastest();
  click("owt", Qt::ControlModifier);
  click("model", Qt::ControlModifier);
  EXPECT_EQ(workspace_.document().strategy.label(), "best") << "they are picked, not taken";
  QTest::keyClick(&view_.table(), Qt::Key_Delete);
  EXPECT_THAT(names(), ElementsAre("data"));
}

TEST_F(ScoreboardViewTest, HidesTheRowsOfOtherCases) {
  choose("owt");
  workspace_.set_what_if("link.intra.bandwidth", "0.5x");
  settle();
  EXPECT_THAT(names(), ElementsAre("owt"));
  workspace_.undo_stack().undo();
  settle();
  EXPECT_THAT(names(), UnorderedElementsAre("data", "owt"));
}

// Its cuts are of the case that is shown, which the document is no longer.
TEST_F(ScoreboardViewTest, TakesNothingThatIsOfAnotherCase) {
  choose("owt");
  workspace_.set_what_if("link.nowhere.bandwidth", "2x");
  settle();
  click("data");
  EXPECT_EQ(workspace_.document().strategy, StrategyChoice{"owt"});
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("not predicted"));
  const auto* banner = view_.findChild<Banner*>();
  for (const QPushButton* button : view_.findChildren<QPushButton*>()) {
    EXPECT_LT(banner->geometry().bottom(), button->mapTo(&view_, QPoint(0, 0)).y())
        << button->text().toStdString() << " stays in view";
  }
}

TEST_F(ScoreboardViewTest, IsACommandAndATable) {
  find_fastest();
  EXPECT_THAT(view_.command().toStdString(),
              HasSubstr("strata predict alexnet --cluster p100-1x4 --strategy "));
  EXPECT_THAT(view_.command().toStdString(), HasSubstr("owt"));
  EXPECT_THAT(view_.command().toStdString(), Not(HasSubstr("best")));
  EXPECT_EQ(view_.csv().count('\n'), 5);
}

TEST(ScoreboardOfNothing, SaysThatNothingWasTried) {
  testing::NoDevices runner;
  Workspace workspace(runner);
  ScoreboardView view(workspace);
  view.show();
  EXPECT_THAT(view.instead().toStdString(), HasSubstr("No strategy was tried yet"));
  EXPECT_TRUE(view.csv().isEmpty());
  EXPECT_TRUE(view.command().isEmpty());
}

}  // namespace
}  // namespace strata::gui
