// Broken files, one after another in one window: an error each, in place, and the window goes on.

#include "tests/gui/models/broken_files.h"

#include <QFile>
#include <QSettings>
#include <QTemporaryDir>

#include <gmock/gmock.h>

#include "gui/widgets/window/main_window.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using testing::wait_until;

class BrokenFilesTest : public ::testing::Test {
 protected:
  BrokenFilesTest() { window_.show(); }

  QString written(const testing::BrokenFile& broken) const {
    QFile file(folder_.filePath(QLatin1String(broken.name)));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(broken.content.data(), static_cast<qint64>(broken.content.size()));
    return file.fileName();
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  // Above all views, or above the one that shows such files.
  std::string error() const {
    std::string text = window_.shown_error().toStdString();
    for (const View* view : window_.views()) text += view->notice().toStdString();
    return text;
  }

  QTemporaryDir folder_;
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  MainWindow window_{workspace_, {{}, folder_.filePath(QStringLiteral("settings.ini"))}};
};

TEST_F(BrokenFilesTest, OfThirtyEachSaysWhatIsWrong) {
  const std::vector<testing::BrokenFile> files = testing::broken_files();
  ASSERT_GE(files.size(), 30);
  Document lenet;
  lenet.input.model = "lenet5";
  lenet.input.cluster = "p100-1x2";
  for (const testing::BrokenFile& broken : files) {
    SCOPED_TRACE(broken.name);
    window_.open_document(lenet);
    settle();
    window_.open_file(written(broken));
    settle();
    EXPECT_THAT(error(), ::testing::HasSubstr(broken.name));
  }
  const QSettings settings(folder_.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  EXPECT_THAT(settings.value(QStringLiteral("recent")).toStringList(), ::testing::IsEmpty());
  window_.open_document(lenet);
  settle();
  EXPECT_EQ(window_.shown_error(), "");
  EXPECT_TRUE(workspace_.scene()->document == lenet);
}

}  // namespace
}  // namespace strata::gui
