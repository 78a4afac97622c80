// The desk: opening, editing, undo, what-ifs and baselines, on LeNet-5 over two P100s.

#include "gui/models/workspace.h"

#include <QSignalSpy>

#include <gmock/gmock.h>

#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;
using testing::wait_until;

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() { testing::application(); }

  static Document lenet(const std::string& strategy = "data") {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    document.strategy.source = strategy;
    return document;
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  Seconds step() const { return workspace_.scene()->prediction.step_seconds(); }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
};

TEST_F(WorkspaceTest, PredictsWhatIsOpenedBesideDataParallelism) {
  workspace_.open(lenet("model"));
  settle();
  ASSERT_TRUE(workspace_.scene() && workspace_.baseline());
  const Case input = load_case(lenet().input);
  EXPECT_EQ(workspace_.scene()->prediction.strategy, load_strategy("model", input));
  EXPECT_EQ(workspace_.baseline()->prediction.strategy, load_strategy("data", input));
  EXPECT_EQ(workspace_.error(), "");
}

TEST_F(WorkspaceTest, AnEditCanBeUndoneAndRedone) {
  workspace_.open(lenet());
  settle();
  const Document before = workspace_.document();
  workspace_.set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  EXPECT_EQ(workspace_.scene()->prediction.strategy[LayerId(1)].devices.size(), 1);
  EXPECT_EQ(workspace_.document().strategy.label(), "data, edited");
  const Document after = workspace_.document();
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document(), before);
  settle();
  EXPECT_EQ(workspace_.scene()->document, before);
  workspace_.undo_stack().redo();
  EXPECT_EQ(workspace_.document(), after);
}

// As the scoreboard counts them, predicted or not; a cut that comes again has the number it had.
TEST_F(WorkspaceTest, NumbersWhatIsCutByHand) {
  workspace_.open(lenet());
  settle();
  const auto cut = [&](int parts) {
    workspace_.set_config({LayerId(3)}, config_on_first_devices({{1, parts, 1, 1, 1}}));
    return workspace_.document().strategy.label();
  };
  EXPECT_EQ(cut(2), "data, edited");
  EXPECT_EQ(cut(1), "data, edited 2");
  settle();
  EXPECT_EQ(workspace_.scene()->prediction.strategy.name(), "data, edited 2");
  EXPECT_EQ(cut(2), "data, edited");
  settle();
  EXPECT_EQ(cut(1), "data, edited 2");
  settle();
  const TriedCase* tried = workspace_.scoreboard().find(workspace_.document().input);
  ASSERT_NE(tried, nullptr);
  EXPECT_TRUE(std::ranges::any_of(tried->strategies, [&](const TriedStrategy& strategy) {
    return strategy.choice == workspace_.document().strategy &&
           strategy.name() == QStringLiteral("data, edited 2");
  }));
}

TEST_F(WorkspaceTest, GivesEachLayerItsOwnCutInOneEdit) {
  workspace_.open(lenet());
  settle();
  const Config whole = config_on_first_devices(kWhole);
  const Config halves = config_on_first_devices({{1, 2, 1, 1, 1}});
  workspace_.set_config({LayerId(3), LayerId(1)}, std::vector{whole, halves});
  EXPECT_EQ(workspace_.document().strategy.configs.at(3), whole);
  EXPECT_EQ(workspace_.document().strategy.configs.at(1), halves);
  EXPECT_EQ(workspace_.undo_stack().count(), 1);
}

TEST_F(WorkspaceTest, ADraggedSliderIsOneStep) {
  workspace_.open(lenet());
  workspace_.set_what_if("device.*.speed", "2");
  workspace_.set_what_if("device.*.speed", "3", true);
  workspace_.set_what_if("device.*.speed", "4", true);
  workspace_.set_what_if("device.*.speed", "1");
  EXPECT_EQ(workspace_.undo_stack().count(), 2);
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document().what_if("device.*.speed"), "4");
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.document(), lenet());
}

TEST_F(WorkspaceTest, KeepsTheLastGoodSceneWhenAnEditIsWrong) {
  workspace_.open(lenet());
  settle();
  const ScenePtr good = workspace_.scene();
  workspace_.set_what_if("link.nowhere.bandwidth", "2x");
  settle();
  EXPECT_EQ(workspace_.scene(), good);
  EXPECT_THAT(workspace_.error().toStdString(), HasSubstr("nowhere"));
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(workspace_.error(), "");
}

TEST_F(WorkspaceTest, APinnedBaselineStays) {
  workspace_.open(lenet());
  settle();
  const Seconds before = step();
  workspace_.pin_baseline();
  workspace_.set_what_if("device.*.speed", "0.5");
  settle();
  EXPECT_EQ(workspace_.baseline()->prediction.step_seconds(), before);
  EXPECT_GT(step(), before);
}

// Other cuts stand around it than those that are on the screen.
TEST_F(WorkspaceTest, RefusesACutAmongOthersThatAreNotKnownYet) {
  workspace_.open(lenet());
  settle();
  Document other = lenet();
  other.input.model = "alexnet";
  workspace_.edit("network", other);
  const QSignalSpy failed(&workspace_, &Workspace::failed);
  workspace_.set_config({LayerId(9)}, config_on_first_devices(kWhole));
  EXPECT_EQ(failed.size(), 1);
  EXPECT_EQ(workspace_.document(), other);
  settle();
  workspace_.set_config({LayerId(9)}, config_on_first_devices(kWhole));
  EXPECT_TRUE(workspace_.document().strategy.edited());
}

