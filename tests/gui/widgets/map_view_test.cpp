// The phase map in its view: fields, cells by mouse and by keys, and what opens.

#include "gui/widgets/phase_map/map_view.h"

#include <QTest>

#include <gmock/gmock.h>

#include "tests/gui/models/cases.h"
#include "tests/gui/widgets/window_test.h"

namespace strata::gui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class MapViewTest : public WindowTest {
 protected:
  void SetUp() override {
    window_->open_document(document_of("lenet5", "p100-2x2"));
    settle();
    view_ = dynamic_cast<MapView*>(window_->view(QStringLiteral("phase_map")));
    ASSERT_NE(view_, nullptr);
    window_->bring_to_front(view_);
    settle();
  }
  QLineEdit& values(const char* side) {
    for (QLineEdit* field : view_->findChildren<QLineEdit*>()) {
      if (field->accessibleName() == QLatin1String("values ") + QLatin1String(side)) return *field;
    }
    throw std::runtime_error("no such field");
  }
  void draw() {
    values("across").setText(QStringLiteral("0.125x, 1x, 8x"));
    values("up").setText(QStringLiteral("8, 32"));
    QTest::keyClick(&view_->canvas(), Qt::Key_S);
    ASSERT_TRUE(testing::wait_until([&] { return !view_->run().running(); }));
  }
  void click(MapPlace place, bool twice = false) {
    const QPoint at = view_->canvas().cell(place).center().toPoint();
    QTest::mouseClick(&view_->canvas(), Qt::LeftButton, {}, at);
    if (twice) QTest::mouseDClick(&view_->canvas(), Qt::LeftButton, {}, at);
  }

  MapView* view_ = nullptr;
};

TEST_F(MapViewTest, OffersTheNumbersOfTheCase) {
  const PhaseMapRequest request = view_->request();
  EXPECT_EQ(request.x.key, "link.inter.bandwidth");
  EXPECT_EQ(request.y.key, "batch_per_device");
  EXPECT_EQ(request.input, workspace_->document().input);
  window_->open_document(document_of("lenet5", "p100-1x2"));
  settle();
  EXPECT_EQ(view_->request().x.key, "link.intra.bandwidth")
      << "one host has no links between hosts";
}

TEST_F(MapViewTest, DrawsCellsInTheColourOfTheirWinners) {
  draw();
  const PhaseMap& map = view_->run().map();
  ASSERT_EQ(view_->run().known(), 6U);
  const QImage picture = view_->canvas().grab().toImage();
  const double ratio = picture.devicePixelRatio();
  for (const MapPlace place : {MapPlace{0, 0}, MapPlace{2, 1}}) {
    const QPointF corner = view_->canvas().cell(place).topLeft() + QPointF(9, 4);
    const QColor seen = picture.pixelColor((corner * ratio).toPoint());
    const std::string winner = map.strategies[map.at(place.column, place.row).winner.value()];
    const QColor full = strategy_colour(winner, theme_of(view_->palette()));
    EXPECT_NEAR(seen.hueF(), full.hueF(), 0.03F) << winner;
  }
}

TEST_F(MapViewTest, ADoubleClickOpensTheCellAsOneStepOfUndo) {
  draw();
  const Document before = workspace_->document();
  const int steps = workspace_->undo_stack().count();
  click({0, 1}, true);
  settle();
  const Document& after = workspace_->document();
  EXPECT_EQ(after.what_if("link.inter.bandwidth"), "0.125x");
  EXPECT_EQ(after.input.training.batch_per_device, 32);
  const PhaseMap& map = view_->run().map();
  EXPECT_EQ(after.strategy.source, map.strategies[map.at(0, 1).winner.value()]);
  EXPECT_NEAR(workspace_->scene()->prediction.step_seconds().value,
              map.at(0, 1).scores[map.at(0, 1).winner.value()].step.value, 1e-9)
      << "the case that opens is the cell's";
  EXPECT_THAT(view_->notice().toStdString(), Not(StartsWith("This map")));
  EXPECT_EQ(workspace_->undo_stack().count(), steps + 1);
  workspace_->undo_stack().undo();
  EXPECT_EQ(workspace_->document(), before);
}

TEST_F(MapViewTest, ArrowsGoFromCellToCellAndEnterOpens) {
  draw();
  MapCanvas& canvas = view_->canvas();
  EXPECT_EQ(canvas.current(), std::nullopt);
  QTest::keyClick(&canvas, Qt::Key_Right);
  EXPECT_EQ(canvas.current(), (MapPlace{1, 1})) << "the case on the desk: 1x, 32";
  QTest::keyClick(&canvas, Qt::Key_Right);
  QTest::keyClick(&canvas, Qt::Key_Right);
  QTest::keyClick(&canvas, Qt::Key_Down);
  EXPECT_EQ(canvas.current(), (MapPlace{2, 0}));
  EXPECT_TRUE(view_->findChild<QLabel*>("cell")->text().contains(QStringLiteral("  ·  ")));
  QTest::keyClick(&canvas, Qt::Key_Return);
  settle();
  EXPECT_EQ(workspace_->document().what_if("link.inter.bandwidth"), "8x");
  EXPECT_EQ(workspace_->document().input.training.batch_per_device, 8);
}

TEST_F(MapViewTest, SaysThatItIsOfAnotherCase) {
  draw();
  workspace_->edit(QStringLiteral("network"), document_of("alexnet", "p100-2x2"));
  settle();
  EXPECT_THAT(view_->notice().toStdString(), HasSubstr("This map is of lenet5 on p100-2x2"));
  draw();
  EXPECT_EQ(view_->notice(), QString());
}

TEST_F(MapViewTest, AWrongValueIsSaidInPlace) {
  values("across").setText(QStringLiteral("1x, fast"));
  QTest::keyClick(&view_->canvas(), Qt::Key_S);
  ASSERT_TRUE(testing::wait_until([&] { return !view_->run().running(); }));
  EXPECT_THAT(view_->notice().toStdString(), HasSubstr("'fast' is not a bandwidth"));
}

// The cell was chosen while the map was evaluated.
TEST_F(MapViewTest, AMapThatFailedHasNoCellToOpen) {
  values("across").setText(QStringLiteral("1x, fast"));
  QTest::keyClick(&view_->canvas(), Qt::Key_S);
  view_->canvas().set_current(MapPlace{1, 0});
  ASSERT_TRUE(testing::wait_until([&] { return !view_->run().running(); }));
  EXPECT_EQ(view_->canvas().current(), std::nullopt);
  const Document before = workspace_->document();
  view_->canvas().set_current(MapPlace{1, 0});
  QTest::keyClick(&view_->canvas(), Qt::Key_Return);
  settle();
  EXPECT_EQ(workspace_->document(), before);
  EXPECT_THAT(view_->notice().toStdString(), HasSubstr("'fast' is not a bandwidth"));
}

TEST_F(MapViewTest, HasACommandAndATable) {
  EXPECT_FALSE(view_->has_csv());
  EXPECT_THAT(view_->command().toStdString(),
              StartsWith("strata map lenet5 --cluster p100-2x2 --x link.inter.bandwidth=0.125x,"));
  draw();
  EXPECT_THAT(view_->command().toStdString(),
              HasSubstr("--x link.inter.bandwidth=0.125x,1x,8x --y batch_per_device=8,32"));
  EXPECT_EQ(view_->csv().count(QLatin1Char('\n')), 1 + 6 * 4);
}

}  // namespace
}  // namespace strata::gui
