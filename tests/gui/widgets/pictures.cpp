// gui_pictures FOLDER [pipeline]: draws the window and each of its views on VGG-16 over 16 P100s,
// and the timeline of a pipeline, or that alone, in light and in dark, as PNG: the pictures of
// docs/gui.md, and what somebody looks at after a change. The run that is compared with its
// prediction is a real one, of LeNet-5 on two cores of this machine.

#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "exec/machine/local_machine.h"
#include "gui/widgets/measured/error_view.h"
#include "gui/widgets/network/network_view.h"
#include "gui/widgets/phase_map/map_view.h"
#include "gui/widgets/sweep/sweep_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/window/main_window.h"
#include "sim/base/error.h"
#include "tests/gui/models/event_loop.h"

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

constexpr const char* kSweep = R"(
about = "One step of three networks on one to sixteen P100s."
[[sweep]]
model = ["alexnet", "vgg16", "resnet50"]
cluster = ["p100-1x1", "p100-1x2", "p100-1x4", "p100-2x4", "p100-4x4"]
strategy = ["data", "model", "owt", "optimal"]

[[report]]
title = "Throughput of VGG-16"
text = "Samples per second by the number of devices."
kind = "lines"
x = "devices"
y = "throughput"
series = "strategy"
x_label = "devices"
y_label = "samples/s"
log_x = true
log_y = true
sql = "SELECT devices, throughput, strategy FROM cases WHERE model = 'vgg16' ORDER BY ordinal"

[[report]]
title = "What is said of it"
[[report.claim]]
text = "On 16 devices the best strategy for VGG-16 is 4 % faster than data parallelism."
said = 1.04
unit = "x"
tolerance = 0.01
sql = """
SELECT max(step_seconds) FILTER (WHERE strategy = 'data') / min(step_seconds) FROM cases
WHERE model = 'vgg16' AND devices = 16"""
)";

void sweep(SweepView& view, Workspace& workspace, const QString& file) {
  QFile scenario(file);
  scenario.open(QIODevice::WriteOnly);
  scenario.write(kSweep);
  scenario.close();
  view.open(file);
  settle(workspace);
  view.sweep().start();
  settle(workspace);
  const std::size_t cases = view.sweep().count().cases;
  strata::testing::wait_until([&] { return view.results().all()->rows() == cases; });
  settle(workspace);
}

void run(ErrorView& view, Workspace& workspace) {
  strata::gui::Document lenet;
  lenet.input.model = "lenet5";
  lenet.input.cluster = "p100-1x2";
  workspace.open(lenet);
  settle(workspace);
  view.devices_field().setText(QStringLiteral("cpu:2"));
  view.run_or_stop();
  settle(workspace);
}

// What pops up below buttons of the header: further settings, those of a search, and trust.
void draw_panels(const MainWindow& window, const QDir& folder, const QString& suffix) {
  const std::array<std::pair<const char*, const char*>, 3> panels = {
      {{"more", "more_fields"}, {"search", "search_fields"}, {"trust", "trust_panel"}}};
  for (const auto& [button, name] : panels) {
    window.findChild<QAbstractButton*>(QLatin1String(button))->click();
    auto* const panel = window.findChild<QWidget*>(QLatin1String(name));
    panel->grab().save(folder.filePath(QLatin1String(button) + suffix + QStringLiteral(".png")));
    panel->close();
  }
}

