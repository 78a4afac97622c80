// Traces of others in the timeline: alone, or beside the prediction.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <gmock/gmock.h>

#include "gui/models/timeline/plan_recording.h"
#include "sim/exporters/trace/trace.h"
#include "tests/gui/widgets/timeline_view_test.h"
#include "tests/sim/importers/kineto_trace.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;

class TimelineTracesTest : public TimelineViewTest {
 protected:
  static testing::KinetoTrace kernel_of_conv1() {
    testing::KinetoTrace kineto;
    kineto.range("user_annotation", "conv1", 10, 20);
    kineto.kernel("implicit_gemm", 12, 100, 500);
    return kineto;
  }
  QString written(const testing::KinetoTrace& kineto) {
    QFile file(folder_.filePath("kineto.json"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(kineto.text()));
    return file.fileName();
  }

  QTemporaryDir folder_;
};

TEST_F(TimelineTracesTest, ATraceThatIsBeingReadCanBeStopped) {
  const QString file = written(kernel_of_conv1());
  ASSERT_TRUE(view_.open(file));
  workspace_.stop();
  settle();
  EXPECT_FALSE(view_.shows_trace());
  ASSERT_TRUE(view_.open(file));
  settle();
  EXPECT_TRUE(view_.shows_trace());
}

// The trace of PyTorch takes the place of the baseline, and its kernels are layers' and tasks'.
TEST_F(TimelineTracesTest, OpensPytorchsTraceBesideThePrediction) {
  const QString file = written(kernel_of_conv1());
  open();
  ASSERT_TRUE(view_.open(file));
  settle();
  ASSERT_NE(canvas_.recording(1), nullptr);
  EXPECT_FALSE(view_.shows_trace()) << "the prediction is there, too";
  EXPECT_EQ(canvas_.recording(1)->name, "kineto.json");
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("kineto.json: 100.0 % of the kernels' time"));
  const Recording& beside = *canvas_.recording(1);
  const SlicePlace place = beside.place(0);
  ASSERT_TRUE(place.valid());
  const LayerId conv1 = workspace_.scene()->input.graph.find("conv1");
  EXPECT_EQ(beside.labels[beside.at(place).label].layer, conv1);
  const SliceAddress kernel = close_to(1, conv1);
  QTest::mouseClick(canvas_.viewport(), Qt::LeftButton, {},
                    canvas_.box_of(kernel).center().toPoint());
  ASSERT_EQ(workspace_.selection().layers(), std::vector<LayerId>{conv1});
  ASSERT_TRUE(workspace_.selection().task());
  EXPECT_EQ(workspace_.scene()->prediction.plan[workspace_.selection().task()->task].layer, conv1);
  // It follows the prediction, and goes when it is closed.
  workspace_.set_strategy({"data"});
  settle();
  ASSERT_NE(canvas_.recording(1), nullptr);
  EXPECT_EQ(canvas_.recording(1)->name, "kineto.json");
  view_.close_trace();
  settle();
  EXPECT_TRUE(!canvas_.recording(1) || canvas_.recording(1)->name != "kineto.json");
}

TEST_F(TimelineTracesTest, PytorchsTraceIsClosedWithItsNetwork) {
  const QString file = written(kernel_of_conv1());
  open();
  ASSERT_TRUE(view_.open(file));
  settle();
  workspace_.edit("another network", workspace_.document().with_model("alexnet"));
  settle();
  EXPECT_TRUE(!canvas_.recording(1) || canvas_.recording(1)->name != "kineto.json");
  EXPECT_EQ(view_.notice(), "kineto.json was closed: it stood beside lenet5");
}

