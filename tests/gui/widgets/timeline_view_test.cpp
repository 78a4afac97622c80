// The timeline as its user works with it: keys, mouse, search, the baseline beside it, a trace
// file.

#include "tests/gui/widgets/timeline_view_test.h"

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include <gmock/gmock.h>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "tests/gui/widgets/mouse.h"

namespace strata::gui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

// The times of the network before say nothing of it.
TEST_F(TimelineViewTest, AnotherNetworkIsShownFromItsStep) {
  open();
  for (int i = 0; i < 6; ++i) key(Qt::Key_W);
  const double zoomed = canvas_.window().length();
  workspace_.set_what_if("overlap", "off");
  settle();
  EXPECT_DOUBLE_EQ(canvas_.window().length(), zoomed) << "a what-if leaves what is looked at";
  workspace_.edit("another network", workspace_.document().with_model("alexnet"));
  settle();
  ASSERT_TRUE(shown().step);
  EXPECT_LE(canvas_.window().begin(), shown().step->begin.value);
  EXPECT_GE(canvas_.window().end(), shown().step->end.value);
  EXPECT_LT(canvas_.window().length(), 2 * shown().step->length().value);
}

TEST_F(TimelineViewTest, AnEmptyDeskSaysWhatToDo) {
  EXPECT_FALSE(canvas_.recording(0));
  EXPECT_TRUE(view_.csv().isEmpty());
  EXPECT_TRUE(view_.command().isEmpty());
  key(Qt::Key_F);
  key(Qt::Key_Period);
  view_.grab();
}

// It stands alone: above the time are the case, how long its step takes, and the colours.
TEST_F(TimelineViewTest, APictureSaysWhatItShows) {
  open();
  const QTemporaryDir folder;
  const QString file = folder.filePath("timeline.png");
  view_.export_to(file);
  const QSize time = canvas_.viewport()->size();
  const QImage picture(file);
  EXPECT_EQ(picture.width(), 2 * time.width());
  EXPECT_GT(picture.height(), 2 * (time.height() + 2 * view_.fontMetrics().height()));
  const std::string step =
      human_seconds(workspace_.scene()->prediction.step_seconds()).toStdString();
  EXPECT_THAT(view_.picture_title().toStdString(),
              AllOf(HasSubstr("lenet5 on p100-1x2, owt: a step takes " + step),
                    HasSubstr("before: lenet5 on p100-1x2, data: a step takes ")));
  const QImage above = picture.copy(0, 0, picture.width(), picture.height() - 2 * time.height());
  QImage blank = above;
  blank.fill(above.pixel(0, 0));
  EXPECT_NE(above, blank);
}

TEST_F(TimelineViewTest, ItsLegendNamesTheColoursThatAreShown) {
  EXPECT_TRUE(view_.legend().entries().empty());
  open();
  const auto named = [&](const QString& text) {
    return std::ranges::any_of(view_.legend().entries(), [&](const LegendEntry& entry) {
      return entry.text.startsWith(text);
    });
  };
  for (const char* text : {"forward", "backward: inputs", "backward: parameters", "update", "sync",
                           "use of a link", "critical path"}) {
    EXPECT_TRUE(named(text)) << text;
  }
  EXPECT_TRUE(view_.legend().isVisible());
  EXPECT_TRUE(named("transfer"));
  open("data");
  EXPECT_FALSE(named("transfer")) << "no layer's input is moved";
}

TEST_F(TimelineViewTest, ShowsTheSceneAndTheBaselineBeneath) {
  open();
  ASSERT_TRUE(canvas_.recording(0) && canvas_.recording(1));
  EXPECT_EQ(rows_of_side(1), canvas_.recording(1)->lanes.size());
  key(Qt::Key_B);
  settle();
  EXPECT_EQ(rows_of_side(1), 0);
  key(Qt::Key_B);
  settle();
  EXPECT_GT(rows_of_side(1), 0);
}

