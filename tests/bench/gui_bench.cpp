// How long a frame of the timeline takes, on the offscreen platform: a million slices on sixteen
// devices with four lanes each, all of them or a part on the screen; and a thousand devices, folded
// or each by itself. The median of a frame is what counts (16 ms keep up with a screen).

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {
namespace {

constexpr std::uint32_t kLanes = 4, kLabels = 200;

// Tasks of lengths that differ a thousandfold, as those of networks do, with gaps between.
std::vector<Slice> random_slices(std::mt19937& random, std::size_t count, std::uint32_t first_id) {
  std::exponential_distribution<double> length(1e4), gap(1e5);
  std::uniform_int_distribution<std::uint32_t> label(0, kLabels - 1), style(0, 4);
  std::vector<Slice> slices;
  double at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double begin = at + gap(random);
    at = begin + length(random);
    slices.push_back({begin, at, label(random), first_id + static_cast<std::uint32_t>(i), 1,
                      static_cast<std::uint16_t>(style(random))});
  }
  return slices;
}

// `classes`: how many devices differ; the others are as one of these.
RecordingPtr recording_of(std::size_t slices, std::uint32_t devices = 16,
                          std::uint32_t classes = 16) {
  std::mt19937 random(1);
  auto recording = std::make_shared<Recording>();
  recording->name = "random";
  for (const Phase phase :
       {Phase::forward, Phase::backward_data, Phase::backward_weights, Phase::update}) {
    style_number(*recording, {Shade::task, TaskKind::compute, phase, 0});
  }
  style_number(*recording, {Shade::task, TaskKind::transfer, Phase::forward, 0});
  for (std::uint32_t i = 0; i < kLabels; ++i) {
    recording->labels.push_back(
        make_label("layer" + std::to_string(i) + " forward", "", LayerId(i)));
  }
  const std::size_t share = slices / (devices * kLanes);
  for (std::uint32_t lane = 0; lane < devices * kLanes; ++lane) {
    const std::uint32_t device = lane / kLanes;
    if (lane % kLanes == 0) random.seed(1 + device % classes);
    const LaneName name{"host" + std::to_string(device / 8) + "/gpu" + std::to_string(device % 8),
                        "lane " + std::to_string(lane % kLanes),
                        lane % kLanes == 0 ? LaneKind::device : LaneKind::stream};
    recording->lanes.emplace_back(
        name, random_slices(random, share, lane * static_cast<std::uint32_t>(share)));
    recording->end = std::max(recording->end, recording->lanes.back().slices().back().end);
  }
  index_places(*recording);
  return recording;
}

/// A canvas of 1600 by 1000 pixels, on which most of the lanes are to be seen.
void paint_timeline(benchmark::State& state) {
  const RecordingPtr recording = recording_of(static_cast<std::size_t>(state.range(0)));
  TimelineCanvas canvas;
  canvas.resize(1600, 1000);
  canvas.show();
  canvas.show_recordings(recording, nullptr);
  TimeWindow window = canvas.window();
  window.zoom(1.0 / static_cast<double>(state.range(1)), recording->end / 3);
  canvas.set_window(window);
  QImage image(canvas.viewport()->size(), QImage::Format_ARGB32_Premultiplied);
  for (auto unused : state) {
    QPainter painter(&image);
    canvas.paint(painter);
    benchmark::DoNotOptimize(unused);
  }
  state.counters["slices"] = static_cast<double>(recording->slice_count());
}
BENCHMARK(paint_timeline)
    ->ArgNames({"slices", "zoom"})
    ->Args({1'000'000, 1})
    ->Args({1'000'000, 30})
    ->Args({1'000'000, 300})
    ->Args({1'000'000, 10'000})
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(25)
    ->ReportAggregatesOnly();

/// A thousand devices of four kinds: as one line each kind, and with all of their lines.
void paint_many_devices(benchmark::State& state) {
  const RecordingPtr recording = recording_of(1'000'000, 1024, 4);
  TimelineCanvas canvas;
  canvas.resize(1600, 1000);
  canvas.show();
  canvas.show_recordings(recording, nullptr);
  canvas.set_folded(state.range(0) != 0);
  QImage image(canvas.viewport()->size(), QImage::Format_ARGB32_Premultiplied);
  TimeWindow window = canvas.window();
  for (auto unused : state) {
    window.zoom(window.length() < recording->end / 1000 ? 1000 : 0.8, recording->end / 3);
    canvas.set_window(window);
    QPainter painter(&image);
    canvas.paint(painter);
    benchmark::DoNotOptimize(unused);
  }
  state.counters["rows"] = static_cast<double>(canvas.rows().size());
}
BENCHMARK(paint_many_devices)
    ->ArgNames({"folded"})
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(25)
    ->ReportAggregatesOnly();

/// What opening or closing a group takes.
void fold_many_devices(benchmark::State& state) {
  const RecordingPtr recording = recording_of(1'000'000, 1024, 4);
  TimelineCanvas canvas;
  canvas.resize(1600, 1000);
  canvas.show_recordings(recording, nullptr);
  bool folded = true;
  for (auto unused : state) {
    canvas.set_folded(folded = !folded);
    benchmark::DoNotOptimize(unused);
  }
}
BENCHMARK(fold_many_devices)->Unit(benchmark::kMillisecond);

/// What a job does with a million tasks before they can be drawn.
void index_lanes(benchmark::State& state) {
  for (auto unused : state) {
    benchmark::DoNotOptimize(recording_of(static_cast<std::size_t>(state.range(0))));
    benchmark::DoNotOptimize(unused);
  }
}
BENCHMARK(index_lanes)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strata::gui

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  strata::gui::apply(strata::gui::Appearance::light);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
