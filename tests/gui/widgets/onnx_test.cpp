// ONNX networks of tests/fuzz/corpus/onnx, dropped on the window: one whose every op is read, and
// one with a Resize and others.

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QTemporaryDir>
#include <QUrl>

#include <gtest/gtest.h>

#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"
#include "sim/case/predict.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"
#include "tests/paths.h"

namespace strata::gui {
namespace {

using testing::wait_until;

class OnnxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      load_model(file("usual"), 1);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.message();
    }
    Document lenet;
    lenet.input.model = "lenet5";
    lenet.input.cluster = "p100-1x2";
    window_.show();
    window_.open_document(lenet);
    settle();
  }

  static std::string file(const std::string& name) {
    return source_path("tests/fuzz/corpus/onnx/") + name + ".onnx";
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  void drop(const std::string& file) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QString::fromStdString(file))});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window_, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QCoreApplication::sendEvent(&window_, &drop);
    settle();
    EXPECT_EQ(window_.shown_error(), "");
    EXPECT_EQ(workspace_.error(), "");
  }

  QTemporaryDir folder_;
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  MainWindow window_{workspace_, {{}, folder_.filePath(QStringLiteral("settings.ini"))}};
};

TEST_F(OnnxTest, TakesThePlaceOfTheNetworkOnTheDesk) {
  drop(file("usual"));
  const CaseRequest& input = workspace_.document().input;
  EXPECT_EQ(input.model, file("usual"));
  EXPECT_EQ(input.cluster, "p100-1x2");
  EXPECT_EQ(input.unsupported, Unsupported::refuse);
  EXPECT_EQ(workspace_.scene()->input.graph.name(), "usual");
}

TEST_F(OnnxTest, HasOpaqueOpsWhereItsOwnAreNotRead) {
  drop(file("opaque"));
  EXPECT_EQ(workspace_.document().input.unsupported, Unsupported::opaque);
  EXPECT_EQ(title(workspace_.scene()->input.graph[LayerId(2)].op), "opaque (Resize)");
  drop(file("usual"));
  EXPECT_EQ(workspace_.document().input.unsupported, Unsupported::refuse);
}

}  // namespace
}  // namespace strata::gui