// Four steps are simulated, and one of the steady state is what is looked at.
TEST_F(TimelineViewTest, OpensAtTheSteadyStep) {
  open();
  const TimeRange step = *shown().step;
  const TimeWindow opened = canvas_.window();
  EXPECT_LT(opened.begin(), step.begin.value);
  EXPECT_GT(opened.end(), step.end.value);
  EXPECT_LT(opened.length(), 1.1 * step.length().value);
  key(Qt::Key_F);
  EXPECT_TRUE(canvas_.window().shows_all());
  key(Qt::Key_F);
  EXPECT_EQ(canvas_.window(), opened);
  workspace_.set_what_if("link.inter.bandwidth", "1e9");
  settle();
  EXPECT_NEAR(canvas_.window().length(), 1.06 * shown().step->length().value, 1e-12);
}

// What is said of a task is in the times that the axis above it has, which begin at 0.
TEST_F(TimelineViewTest, ABaselinesTaskHasTheTimesOfTheAxis) {
  open("model");
  const double shift = canvas_.shift(1);
  ASSERT_NE(shift, 0);
  EXPECT_EQ(canvas_.window().first(), 0);
  const Recording& before = *canvas_.recording(1);
  const SlicePlace place = before.places[before.lanes[0].slices().back().id];
  const Slice& task = before.at(place);
  canvas_.select(SliceAddress{1, place}, true);
  emit canvas_.picked();
  const auto [begin, end] = seconds_apart({task.begin + shift}, {task.end + shift});
  EXPECT_THAT(view_.status().text().toStdString(),
              HasSubstr(QStringLiteral("from %1 to %2").arg(begin, end).toStdString()));
  EXPECT_THAT(view_.status().text().toStdString(), ::testing::StartsWith("before: "));
  EXPECT_GE(view_.status().height(), 2 * view_.status().fontMetrics().height());
}

// Both steps begin at one place, however much longer the baseline took until then.
TEST_F(TimelineViewTest, TheBaselinesStepBeginsWhereTheScenesDoes) {
  open("model");
  const Recording& before = *canvas_.recording(1);
  ASSERT_NE(before.step->begin, shown().step->begin);
  const double scale =
      (canvas_.viewport()->width() - canvas_.names_width()) / canvas_.window().length();
  for (std::uint32_t i = 0; i < before.lanes.size(); ++i) {
    if (before.lanes[i].name().kind != LaneKind::device) continue;
    const auto first =
        static_cast<std::uint32_t>(before.lanes[i].beginning_at(before.step->begin.value));
    const SliceAddress slice{1, {i, first}};
    const double into_step = before.at(slice.place).begin - before.step->begin.value;
    const double x = canvas_.names_width() +
                     (shown().step->begin.value + into_step - canvas_.window().begin()) * scale;
    EXPECT_NEAR(canvas_.box_of(slice).left(), x, 1e-6);
    EXPECT_EQ(canvas_.slice_at(canvas_.box_of(slice).center().toPoint())->side, 1);
  }
}

TEST_F(TimelineViewTest, ABaselineThatIsTheSameIsNotShownTwice) {
  open("data");
  EXPECT_TRUE(canvas_.recording(0));
  EXPECT_FALSE(canvas_.recording(1));
}

TEST_F(TimelineViewTest, AClickSelectsTheTaskItsLayerAndItsDevice) {
  open();
  const SlicePlace place = longest_on_device();
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {}, middle_of(place));
  ASSERT_TRUE(canvas_.selected());
  EXPECT_EQ(canvas_.selected()->place, place);
  const PickedTask picked = *workspace_.selection().task();
  EXPECT_EQ(task_id(workspace_.scene()->prediction.plan, picked), shown().at(place).id);
  const Task& task = workspace_.scene()->prediction.plan[picked.task];
  EXPECT_EQ(workspace_.selection().layers(), std::vector{task.layer});
  EXPECT_EQ(workspace_.selection().device(), task.device);
  EXPECT_THAT(view_.status().text().toStdString(),
              HasSubstr(shown().labels[shown().at(place).label].text));
  key(Qt::Key_Escape);
  EXPECT_FALSE(workspace_.selection().task());
  EXPECT_TRUE(workspace_.selection().layers().empty());
}

