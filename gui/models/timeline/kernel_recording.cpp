#include "gui/models/timeline/kernel_recording.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "sim/study/validate/kernel_times.h"

namespace strata::gui {
namespace {

using MatchPtr = std::shared_ptr<const KernelLayers>;

// What match_kernels() reads of a network.
std::vector<std::pair<std::string, std::string>> layers_of(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> layers;
  layers.reserve(graph.size());
  for (const Layer& layer : graph.layers()) {
    layers.emplace_back(layer.name, name(layer.op));
  }
  return layers;
}

/// The last match, beside its trace: every edit of the case draws the same kernels again.
class LastMatch {
 public:
  MatchPtr of(const std::shared_ptr<const Trace>& trace, const Graph& graph,
              const std::atomic<bool>* cancelled) {
    if (MatchPtr known = find(*trace, graph)) return known;
    auto match = std::make_shared<const KernelLayers>(match_kernels(*trace, graph, cancelled));
    const std::scoped_lock guard(lock_);
    trace_ = trace;
    layers_ = layers_of(graph);
    match_ = match;
    return match;
  }
  /// Null where it is of another trace or other layers.
  MatchPtr find(const Trace& trace, const Graph& graph) {
    const std::scoped_lock guard(lock_);
    if (trace_.lock().get() != &trace || layers_ != layers_of(graph)) return nullptr;
    return match_.lock();
  }

 private:
  std::mutex lock_;
  std::weak_ptr<const Trace> trace_;
  std::vector<std::pair<std::string, std::string>> layers_;
  std::weak_ptr<const KernelLayers> match_;  // the recording that is drawn holds it
};

LastMatch& last_match() {
  static LastMatch last;
  return last;
}

class KernelFacts : public SliceFacts {
 public:
  KernelFacts(std::shared_ptr<const Trace> trace, MatchPtr match, ScenePtr scene)
      : trace_(std::move(trace)),
        match_(std::move(match)),
        scene_(std::move(scene)),
        predicted_(predicted_times(scene_->prediction)) {
    traced_.reserve(match_->steps.size());
    for (std::uint32_t step = 0; step < match_->steps.size(); ++step) {
      traced_.push_back(traced_times(*trace_, *match_, step));
    }
  }

  std::vector<std::string> lines(std::uint32_t id, double /*shift*/) const override {
    const LayerKernel& kernel = match_->kernels[id];
    const TraceSlice& slice = trace_->slices[kernel.slice];
    std::vector<std::string> lines = {
        trace_->names[slice.name], fmt::format("GPU {}, stream {}", kernel.device, kernel.stream),
        fmt::format("{}, from {} of the trace on", seconds_text(slice.end - slice.begin),
                    seconds_text(slice.begin))};
    if (kernel.layer.valid()) add_layer(kernel, lines);
    return lines;
  }

  std::optional<PickedTask> task(std::uint32_t id) const override {
    const LayerKernel& kernel = match_->kernels[id];
    const bool anew = kernel.pass == KernelPass::recomputation;
    const auto task = predicted_.find(
        in_plan(scene_->prediction.plan,
                {DeviceId(kernel.device), kernel.layer, anew ? KernelPass::forward : kernel.pass}));
    if (!kernel.layer.valid() || task == predicted_.end()) return std::nullopt;
    return PickedTask{last_steady_step(scene_->prediction.timeline), task->second.first};
  }

 private:
  void add_layer(const LayerKernel& kernel, std::vector<std::string>& lines) const {
    const LayerPass pass{DeviceId(kernel.device), kernel.layer, kernel.pass};
    std::string text =
        fmt::format("{} {}", scene_->input.graph[kernel.layer].name, name(kernel.pass));
    if (kernel.step < traced_.size()) {
      const PassTime& traced = traced_[kernel.step].at(pass);
      text += fmt::format(": {} in {} kernel{} of {}", seconds_text(traced.seconds), traced.parts,
                          traced.parts == 1 ? "" : "s",
                          match_->names_steps ? "this step" : "the trace");
    }
    lines.push_back(std::move(text));
    const auto predicted = predicted_.find(in_plan(scene_->prediction.plan, pass));
    if (predicted == predicted_.end()) return;
    lines.push_back(fmt::format("predicted {}{}", seconds_text(predicted->second.seconds),
                                match_->names_steps ? "" : " a step"));
  }

  std::shared_ptr<const Trace> trace_;
  MatchPtr match_;
  ScenePtr scene_;
  PassTimes predicted_;
  std::vector<PassTimes> traced_;  // by step
};

class KernelRecorder {
 public:
  KernelRecorder(const Trace& trace, const KernelLayers& found, const Scene& scene)
      : trace_(trace), found_(found), scene_(scene) {
    const Timeline& timeline = scene.prediction.timeline;
    const std::size_t last = last_steady_step(timeline);
    const Seconds begin = last == 0 ? Seconds{} : timeline.step_end(last - 1);
    const TraceStep& step = found.steps[median_step(found)];
    shift_ = begin - step.begin;
    recording_->steady = recording_->step = TimeRange{step.begin + shift_, step.end + shift_};
  }

  std::shared_ptr<Recording> run(const std::string& name) && {
    recording_->name = name;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Slice>> streams;
    for (std::uint32_t i = 0; i < found_.kernels.size(); ++i) {
      const LayerKernel& kernel = found_.kernels[i];
      const Slice drawn = slice(i);
      if (drawn.end <= 0) continue;  // before all that is predicted
      streams[{kernel.device, kernel.stream}].push_back(drawn);
      recording_->end = std::max(recording_->end, drawn.end);
    }
    const auto busiest = busiest_streams(streams);
    for (auto& [place, slices] : streams) {
      add_stream(place.first, place.second, busiest.at(place.first) == place.second,
                 std::move(slices));
    }
    index_places(*recording_);
    return std::move(recording_);
  }