TEST_F(WorkspaceTest, WhatIsPinnedIsNotOverwrittenByWhatWasAskedForBefore) {
  workspace_.open(lenet("model"));
  settle();
  workspace_.set_baseline(lenet("owt"));
  workspace_.pin_baseline();
  settle();
  EXPECT_EQ(workspace_.baseline(), workspace_.scene());
}

TEST_F(WorkspaceTest, ABaselineIsAStepOfUndo) {
  workspace_.open(lenet("model"));
  settle();
  const ScenePtr data = workspace_.baseline();
  workspace_.set_what_if("device.*.speed", "0.5");
  settle();
  workspace_.pin_baseline();
  const ScenePtr pinned = workspace_.baseline();
  workspace_.set_baseline(lenet("owt"));
  settle();
  EXPECT_EQ(workspace_.baseline()->document, lenet("owt"));
  workspace_.clear_baseline();
  EXPECT_EQ(workspace_.baseline(), nullptr);
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.baseline()->document, lenet("owt"));
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.baseline(), pinned);
  workspace_.undo_stack().undo();
  EXPECT_EQ(workspace_.baseline(), data);
  EXPECT_EQ(workspace_.document().what_if("device.*.speed"), "0.5") << "which was before that";
  workspace_.undo_stack().redo();
  workspace_.undo_stack().redo();
  settle();
  EXPECT_EQ(workspace_.baseline()->document, lenet("owt"));
}

// Another network lets it go, and to undo that brings it back.
TEST_F(WorkspaceTest, APinnedBaselineComesBackWithItsNetwork) {
  workspace_.open(lenet("model"));
  settle();
  workspace_.pin_baseline();
  const ScenePtr pinned = workspace_.baseline();
  Document other = lenet();
  other.input.model = "alexnet";
  workspace_.edit("network", other);
  settle();
  EXPECT_EQ(workspace_.baseline()->document.input.model, "alexnet");
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(workspace_.baseline(), pinned);
}

// Data parallelism on the file's cluster, not on the one before.
TEST_F(WorkspaceTest, TheBaselineFollowsAFileThatIsReadAnew) {
  workspace_.open(lenet("model"));
  settle();
  workspace_.edit_and_read_anew("cluster", lenet("model").with_cluster("p100-1x4"));
  settle();
  EXPECT_EQ(workspace_.baseline()->document.input.cluster, "p100-1x4");
  EXPECT_EQ(workspace_.baseline()->document.strategy, StrategyChoice());
}

// The what-ifs that a case of a sweep comes with are its baseline's, too, until they are reset.
TEST_F(WorkspaceTest, TheBaselineFollowsACaseThatWasMadeElsewhere) {
  const auto beside = [&] { return workspace_.baseline()->document.input; };
  workspace_.open(lenet("model"));
  settle();
  const CaseRequest first = beside();
  Document row = lenet("model");
  row.input.training.batch_per_device = 64;
  row.input.sets = {{"link.intra.bandwidth", "2x"}};
  workspace_.edit_to_case("row", row);
  settle();
  EXPECT_EQ(beside(), row.input);
  workspace_.undo_stack().undo();
  settle();
  EXPECT_EQ(beside(), first);
  workspace_.undo_stack().redo();
  settle();
  workspace_.set_what_if("device.*.speed", "2x");
  settle();
  EXPECT_EQ(beside(), row.input) << "it is compared by that";
  workspace_.reset_what_ifs();
  settle();
  EXPECT_THAT(beside().sets, ::testing::IsEmpty());
  EXPECT_EQ(beside(), workspace_.document().input);
}

TEST_F(WorkspaceTest, DropsARangeThatEndsAfterTheTimeline) {
  workspace_.open(lenet());
  settle();
  const Seconds end = workspace_.scene()->prediction.timeline.makespan();
  workspace_.selection().select_range(TimeRange{{0}, end});
  workspace_.set_what_if("device.*.speed", "100x");
  settle();
  EXPECT_EQ(workspace_.error(), "");
  EXPECT_FALSE(workspace_.selection().range());
}

TEST_F(WorkspaceTest, ForgetsTheSelectionOfAnotherNetwork) {
  workspace_.open(lenet());
  settle();
  workspace_.selection().select_layers({LayerId(3)});
  workspace_.set_what_if("device.*.speed", "0.5");
  settle();
  EXPECT_EQ(workspace_.selection().layers().size(), 1);
  Document other = lenet();
  other.input.model = "alexnet";
  workspace_.edit("network", other);
  settle();
  EXPECT_TRUE(workspace_.selection().layers().empty());
}

// What took a search is there at once when an edit over it is undone.
TEST_F(WorkspaceTest, AnUndoneEditOfASearchedStrategySearchesNothing) {
  workspace_.open(lenet("optimal"));
  settle();
  const ScenePtr found = workspace_.scene();
  workspace_.set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  workspace_.undo_stack().undo();
  EXPECT_TRUE(workspace_.is_current());
  EXPECT_EQ(workspace_.scene(), found);
}

}  // namespace
}  // namespace strata::gui