// Both networks end in a layer called "loss", with a number of its own in each; only one begins
// with "features_0".
TEST_F(TimelineViewTest, AClickOnAnotherNetworksLaneSelectsTheNamesake) {
  open();
  Document alexnet = workspace_.document();
  alexnet.input.model = "alexnet";
  workspace_.set_baseline(alexnet);
  settle();
  const Graph& here = workspace_.scene()->input.graph;
  const Graph& there = workspace_.baseline()->input.graph;
  ASSERT_NE(here.find("loss"), there.find("loss"));
  const auto click = [&](const char* name) {
    const SliceAddress slice = close_to(1, there.find(name));
    QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {},
                      canvas_.box_of(slice).center().toPoint());
    EXPECT_EQ(canvas_.selected(), slice);
  };
  click("loss");
  EXPECT_EQ(workspace_.selection().layers(), std::vector{here.find("loss")});
  EXPECT_TRUE(workspace_.selection().device()) << "the cluster is the same";
  EXPECT_FALSE(workspace_.selection().task());
  click("features_0");
  EXPECT_TRUE(workspace_.selection().layers().empty());
}

// The baseline's third device is none of the scene's two.
TEST_F(TimelineViewTest, AnotherClustersDevicesAreNotSelected) {
  open();
  Document larger = workspace_.document();
  larger.input.cluster = "p100-1x4";
  workspace_.set_baseline(larger);
  settle();
  const auto& lanes = canvas_.recording(1)->lanes;
  for (std::uint32_t i = 0; i < lanes.size(); ++i) {
    emit canvas_.row_picked({1, i});
    if (lanes[i].slices().empty()) continue;
    canvas_.select(SliceAddress{1, {i, 0}});
    emit canvas_.picked();
  }
  EXPECT_FALSE(workspace_.selection().device());
  EXPECT_FALSE(workspace_.selection().link());
}

// A new scene is there, and its picture is still drawn in the background.
TEST_F(TimelineViewTest, AClickOnAPictureOfWhatWasIsIgnored) {
  open();
  const SlicePlace place = longest_on_device();
  int clicks = 0;
  QObject::connect(&workspace_, &Workspace::scene_changed, &view_, [&] {
    ++clicks;
    ASSERT_TRUE(shown().name.starts_with("lenet5"));
    canvas_.select(SliceAddress{0, place});
    emit canvas_.picked();
    emit canvas_.row_picked({0, place.lane});
  });
  Document other = workspace_.document();
  other.input.model = "alexnet";
  workspace_.edit("network", other);
  settle();
  EXPECT_EQ(clicks, 1);
  EXPECT_TRUE(workspace_.selection().layers().empty());
  EXPECT_FALSE(workspace_.selection().device());
  EXPECT_FALSE(workspace_.selection().task());
}

TEST_F(TimelineViewTest, FollowsTheSelectionOfOthers) {
  open();
  const PickedTask task{
      1, task_of(workspace_.scene()->prediction.plan, shown().at(longest_on_device()).id).task};
  workspace_.selection().select_task(task);
  ASSERT_TRUE(canvas_.selected());
  EXPECT_EQ(shown().at(canvas_.selected()->place).id,
            task_id(workspace_.scene()->prediction.plan, task));
  workspace_.selection().select_range(TimeRange{{0}, {shown().end / 2}});
  EXPECT_EQ(canvas_.range(), workspace_.selection().range());
}

