// A slider that is dragged: from each of 200 positions of the bandwidth between hosts to the whole
// window repainted, with numbers, network and timeline, for VGG-16 on 16 devices. Prints the median
// and the 95th percentile, and exits 1 where that is above the limit (50 ms, or the first
// argument).
//
//   QT_QPA_PLATFORM=offscreen gui_drag [MILLISECONDS]

#include <QApplication>
#include <QElapsedTimer>
#include <QSlider>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "gui/widgets/what_if/what_if_view.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/quantile.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace {

using namespace strata;       // NOLINT(google-build-using-namespace)
using namespace strata::gui;  // NOLINT(google-build-using-namespace)
using testing::wait_until;

// From the slider's move until every view has painted the very document that it made: what they
// prepare in the background counts, too.
double milliseconds_of(Workspace& workspace, QWidget& window, QSlider& slider, int position) {
  QElapsedTimer time;
  time.start();
  slider.setSliderPosition(position);
  wait_until([&] {
    return workspace.scene()->document == workspace.document() && workspace.jobs().idle();
  });
  window.repaint();
  QCoreApplication::processEvents();
  return static_cast<double>(time.nsecsElapsed()) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  apply(Appearance::light);
  strata::testing::NoDevices none;
  Workspace workspace(none);
  const QTemporaryDir settings;
  MainWindow window(workspace, {{}, settings.filePath(QStringLiteral("settings.ini"))});
  window.show();
  window.open_document(usual_document());
  wait_until([&] { return workspace.scene() && workspace.baseline() && workspace.jobs().idle(); });
  auto* const what_if = dynamic_cast<WhatIfView*>(window.view(QStringLiteral("what_if")));
  QSlider& slider = what_if->row("link.inter.bandwidth")->slider();
  slider.setSliderDown(true);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    times.push_back(milliseconds_of(workspace, window, slider, 20 + 2 * i));
  }
  slider.setSliderDown(false);
  std::sort(times.begin(), times.end());
  const double limit = argc > 1 ? std::atof(argv[1]) : 50;
  const double late = quantile(times, 0.95);
  fmt::print(
      "vgg16 on p100-4x4, the window as it opens, a slider at 200 positions, from set to "
      "repainted: median {:.1f} ms, 95th percentile {:.1f} ms, most {:.1f} ms (limit {:.0f} ms)\n",
      quantile(times, 0.5), late, times.back(), limit);
  return late <= limit ? 0 : 1;
}