void draw_all(Runner& runner, const QDir& folder, Appearance appearance, const QString& suffix) {
  Workspace workspace(runner);
  QTemporaryDir settings;
  MainWindow window(workspace, {{}, settings.filePath(QStringLiteral("settings.ini"))});
  window.set_appearance(appearance);
  window.show();
  settle(workspace);
  window.grab().save(folder.filePath(QStringLiteral("welcome%1.png").arg(suffix)));
  window.open_document(paper_example());
  settle(workspace);
  window.findChild<QAbstractButton*>(QStringLiteral("find_fastest"))->click();
  settle(workspace);
  window.grab().save(folder.filePath(QStringLiteral("window%1.png").arg(suffix)));
  draw_panels(window, folder, suffix);
  const auto is_why = [](const strata::gui::View* view) {
    return view->id() == QStringLiteral("why");
  };
  strata::gui::View* const why = *std::ranges::find_if(window.views(), is_why);
  window.bring_to_front(why);
  settle(workspace);
  why->export_to(folder.filePath(QStringLiteral("story%1.png").arg(suffix)));
  const Graph& graph = workspace.scene()->input.graph;
  workspace.selection().select_layers({LayerId(graph.size() - 4)});
  for (strata::gui::View* view : window.views()) {
    window.bring_to_front(view);
    settle(workspace);
    if (auto* map = dynamic_cast<MapView*>(view)) {
      workspace.open(paper_example());
      settle(workspace);
      map->start_or_stop();
      settle(workspace);
      map->canvas().set_current(MapPlace{2, 3});
    }
    if (auto* of_runs = dynamic_cast<ErrorView*>(view)) run(*of_runs, workspace);
    if (auto* of_sweeps = dynamic_cast<SweepView*>(view)) {
      sweep(*of_sweeps, workspace, settings.filePath(QStringLiteral("strategies.toml")));
      view->export_to(folder.filePath(QStringLiteral("report%1.png").arg(suffix)));
      of_sweeps->report_button().setChecked(false);
      settle(workspace);
    }
    view->export_to(folder.filePath(view->id() + suffix + QStringLiteral(".png")));
  }
}

// Llama 3 8B in four stages of two H200s each, eight rounds of two samples, with recomputation; in
// a window of 1024 x 700, too, with each view that tells of stages.
void draw_pipeline(Runner& runner, const QDir& folder, Appearance appearance,
                   const QString& suffix) {
  Workspace workspace(runner);
  QTemporaryDir settings;
  MainWindow window(workspace, {{}, settings.filePath(QStringLiteral("settings.ini"))});
  window.set_appearance(appearance);
  window.show();
  strata::gui::Document document;
  document.input.model = "llama3-8b";
  document.input.cluster = "h200-1x8";
  document.input.training.dtype = DType::bf16;
  document.input.training.batch = 16;
  document.input.training.micro_batch = 2;
  document.input.training.recompute = Recompute::full;
  document.strategy.source = "hybrid:tp=2,pp=4";
  window.open_document(document);
  settle(workspace);
  auto* const timeline = dynamic_cast<TimelineView*>(window.view(QStringLiteral("timeline")));
  window.bring_to_front(timeline);
  timeline->show_baseline(false);
  timeline->canvas().set_folded(true);
  timeline->canvas().show_links(false);
  settle(workspace);
  timeline->export_to(folder.filePath(QStringLiteral("pipeline%1.png").arg(suffix)));
  auto* const network = dynamic_cast<NetworkView*>(window.view(QStringLiteral("network")));
  network->canvas().set_colours(NetworkColours::stage);
  window.resize(1024, 700);
  for (const char* view : {"network", "why", "timeline"}) {
    window.bring_to_front(window.view(QLatin1String(view)));
    settle(workspace);
    window.grab().save(
        folder.filePath(QStringLiteral("small_%1%2.png").arg(QLatin1String(view), suffix)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool pipeline_alone = argc == 3 && std::string_view(argv[2]) == "pipeline";
  if ((argc != 2 && !pipeline_alone) || !QDir(QString::fromLocal8Bit(argv[1])).exists()) {
    std::fputs("usage: gui_pictures FOLDER [pipeline]\n", stderr);
    return 2;
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  try {
    const Processes processes;
    const std::unique_ptr<Runner> runner = local_machine(processes);
    const QDir folder(QString::fromLocal8Bit(argv[1]));
    for (const auto& [appearance, suffix] :
         {std::pair(Appearance::light, QString()),
          std::pair(Appearance::dark, QStringLiteral("-dark"))}) {
      if (!pipeline_alone) draw_all(*runner, folder, appearance, suffix);
      draw_pipeline(*runner, folder, appearance, suffix);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "gui_pictures: error: %s\n", error.message().c_str());
    return error.exit_code();
  }
  return 0;
}