TEST_F(TimelineViewTest, DraggingMeasures) {
  open();
  const QWidget* area = canvas_.viewport();
  const int y = area->height() - 20;
  QTest::mousePress(canvas_.viewport(), Qt::LeftButton, {}, {400, y});
  QTest::mouseMove(canvas_.viewport(), {600, y});
  QTest::mouseMove(canvas_.viewport(), {700, y});
  QTest::mouseRelease(canvas_.viewport(), Qt::LeftButton, {}, {700, y});
  const auto range = workspace_.selection().range();
  ASSERT_TRUE(range);
  EXPECT_NEAR(range->length().value,
              canvas_.window().length() * 300 / (area->width() - canvas_.names_width()), 1e-12);
  settle();
  EXPECT_TRUE(view_.range_panel().isVisible());
  EXPECT_THAT(view_.range_panel().heading().text().toStdString(), HasSubstr("devices compute"));
  key(Qt::Key_F);
  EXPECT_NEAR(canvas_.window().length(), range->length().value, 1e-9);
  key(Qt::Key_F);
  EXPECT_NEAR(canvas_.window().length(), 1.06 * shown().step->length().value, 1e-12);
  key(Qt::Key_F);
  EXPECT_TRUE(canvas_.window().shows_all());
  key(Qt::Key_Escape);
  EXPECT_FALSE(workspace_.selection().range());
  EXPECT_FALSE(view_.range_panel().isVisible());
}

TEST_F(TimelineViewTest, WhatIsMeasuredIsAddedUp) {
  open();
  workspace_.selection().select_range(*shown().step);
  settle();
  const RangePanel& panel = view_.range_panel();
  ASSERT_TRUE(panel.isVisible());
  QCoreApplication::processEvents();
  EXPECT_GT(panel.table().viewport()->height(), 3 * panel.fontMetrics().height());
  EXPECT_GT(canvas_.height(), panel.height());
  const auto sums = [&](SumBy by) { return sum_range(shown(), *shown().step, by).rows; };
  EXPECT_THAT(panel.sums().rows(), UnorderedElementsAreArray(sums(SumBy::layer)));
  panel.table().selectRow(0);
  EXPECT_EQ(workspace_.selection().layers(), std::vector{panel.sums().rows()[0].layer});
  panel.by().setCurrentIndex(2);
  settle();
  EXPECT_THAT(panel.sums().rows(), UnorderedElementsAreArray(sums(SumBy::device)));
}

TEST_F(TimelineViewTest, ARightClickOffersWhatCanBeDone) {
  open();
  const SliceAddress task{0, longest_on_device()};
  const Slice slice = shown().at(task.place);
  const QString name = QString::fromStdString(shown().labels[slice.label].text);
  const auto choose = [&](const QString& text) {
    QTest::mouseClick(canvas_.viewport(), Qt::RightButton, {},
                      canvas_.box_of(task).center().toPoint());
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QAction* action = testing::action_of(menu, text);
    ASSERT_NE(action, nullptr) << text.toStdString();
    EXPECT_EQ(canvas_.selected(), task);
    action->trigger();
    menu->close();
  };
  choose("Zoom to it");
  EXPECT_NEAR(canvas_.window().length(), 3 * slice.length(), 1e-12);
  choose("Measure its time");
  EXPECT_NEAR(workspace_.selection().range()->length().value, slice.length(), 1e-15);
  choose("Search for");
  EXPECT_EQ(view_.search_field().text(), name);
  choose("Copy");
  EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith(name));
  canvas_.select(std::nullopt);
  QTest::mouseClick(canvas_.viewport(), Qt::RightButton, {},
                    {10, canvas_.viewport()->height() - 5});
  EXPECT_EQ(QApplication::activePopupWidget(), nullptr);
  QTest::keyClick(&canvas_, Qt::Key_Menu);
  EXPECT_EQ(QApplication::activePopupWidget(), nullptr);
}

