// Why is a layer cut so: asked by selecting it, answered by a table, tried by a key.

#include "gui/widgets/why/why_view.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QTest>
#include <algorithm>

#include <gmock/gmock.h>

#include "gui/models/text.h"
#include "sim/search/solve.h"
#include "sim/text/units.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WhyViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1000, 600);
    view_.show();
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x4";
    document.strategy.source = "eq1";
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  }
  void ask(const char* layer) {
    workspace_.selection().select_layers({workspace_.scene()->input.graph.find(layer)});
    settle();
  }
  const Explanation& answer() const { return view_.choices().explained()->explanation; }
  Degrees degrees(const char* layer) const {
    return workspace_.scene()
        ->prediction.strategy[workspace_.scene()->input.graph.find(layer)]
        .degrees;
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  WhyView view_{workspace_};
};

TEST_F(WhyViewTest, AnswersForTheSelectedLayer) {
  EXPECT_EQ(view_.choices().explained(), nullptr);
  ask("conv2");
  const QAbstractItemModelTester tester(view_.table().model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  ASSERT_TRUE(answer().chosen.has_value());
  EXPECT_EQ(answer().choices[*answer().chosen].regret.value, 0);
  EXPECT_EQ(view_.table().model()->rowCount(), static_cast<int>(answer().choices.size()));
  // The shortest step first, and the chosen one selected.
  const ChoiceCosts& first = answer().choices[0];
  EXPECT_GT(first.step, Seconds{});
  const auto shortest = std::ranges::min(answer().choices, {}, &ChoiceCosts::step);
  EXPECT_EQ(view_.table().model()->index(0, ChoiceTable::step_column).data().toString(),
            human_seconds(shortest.step));
  EXPECT_EQ(view_.table().currentIndex().row(), view_.row_of(degrees("conv2")));
  EXPECT_EQ(view_.command(), QStringLiteral("strata explain lenet5 --cluster p100-1x4 --strategy "
                                            "eq1 --layer conv2"));
  EXPECT_EQ(view_.csv().count(QLatin1Char('\n')), static_cast<int>(answer().choices.size()) + 1);
}

// The peak of the simulated step, as the other views have it.
TEST_F(WhyViewTest, ShowsThePeakMemoryOfEachCut) {
  ask("conv2");
  const std::size_t chosen = answer().chosen.value();
  const Bytes peak = std::ranges::max(workspace_.scene()->prediction.peak_memory);
  EXPECT_EQ(answer().choices[chosen].peak_memory, peak);
  EXPECT_LT(view_.choices().explained()->kept[chosen], peak);
  const int row = view_.row_of(degrees("conv2"));
  EXPECT_EQ(view_.table().model()->index(row, ChoiceTable::memory_column).data().toString(),
            human_bytes(peak));
}

// With no layer selected, why the whole strategy takes the time that it takes.
TEST_F(WhyViewTest, TellsTheStoryOfTheStrategy) {
  const std::string step =
      "A step takes " + format_seconds(workspace_.scene()->prediction.step_seconds());
  EXPECT_THAT(view_.story().toStdString(), HasSubstr(step));
  EXPECT_THAT(view_.story().toStdString(), HasSubstr("owt takes"));
  EXPECT_GT(workspace_.scoreboard().lower_bound(workspace_.document().input).value, 0)
      << "what it proved holds in all views";
  EXPECT_EQ(view_.command(),
            QStringLiteral("strata explain lenet5 --cluster p100-1x4 --strategy eq1"));
  ask("conv2");
  EXPECT_NE(view_.choices().explained(), nullptr);
  workspace_.selection().select_layers({});
  settle();
  EXPECT_EQ(view_.choices().explained(), nullptr);
  EXPECT_THAT(view_.story().toStdString(), HasSubstr(step));
}

// What is asked while another answer is still worked out takes its place.
TEST_F(WhyViewTest, AnswersTheLastQuestionAlone) {
  StrategyChoice owt;
  owt.source = "owt";
  workspace_.set_strategy(owt);
  settle();
  workspace_.selection().select_layers({workspace_.scene()->input.graph.find("conv2")});
  workspace_.selection().select_layers({});
  settle();
  EXPECT_EQ(view_.choices().explained(), nullptr);
  EXPECT_FALSE(view_.table().isVisible());
  EXPECT_THAT(view_.story().toStdString(), HasSubstr("<b>owt</b>"));
}

// As wide as the view is in a dock.
TEST_F(WhyViewTest, EveryHeadingCanBeRead) {
  view_.resize(540, 600);
  ask("conv2");
  const QHeaderView& header = *view_.table().horizontalHeader();
  for (int column = 0; column < ChoiceTable::column_count; ++column) {
    EXPECT_GE(header.sectionSize(column), header.sectionSizeHint(column)) << column;
  }
}

// What forcing costs is the regret that was told.
TEST_F(WhyViewTest, ForcingCostsTheRegret) {
  ask("fc1");
  const Seconds optimum = answer().optimum;
  const int row = view_.row_of(kWhole);
  ASSERT_GE(row, 0);
  Seconds regret;
  for (const ChoiceCosts& choice : answer().choices) {
    if (choice.config.degrees == kWhole) regret = choice.regret;
  }
  view_.table().selectRow(row);
  QTest::keyClick(&view_.table(), Qt::Key_Return);
  settle();
  EXPECT_EQ(degrees("fc1"), kWhole);
  EXPECT_THAT(workspace_.document().locked, ElementsAre("fc1", "tanh3"));
  const Seconds forced = workspace_.scene()->prediction.eq1_seconds();
  EXPECT_NEAR((forced - optimum).value, regret.value, 1e-9 * optimum.value);
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("Forced one device"));
  workspace_.undo_stack().undo();
  settle();
  EXPECT_TRUE(workspace_.document().locked.empty());
  EXPECT_NEAR(workspace_.scene()->prediction.eq1_seconds().value, optimum.value,
              1e-9 * optimum.value);
}

TEST_F(WhyViewTest, TakingACutLeavesTheOthersAlone) {
  ask("conv1");
  const Degrees fc1 = degrees("fc1");
  view_.table().selectRow(view_.row_of(kWhole));
  QTest::keyClick(&view_.table(), Qt::Key_T);
  settle();
  EXPECT_EQ(degrees("conv1"), kWhole);
  EXPECT_EQ(degrees("tanh1"), kWhole);  // which shares its cut
  EXPECT_EQ(degrees("fc1"), fc1);
  EXPECT_TRUE(workspace_.document().locked.empty());
}

TEST_F(WhyViewTest, GoesToTheNeighbourThatCostsMost) {
  ask("fc1");
  view_.table().selectRow(view_.row_of({{1, 4, 1, 1, 1}}));
  QTest::keyClick(&view_.table(), Qt::Key_G);
  settle();
  const LayerId now = workspace_.selection().layers().at(0);
  EXPECT_NE(workspace_.scene()->input.graph[now].name, "fc1");
  EXPECT_EQ(view_.choices().explained()->layer, now);
}

TEST_F(WhyViewTest, AsksNothingWhileNobodySeesIt) {
  view_.hide();
  ask("conv1");
  EXPECT_EQ(view_.choices().explained(), nullptr);
  view_.show();
  settle();
  EXPECT_NE(view_.choices().explained(), nullptr);
}

TEST_F(WhyViewTest, OfANetworksInputThereIsNothingToAsk) {
  ask("input");
  EXPECT_EQ(view_.choices().explained(), nullptr);
  QTest::keyClick(&view_.table(), Qt::Key_Return);
  EXPECT_FALSE(view_.force_button().isEnabled());
}

}  // namespace
}  // namespace strata::gui
