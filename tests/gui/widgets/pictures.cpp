// gui_pictures FOLDER: draws the window and each of its views on VGG-16 over 16 P100s, in light and
// in dark, as PNG: the pictures of docs/gui.md, and what somebody looks at after a change.

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <cstdio>

#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace {

using namespace strata;
using namespace strata::gui;

// Until no job runs and what came of the last one is painted.
void settle(Workspace& workspace) {
  QElapsedTimer quiet;
  quiet.start();
  strata::testing::wait_until([&] {
    if (!workspace.jobs().idle()) quiet.restart();
    return quiet.elapsed() > 300;
  });
}

void draw_all(const QDir& folder, Appearance appearance, const QString& suffix) {
  strata::testing::NoDevices runner;
  Workspace workspace(runner);
  QTemporaryDir settings;
  MainWindow window(workspace, {{}, settings.filePath(QStringLiteral("settings.ini"))});
  window.set_appearance(appearance);
  window.show();
  settle(workspace);
  window.grab().save(folder.filePath(QStringLiteral("welcome%1.png").arg(suffix)));
  window.open_document(paper_example());
  settle(workspace);
  workspace.set_strategy({"optimal", {}});
  settle(workspace);
  window.grab().save(folder.filePath(QStringLiteral("window%1.png").arg(suffix)));
  const Graph& graph = workspace.scene()->input.graph;
  workspace.selection().select_layers({LayerId(graph.size() - 4)});
  for (View* view : window.views()) {
    window.bring_to_front(view);
    settle(workspace);
    view->export_to(folder.filePath(view->id() + suffix + QStringLiteral(".png")));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !QDir(QString::fromLocal8Bit(argv[1])).exists()) {
    std::fputs("usage: gui_pictures FOLDER\n", stderr);
    return 2;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  try {
    draw_all(QDir(QString::fromLocal8Bit(argv[1])), Appearance::light, {});
    draw_all(QDir(QString::fromLocal8Bit(argv[1])), Appearance::dark, QStringLiteral("-dark"));
  } catch (const Error& error) {
    std::fprintf(stderr, "gui_pictures: error: %s\n", error.message().c_str());
    return error.exit_code();
  }
  return 0;
}