TEST_F(TimelineViewTest, MMeasuresTheSelectedTask) {
  open();
  key(Qt::Key_M);
  EXPECT_FALSE(workspace_.selection().range());
  canvas_.select(SliceAddress{0, longest_on_device()});
  key(Qt::Key_M);
  EXPECT_NEAR(workspace_.selection().range()->length().value,
              shown().at(canvas_.selected()->place).length(), 1e-15);
}

TEST_F(TimelineViewTest, TheEndsOfWhatIsMeasuredCanBeDragged) {
  open();
  const int y = canvas_.viewport()->height() - 20;
  testing::drag(*canvas_.viewport(), {400, y}, {600, y});
  const TimeRange first = *workspace_.selection().range();
  testing::drag(*canvas_.viewport(), {602, y}, {700, y});
  EXPECT_EQ(workspace_.selection().range()->begin, first.begin);
  EXPECT_NEAR(workspace_.selection().range()->length() / first.length(), 1.5, 1e-9);
  testing::drag(*canvas_.viewport(), {399, y}, {800, y});
  EXPECT_NEAR(workspace_.selection().range()->length() / first.length(), 0.5, 1e-9);
  testing::drag(*canvas_.viewport(), {750, y}, {850, y});
  EXPECT_NEAR(workspace_.selection().range()->length() / first.length(), 0.5, 1e-9) << "anew";
  EXPECT_GT(workspace_.selection().range()->begin, first.end);
}

// As Perfetto and Tracy have it; what is let go after a drag offers no menu.
TEST_F(TimelineViewTest, ShiftAndTheOtherButtonsPan) {
  open();
  view_.resize(1200, 300);
  QScrollBar& bar = *canvas_.verticalScrollBar();
  ASSERT_GT(bar.maximum(), 40);
  key(Qt::Key_W);
  const double pixel =
      canvas_.window().length() / (canvas_.viewport()->width() - canvas_.names_width());
  const auto pans = [&](Qt::MouseButton button, Qt::KeyboardModifiers modifiers) {
    bar.setValue(0);
    const TimeWindow before = canvas_.window();
    testing::drag(*canvas_.viewport(), {600, 150}, {570, 110}, modifiers, button);
    EXPECT_NEAR(canvas_.window().begin() - before.begin(), 30 * pixel, 1e-9 * pixel);
    EXPECT_EQ(bar.value(), 40);
    EXPECT_EQ(QApplication::activePopupWidget(), nullptr);
    canvas_.set_window(before);
  };
  pans(Qt::LeftButton, Qt::ShiftModifier);
  pans(Qt::MiddleButton, {});
  pans(Qt::RightButton, {});
  EXPECT_FALSE(workspace_.selection().range());
}