// As on a command line: strata-gui strategy.json trace.json.
TEST_F(TimelineTracesTest, PytorchsTraceWaitsForThePrediction) {
  const QString file = written(kernel_of_conv1());
  Document document;
  document.input.model = "lenet5";
  document.input.cluster = "p100-1x2";
  workspace_.open(document);
  ASSERT_EQ(workspace_.scene(), nullptr);
  ASSERT_TRUE(view_.open(file));
  settle();
  ASSERT_NE(canvas_.recording(1), nullptr);
  EXPECT_EQ(canvas_.recording(1)->name, "kineto.json");
}

TEST_F(TimelineTracesTest, PytorchsTraceStandsAloneWhereNothingIsPredicted) {
  testing::KinetoTrace kineto;
  kineto.kernel("implicit_gemm", 12, 100, 500);
  const QString file = written(kineto);
  ASSERT_TRUE(view_.open(file));
  settle();
  EXPECT_TRUE(view_.shows_trace());
}

TEST_F(TimelineTracesTest, OpensATraceAndGoesBack) {
  open();
  const Scene& scene = *workspace_.scene();
  const std::string json = print_trace(scene.input.graph, scene.input.cluster,
                                       scene.prediction.plan, scene.prediction.timeline);
  QTemporaryDir folder;
  const auto write = [&](const QString& name, const QByteArray& text) {
    QFile file(folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    return file.fileName();
  };
  EXPECT_TRUE(view_.open(write("t.json", QByteArray::fromStdString(json))));
  settle();
  EXPECT_TRUE(view_.shows_trace());
  EXPECT_EQ(shown().name, "t.json");
  EXPECT_TRUE(view_.command().isEmpty());
  EXPECT_TRUE(view_.open(write("bad.json", "{\"traceEvents\":[\n{\"ph\":\"X\"}]}")));
  settle();
  EXPECT_THAT(view_.notice().toStdString(),
              HasSubstr("bad.json:2: an event of phase X needs 'ts'"));
  EXPECT_TRUE(view_.shows_trace());
  EXPECT_FALSE(view_.open(write("cluster.toml", "[grid]\nhosts = 1\n")));
  EXPECT_FALSE(view_.open(write("strategy.json", "{\"strategy\": \"a\", \"layers\": []}")));
  EXPECT_FALSE(view_.open(folder.filePath("nowhere.json")));
  EXPECT_THAT(view_.notice().toStdString(), HasSubstr("nowhere.json"));
  EXPECT_TRUE(view_.open(write("of-another-name.trace", QByteArray::fromStdString(json))));
  settle();
  EXPECT_EQ(shown().name, "of-another-name.trace");
  view_.close_trace();
  settle();
  EXPECT_EQ(canvas_.recording(0)->name, "lenet5 on p100-1x2, owt");
}

TEST_F(TimelineTracesTest, KernelsOfNoLayerAreGreyAndSaidToBe) {
  testing::KinetoTrace kineto = kernel_of_conv1();
  kineto.kernel("fill", 40, 700, 100);
  const QString file = written(kineto);
  open();
  ASSERT_TRUE(view_.open(file));
  settle();
  ASSERT_NE(canvas_.recording(1), nullptr);
  const Recording& beside = *canvas_.recording(1);
  const SlicePlace place = beside.place(1);
  ASSERT_TRUE(place.valid());
  EXPECT_EQ(beside.styles[beside.at(place).style].shade, Shade::unknown);
  QStringList legend;
  for (const LegendEntry& entry : timeline_legend(canvas_)) legend << entry.text;
  EXPECT_TRUE(legend.contains("of no layer"));
}

// All of a step that takes longer than predicted is seen.
TEST_F(TimelineTracesTest, ALongTraceIsSeenAsAWhole) {
  const QString file = written(kernel_of_conv1());
  open();
  ASSERT_TRUE(view_.open(file));
  settle();
  ASSERT_NE(canvas_.recording(1), nullptr);
  const TimeRange step = *canvas_.recording(1)->step;
  EXPECT_GE(canvas_.window().end(), step.end.value + canvas_.shift(1));
}

}  // namespace
}  // namespace strata::gui
