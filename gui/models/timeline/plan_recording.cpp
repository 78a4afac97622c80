#include "gui/models/timeline/plan_recording.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "gui/models/timeline/plan_facts.h"
#include "sim/formats/task_title.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

constexpr std::uint32_t kNoTask = 0xffffffff;
constexpr double kWorthTelling = 0.0005;  // of the path

/// Which of its device's lanes a task is drawn in.
std::string lane_of(const Task& task) {
  if (task.stream == Stream::device) return "compute";
  if (task.kind == TaskKind::transfer) return "arriving";
  return task.phase == Phase::update ? "sync" : "statistics";
}

class PlanRecorder {
 public:
  PlanRecorder(const PlanTimeline& what, std::span<const PathStep> path)
      : what_(what), path_(path), steady_(steady_range(what.timeline)) {}

  RecordingPtr run() && {
    recording_->name = what_.name;
    recording_->end = what_.timeline.makespan().value;
    recording_->steady = steady_;
    for (const Task& task : what_.plan.tasks()) label_of_.push_back(label(task));
    if (!path_.empty()) add_path();
    add_devices();
    add_links();
    index_places(*recording_);
    recording_->facts = std::make_shared<PlanFacts>(what_, path_ids(), path_shares());
    return std::move(recording_);
  }

 private:
  using LabelKey = std::tuple<LayerId, TaskKind, Phase, SyncAlgorithm>;

  std::uint32_t label(const Task& task) {
    if (task.kind == TaskKind::join) return 0;
    const SyncAlgorithm algorithm = task.kind == TaskKind::collective
                                        ? what_.plan.groups()[task.detail].algorithm
                                        : SyncAlgorithm::ring;
    const auto [known, is_new] = labels_.try_emplace(
        LabelKey(task.layer, task.kind, task.phase, algorithm), recording_->labels.size());
    if (is_new)
      add_label(task_title(what_.graph, what_.plan, task), work_name(what_.graph, task),
                task.layer);
    return static_cast<std::uint32_t>(known->second);
  }

  void add_label(const std::string& text, const std::string& kind, LayerId layer) {
    const std::string op = layer.valid() ? std::string(strata::name(what_.graph[layer].op)) : "";
    recording_->labels.push_back(make_label(text, kind + " " + op, layer));
  }

  std::uint16_t style(const SliceStyle& style) { return style_number(*recording_, style); }

  Slice slice(const PickedTask& at) {
    const Task& task = what_.plan[at.task];
    const Span& span = what_.timeline.span(at.step, at.task);
    return {span.start.value,
            span.end.value,
            label_of_[at.task()],
            task_id(what_.plan, at),
            1,
            style({Shade::task, task.kind, task.phase, 0})};
  }

  void add_path() {
    std::vector<Slice> slices;
    for (const PathStep& step : path_) {
      if (what_.plan[step.task].kind == TaskKind::join) continue;
      const Slice next = slice({step.step, step.task});
      if (next.length() > 0) slices.push_back(next);
    }
    recording_->lanes.emplace_back(
        LaneName{"critical path", "", LaneKind::path, {}, {}, path_note()}, std::move(slices));
  }

  // Calls visit(task, seconds) for what of the path lies in the steady window.
  template <class Visit>
  void for_steady_path(const Visit& visit) const {
    for (const PathStep& step : path_) {
      const Span& span = what_.timeline.span(step.step, step.task);
      const Seconds begin = steady_ ? std::max(span.start, steady_->begin) : span.start;
      const Seconds end = steady_ ? std::min(span.end, steady_->end) : span.end;
      if (end > begin) visit(step.task, (end - begin).value);
    }
  }

  double path_length() const {
    double sum = 0;
    for_steady_path([&](TaskId, double seconds) { sum += seconds; });
    return sum;
  }

  // "conv2d 61 %, transfer 20 %": the largest first.
  std::string path_note() const {
    std::map<std::string, double> seconds;
    for_steady_path(
        [&](TaskId task, double s) { seconds[work_name(what_.graph, what_.plan[task])] += s; });
    std::vector<std::pair<double, std::string>> order;
    order.reserve(seconds.size());
    for (const auto& [work, s] : seconds) order.emplace_back(-s, work);
    std::sort(order.begin(), order.end());
    std::string note;
    for (const auto& [s, work] : order) {
      if (-s < kWorthTelling * path_length()) break;
      note +=
          fmt::format("{}{} {:.1f} %", note.empty() ? "" : "   ", work, -100 * s / path_length());
    }
    return note;
  }