TEST_F(TimelineViewTest, KeysAndWheelMoveTheWindow) {
  open();
  key(Qt::Key_F);
  const TimeWindow all = canvas_.window();
  QTest::mouseMove(canvas_.viewport(), {700, 300});
  key(Qt::Key_W);
  EXPECT_NEAR(canvas_.window().length(), 0.8 * all.length(), 1e-12);
  for (int i = 0; i < 5; ++i) key(Qt::Key_W);
  const TimeWindow closer = canvas_.window();
  key(Qt::Key_D);
  EXPECT_GT(canvas_.window().begin(), closer.begin());
  key(Qt::Key_A);
  EXPECT_NEAR(canvas_.window().begin(), closer.begin(), 1e-12);
  for (int i = 0; i < 8; ++i) key(Qt::Key_S);
  EXPECT_TRUE(canvas_.window().shows_all());
  view_.search_field().setFocus();
  QWheelEvent wheel({700, 300}, canvas_.viewport()->mapToGlobal(QPointF(700, 300)), {}, {0, 120},
                    {}, Qt::ControlModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(canvas_.viewport(), &wheel);
  EXPECT_NEAR(canvas_.window().length(), 0.8 * all.length(), 1e-12);
  EXPECT_EQ(view_.focusWidget(), &canvas_) << "keys are for what the wheel moved";
  QWheelEvent on_ruler({700, 5}, canvas_.viewport()->mapToGlobal(QPointF(700, 5)), {}, {0, 120}, {},
                       {}, Qt::NoScrollPhase, false);
  QApplication::sendEvent(canvas_.viewport(), &on_ruler);
  EXPECT_NEAR(canvas_.window().length(), 0.64 * all.length(), 1e-12);
}

TEST_F(TimelineViewTest, StepsFromSliceToSlice) {
  open();
  canvas_.select(SliceAddress{0, longest_on_device()});
  const SlicePlace first = canvas_.selected()->place;
  key(Qt::Key_Comma);
  EXPECT_EQ(canvas_.selected()->place.index, first.index - 1);
  key(Qt::Key_Period);
  EXPECT_EQ(canvas_.selected()->place, first);
  key(Qt::Key_Down);
  EXPECT_NE(*canvas_.selected(), (SliceAddress{0, first}));
}

TEST_F(TimelineViewTest, SearchGoesThroughWhatItFinds) {
  open();
  key(Qt::Key_Slash);
  QTest::keyClicks(&view_.search_field(), "conv1 forward");
  QTest::keyClick(&view_.search_field(), Qt::Key_Return);
  ASSERT_TRUE(canvas_.selected());
  const Slice first = shown().at(canvas_.selected()->place);
  EXPECT_EQ(shown().labels[first.label].text, "conv1 forward");
  EXPECT_GE(first.begin, shown().step->begin.value) << "where it is looked at";
  QTest::keyClick(&view_.search_field(), Qt::Key_Return);
  EXPECT_GE(shown().at(canvas_.selected()->place).begin, first.begin);
  EXPECT_NE(shown().at(canvas_.selected()->place).id, first.id);
}

// As the critical path's row does from the start.
TEST_F(TimelineViewTest, APinnedLaneStandsAboveTheOthers) {
  view_.resize(1200, 260);
  open();
  const SlicePlace place = longest_on_device();
  const auto top = [&](SlicePlace of) { return canvas_.box_of({0, of}).top(); };
  canvas_.select(SliceAddress{0, place});
  const double unpinned = top(place);
  EXPECT_GT(unpinned, top({0, 0}));
  key(Qt::Key_P);
  const double pinned = top(place);
  QScrollBar& bar = *canvas_.verticalScrollBar();
  ASSERT_GT(bar.maximum(), 0);
  bar.setValue(bar.maximum());
  EXPECT_EQ(top(place), pinned) << "it does not scroll";
  bar.setValue(0);
  key(Qt::Key_P);
  EXPECT_EQ(top(place), unpinned);
}

TEST_F(TimelineViewTest, FewDevicesAreNotFolded) {
  open();
  EXPECT_FALSE(canvas_.folded());
  canvas_.show_links_beside(true);
  EXPECT_EQ(canvas_.rows().size(), shown().lanes.size() + canvas_.recording(1)->lanes.size());
}

TEST_F(TimelineViewTest, AWrongEditKeepsTheLastPicture) {
  open();
  workspace_.set_what_if("link.inter.bandwidth", "never");
  settle();
  EXPECT_THAT(workspace_.error().toStdString(), HasSubstr("never"));
  EXPECT_TRUE(canvas_.recording(0));
}

TEST_F(TimelineViewTest, ExportsWhatIsOnTheScreen) {
  open();
  QTemporaryDir folder;
  for (const QString& format : view_.formats()) {
    const QString file = folder.filePath("timeline." + format);
    view_.export_to(file);
    EXPECT_GT(QFile(file).size(), 1000) << format.toStdString();
  }
  EXPECT_THAT(view_.command().toStdString(), HasSubstr("strata predict lenet5 --cluster p100-1x2"));
}

}  // namespace
}  // namespace strata::gui