 private:
  using Streams = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Slice>>;

  // Of each GPU the one that computes.
  static std::map<std::uint32_t, std::uint32_t> busiest_streams(const Streams& streams) {
    std::map<std::uint32_t, std::pair<double, std::uint32_t>> most;
    for (const auto& [place, slices] : streams) {
      double busy = 0;
      for (const Slice& slice : slices) busy += slice.length();
      const auto [known, is_new] = most.try_emplace(place.first, busy, place.second);
      if (!is_new && busy > known->second.first) known->second = {busy, place.second};
    }
    std::map<std::uint32_t, std::uint32_t> busiest;
    for (const auto& [device, stream] : most) busiest[device] = stream.second;
    return busiest;
  }

  Slice slice(std::uint32_t id) {
    const LayerKernel& kernel = found_.kernels[id];
    const TraceSlice& slice = trace_.slices[kernel.slice];
    const double begin = (slice.begin + shift_).value, end = (slice.end + shift_).value;
    return {
        std::max(begin, 0.0), end, label(kernel), id, 1, style_number(*recording_, style(kernel))};
  }

  // Alike for all kernels of a layer and a pass: its name is in the facts.
  std::uint32_t label(const LayerKernel& kernel) {
    const std::string& kernel_name = trace_.names[trace_.slices[kernel.slice].name];
    std::string text = kernel_name;
    if (kernel.layer.valid()) {
      text = fmt::format("{} {}", scene_.input.graph[kernel.layer].name, name(kernel.pass));
    } else if (kernel.pass == KernelPass::update) {
      text = "update";
    }
    const auto [known, is_new] = labels_.try_emplace(
        std::pair(text, kernel_name), static_cast<std::uint32_t>(recording_->labels.size()));
    if (is_new) recording_->labels.push_back(make_label(text, kernel_name, kernel.layer));
    return known->second;
  }

  SliceStyle style(const LayerKernel& kernel) const {
    if (kernel.pass == KernelPass::update) return {Shade::task, TaskKind::compute, Phase::update};
    if (kernel.layer.valid()) {
      const bool backward = kernel.pass == KernelPass::backward;
      return {Shade::task, TaskKind::compute, backward ? Phase::backward_data : Phase::forward, 0,
              kernel.pass == KernelPass::recomputation};
    }
    return {Shade::unknown};
  }

  void add_stream(std::uint32_t gpu, std::uint32_t stream, bool computes,
                  std::vector<Slice> slices) {
    LaneName name;
    const bool known = gpu < scene_.input.cluster.device_count();
    name.group =
        known ? device_label(scene_.input.cluster, DeviceId(gpu)) : fmt::format("GPU {}", gpu);
    const std::string title = computes ? "compute" : fmt::format("stream {}", stream);
    name.name = title;
    name.kind = computes ? LaneKind::device : LaneKind::stream;
    if (known) name.device = DeviceId(gpu);
    round_off(slices);
    for (std::vector<Slice>& part : without_overlaps(std::move(slices))) {
      recording_->lanes.emplace_back(name, std::move(part));
      ++name.depth;
      name.name = fmt::format("{} {}", title, name.depth + 1);
    }
  }

  // A stream does one thing after another; times since 1970 in microseconds are a quarter off.
  static void round_off(std::vector<Slice>& slices) {
    constexpr double kRounding = 0.5e-6;
    for (std::size_t i = 1; i < slices.size(); ++i) {
      const double before = slices[i - 1].end;
      if (slices[i].begin < before && before - slices[i].begin < kRounding) {
        slices[i].begin = std::min(before, slices[i].end);
      }
    }
  }

  const Trace& trace_;
  const KernelLayers& found_;
  const Scene& scene_;
  Seconds shift_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> labels_;
  std::shared_ptr<Recording> recording_ = std::make_shared<Recording>();
};

}  // namespace

RecordingPtr record_beside(std::shared_ptr<const Trace> trace, const std::string& name,
                           const ScenePtr& scene, const std::atomic<bool>* cancelled) {
  MatchPtr match = last_match().of(trace, scene->input.graph, cancelled);
  auto recording = KernelRecorder(*trace, *match, *scene).run(name);
  recording->facts = std::make_shared<KernelFacts>(std::move(trace), std::move(match), scene);
  return recording;
}

std::string match_text(const Trace& trace, const std::string& name, const Scene& scene) {
  const MatchPtr match = last_match().find(trace, scene.input.graph);
  const TraceComparison compared = match ? compare_kernels(trace, *match, scene.prediction)
                                         : compare_kernels(trace, scene.input, scene.prediction);
  const std::string step =
      compared.steps == 0
          ? fmt::format(
                "the trace names no steps (ProfilerStep#N): its kernels are added up over all of "
                "it, in which a GPU is busy for {}; a step is predicted to take {}",
                seconds_text(compared.busy), seconds_text(scene.prediction.step_seconds()))
          : fmt::format(
                "a step takes {} (the median of {}), {} of it with a GPU busy, predicted {}",
                seconds_text(compared.traced_step), compared.steps, seconds_text(compared.busy),
                seconds_text(scene.prediction.step_seconds()));
  return fmt::format(
      "{}: {:.1f} % of the kernels' time is known to be of {}'s layers or their "
      "update; {}",
      name, 100 * compared.known_share, scene.input.graph.name(), step);
}

}  // namespace strata::gui