  std::vector<std::uint32_t> path_ids() const {
    std::vector<std::uint32_t> ids;
    for (const PathStep& step : path_) ids.push_back(task_id(what_.plan, {step.step, step.task}));
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  std::vector<float> path_shares() const {
    std::vector<double> by_label(recording_->labels.size());
    for_steady_path([&](TaskId task, double s) { by_label[label_of_[task()]] += s; });
    std::vector<float> shares;
    const double length = path_length();
    for (const std::uint32_t label : label_of_) {
      shares.push_back(static_cast<float>(length > 0 ? by_label[label] / length : 0));
    }
    return shares;
  }

  void add_devices() {
    using DeviceLanes = std::map<std::string, std::vector<Slice>>;
    std::vector<DeviceLanes> devices(what_.plan.device_count());
    for (std::size_t step = 0; step < what_.timeline.steps(); ++step) {
      for (std::size_t i = 0; i < what_.plan.size(); ++i) {
        const Task& task = what_.plan[TaskId(i)];
        if (task.kind == TaskKind::join) continue;
        devices[task.device()][lane_of(task)].push_back(slice({step, TaskId(i)}));
      }
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
      for (const char* lane : {"compute", "sync", "statistics", "arriving"}) {
        add_lanes(DeviceId(i), lane, std::move(devices[i][lane]));
      }
    }
  }

  void add_lanes(DeviceId device, const std::string& lane, std::vector<Slice> slices) {
    const bool is_device = lane == "compute";
    if (slices.empty() && !is_device) return;
    LaneName name{device_label(what_.cluster, device), lane,
                  is_device ? LaneKind::device : LaneKind::stream, device};
    for (std::vector<Slice>& part : without_overlaps(std::move(slices))) {
      recording_->lanes.emplace_back(name, std::move(part));
      ++name.depth;
      name.name = fmt::format("{} {}", lane, name.depth + 1);
    }
  }

  void add_links() {
    const auto rates = what_.timeline.link_rates();
    for (std::size_t i = 0; i < rates.size();) {
      const LinkId link = rates[i].link;
      std::size_t end = i;
      while (end < rates.size() && rates[end].link == link) ++end;
      add_link(link, rates.subspan(i, end - i));
      i = end;
    }
  }

  void add_link(LinkId id, std::span<const LinkRate> rates) {
    const Link& link = what_.cluster[id];
    std::vector<Slice> slices;
    const std::uint16_t level = style({Shade::level});
    const auto label = static_cast<std::uint32_t>(recording_->labels.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double end = i + 1 < rates.size() ? rates[i + 1].at.value : recording_->end;
      const double height = rates[i].rate.value / link.bandwidth.value;
      if (height <= 0 || end <= rates[i].at.value) continue;
      slices.push_back({rates[i].at.value, end, label, kNoTask,
                        static_cast<float>(std::min(height, 1.0)), level});
    }
    if (slices.empty()) return;
    add_label(fmt::format("{} of {}", link.name, format_rate(link.bandwidth)), "link", LayerId());
    recording_->lanes.emplace_back(LaneName{"links", link.name, LaneKind::curve, {}, id},
                                   std::move(slices));
  }

  const PlanTimeline& what_;
  std::span<const PathStep> path_;
  std::optional<TimeRange> steady_;
  std::shared_ptr<Recording> recording_ = std::make_shared<Recording>();
  std::map<LabelKey, std::size_t> labels_;
  std::vector<std::uint32_t> label_of_;  // by the plan's task
};

}  // namespace

std::string device_label(const Cluster& cluster, DeviceId device) {
  const Device& d = cluster[device];
  return d.host.empty() ? d.name : d.host + "/" + d.name;
}

std::uint32_t task_id(const Plan& plan, const PickedTask& task) {
  return static_cast<std::uint32_t>(task.step * plan.size() + task.task());
}

PickedTask task_of(const Plan& plan, std::uint32_t id) {
  return {id / plan.size(), TaskId(id % plan.size())};
}

std::string work_name(const Graph& graph, const Task& task) {
  switch (task.kind) {
    case TaskKind::compute:
      return task.phase == Phase::update ? "update" : std::string(name(graph[task.layer].op));
    case TaskKind::transfer:
      return "transfer";
    case TaskKind::join:
      return "join";
    default:
      return task.phase == Phase::update ? "all-reduce" : "statistics";
  }
}

std::optional<TimeRange> steady_range(const Timeline& timeline) {
  if (timeline.steps() == 0) return std::nullopt;
  const Timeline::Window window = timeline.steady_window();
  if (window.first == window.last) return TimeRange{Seconds{0}, timeline.makespan()};
  return TimeRange{timeline.step_end(window.first), timeline.step_end(window.last)};
}

RecordingPtr record(const PlanTimeline& what, std::span<const PathStep> path) {
  return PlanRecorder(what, path).run();
}

RecordingPtr record(const ScenePtr& scene) {
  const Prediction& prediction = scene->prediction;
  return record(
      {scene->document.name() + ", " + scene->document.strategy.label(), scene->input.graph,
       scene->input.cluster, prediction.plan, prediction.timeline, scene},
      scene->path);
}

}  // namespace strata::gui
