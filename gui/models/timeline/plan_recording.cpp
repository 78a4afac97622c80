#include "gui/models/timeline/plan_recording.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "gui/models/text.h"
#include "sim/plan/task_title.h"
#include "sim/plan/work_kind.h"
#include "sim/text/units.h"
#include "sim/timeline/compare.h"
#include "sim/timeline/idle_time.h"

namespace strata::gui {
namespace {

constexpr std::uint32_t kNoTask = 0xffffffff;

bool is_recomputation(const Task& task) {
  return task.again && task.kind == TaskKind::compute && is_forward(task.phase);
}

// An update, and the sums before it, are of all rounds.
bool is_of_a_round(const Plan& plan, const Task& task) {
  return plan.rounds() > 1 && task.phase != Phase::update;
}

std::string title_of(const Graph& graph, const Plan& plan, const Task& task) {
  if (is_recomputation(task)) return graph[task.layer].name + " recomputation";
  return task_title(graph, plan, task);
}

/// Which of its device's lanes a task is drawn in.
std::string lane_of(const Task& task) {
  if (task.stream == Stream::device) return "compute";
  if (task.kind == TaskKind::transfer) return "arriving";
  return std::string(strata::name(work_kind(task)));
}

class PlanRecorder {
 public:
  PlanRecorder(const PlanTimeline& what, std::span<const PathStep> path)
      : what_(what), path_(path), steady_path_(what.plan, what.timeline, path) {}

  RecordingPtr run() && {
    recording_->name = what_.name;
    recording_->end = what_.timeline.makespan().value;
    recording_->steady = steady_range(what_.timeline);
    recording_->step = steady_step(what_.timeline);
    recording_->forward = steady_forward(what_.plan, what_.timeline);
    for (const Task& task : what_.plan.tasks()) {
      label_of_.push_back(label(task));
      look_of_.push_back(look(task));
    }
    if (!path_.empty()) add_path();
    add_devices();
    add_links();
    index_places(*recording_);
    recording_->facts =
        std::make_shared<PlanFacts>(what_, path_ids(), steady_path_.shares(label_of_));
    return std::move(recording_);
  }

 private:
  std::uint32_t label(const Task& task) {
    if (task.kind == TaskKind::join) return 0;
    const auto [known, is_new] = labels_.try_emplace(
        std::pair(class_of(what_.plan, task), is_recomputation(task)), recording_->labels.size());
    if (is_new)
      add_label(title_of(what_.graph, what_.plan, task), work_name(what_.graph, task), task.layer);
    return static_cast<std::uint32_t>(known->second);
  }

  void add_label(const std::string& text, const std::string& kind, LayerId layer) {
    const std::string op = layer.valid() ? std::string(strata::name(what_.graph[layer].op)) : "";
    recording_->labels.push_back(make_label(text, kind + " " + op, layer));
  }

  std::uint16_t style(const SliceStyle& style) { return style_number(*recording_, style); }

  struct Look {
    std::uint16_t style, round;
  };
  Look look(const Task& task) {
    if (task.kind == TaskKind::join) return {0, 0};
    const bool of_a_round = is_of_a_round(what_.plan, task);
    const bool counted = of_a_round && task.round < std::numeric_limits<std::uint16_t>::max();
    return {style({Shade::task, task.kind, task.phase, 0, is_recomputation(task),
                   of_a_round && task.round % 2 == 1}),
            static_cast<std::uint16_t>(counted ? task.round + 1 : 0)};
  }

  Slice slice(const PickedTask& at) {
    const Span& span = what_.timeline.span(at.step, at.task);
    const Look& look = look_of_[at.task()];
    return {span.start.value, span.end.value, label_of_[at.task()], task_id(what_.plan, at), 1,
            look.style,       look.round};
  }

  void add_path() {
    std::vector<Slice> slices;
    for (const PathStep& step : path_) {
      if (what_.plan[step.task].kind == TaskKind::join) continue;
      const Slice next = slice({step.step, step.task});
      if (next.length() > 0) slices.push_back(next);
    }
    recording_->lanes.emplace_back(
        LaneName{"critical path", "", LaneKind::path, {}, {}, {}, steady_path_.note(what_.graph)},
        std::move(slices));
  }

  std::vector<std::uint32_t> path_ids() const {
    std::vector<std::uint32_t> ids;
    for (const PathStep& step : path_) ids.push_back(task_id(what_.plan, {step.step, step.task}));
    std::sort(ids.begin(), ids.end());
    return ids;
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
    const std::vector<std::vector<IdleTime>> idle = idle_times(what_.plan, what_.timeline);
    std::vector<std::vector<Lane>> lanes(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!stands_for_itself(DeviceId(i))) continue;
      for (const char* lane : {"compute", "sync", "statistics", "arriving"}) {
        add_lanes(DeviceId(i), lane, std::move(devices[i][lane]), idle[i], lanes[i]);
      }
    }
    for (const DeviceId device : by_stages()) {
      for (const Lane& lane : lanes[what_.plan.representative(device)()]) {
        LaneName name = lane.name();
        name.group = device_label(what_.cluster, device);
        name.device = device;
        if (const auto stage = stage_of(device)) name.stage = what_.stages->heading(*stage);
        recording_->lanes.emplace_back(std::move(name), lane);
      }
    }
  }

  std::optional<std::uint32_t> stage_of(DeviceId device) const {
    return what_.stages != nullptr && what_.stages->several() ? what_.stages->stage_of(device)
                                                              : std::nullopt;
  }

  // Those without a stage last.
  std::vector<DeviceId> by_stages() const {
    std::vector<DeviceId> devices;
    devices.reserve(what_.plan.device_count());
    for (std::size_t i = 0; i < what_.plan.device_count(); ++i) devices.emplace_back(i);
    if (what_.stages == nullptr || !what_.stages->several()) return devices;
    const auto order = [&](DeviceId device) {
      return stage_of(device).value_or(static_cast<std::uint32_t>(what_.stages->count()));
    };
    std::ranges::stable_sort(devices, {}, order);
    return devices;
  }

  static std::vector<Slice> bubbles_of(const std::vector<IdleTime>& idle) {
    std::vector<Slice> bubbles;
    for (const IdleTime& wait : idle) {
      if (wait.reason != WaitsFor::computation) continue;
      bubbles.push_back({wait.from.value, wait.to.value, 0, kNoTask});
    }
    return bubbles;
  }

  bool stands_for_itself(DeviceId device) const {
    return what_.plan.representative(device) == device;
  }

  void add_lanes(DeviceId device, const std::string& lane, std::vector<Slice> slices,
                 const std::vector<IdleTime>& idle, std::vector<Lane>& lanes) const {
    const bool is_device = lane == "compute";
    if (slices.empty() && !is_device) return;
    LaneName name{device_label(what_.cluster, device), lane,
                  is_device ? LaneKind::device : LaneKind::stream, device};
    for (std::vector<Slice>& part : without_overlaps(std::move(slices))) {
      if (is_device && name.depth == 0) {
        lanes.emplace_back(name, std::move(part), bubbles_of(idle));
      } else {
        lanes.emplace_back(name, std::move(part));
      }
      ++name.depth;
      name.name = fmt::format("{} {}", lane, name.depth + 1);
    }
  }

  void add_links() {
    const auto rates = what_.timeline.link_rates();
    std::map<LinkId, Lane> lanes;
    for (std::size_t i = 0; i < rates.size();) {
      const LinkId link = rates[i].link;
      std::size_t end = i;
      while (end < rates.size() && rates[end].link == link) ++end;
      std::vector<Slice> slices = levels(link, rates.subspan(i, end - i));
      if (!slices.empty()) {
        lanes.try_emplace(link, LaneName{{}, {}, LaneKind::curve}, std::move(slices));
      }
      i = end;
    }
    for (std::size_t i = 0; i < what_.cluster.links().size(); ++i) {
      const LinkId id(i);
      const auto lane = lanes.find(what_.plan.representative(id));
      if (lane == lanes.end()) continue;
      const Link& link = what_.cluster[id];
      recording_->lanes.emplace_back(
          LaneName{"links", link.name, LaneKind::curve, {}, id, owner_of(link)}, lane->second);
    }
  }

  std::vector<Slice> levels(LinkId id, std::span<const LinkRate> rates) {
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
    if (!slices.empty()) add_label(format_rate(link.bandwidth), "link", LayerId());
    return slices;
  }

  // An end that is a device, else the host that an end's name begins with.
  std::string owner_of(const Link& link) const {
    for (const std::uint32_t end : {link.from, link.to}) {
      if (end < what_.cluster.device_count()) return device_label(what_.cluster, DeviceId(end));
    }
    for (const std::uint32_t end : {link.from, link.to}) {
      const std::string& name = what_.cluster.vertex_name(end);
      const auto slash = name.rfind('/');
      if (slash != std::string::npos) return name.substr(0, slash);
    }
    return {};
  }

  const PlanTimeline& what_;
  std::span<const PathStep> path_;
  SteadyPath steady_path_;
  std::shared_ptr<Recording> recording_ = std::make_shared<Recording>();
  std::map<std::pair<TaskClass, bool>, std::size_t> labels_;  // and whether it is computed again
  std::vector<std::uint32_t> label_of_;                       // by the plan's task
  std::vector<Look> look_of_;                                 // likewise
};

constexpr std::size_t kMostNeighbours = 256;  // arrows that somebody could still tell apart

std::string senders(const Plan& plan, const Cluster& cluster, const Transfer& transfer) {
  const auto pieces = plan.pieces(transfer);
  std::string text = cluster[pieces.front().from].name;
  const std::size_t senders = pieces.size() * transfer.copies;
  if (senders > 1) text += fmt::format(" and {} more", senders - 1);
  return text;
}

constexpr double kWorthTelling = 0.0005;

}  // namespace

std::string device_label(const Cluster& cluster, DeviceId device) {
  return cluster[device].full_name();
}

std::uint32_t task_id(const Plan& plan, const PickedTask& task) {
  return static_cast<std::uint32_t>(task.step * plan.size() + task.task());
}

PickedTask task_of(const Plan& plan, std::uint32_t id) {
  return {id / plan.size(), TaskId(id % plan.size())};
}

std::optional<TimeRange> steady_range(const Timeline& timeline) {
  if (timeline.steps() == 0) return std::nullopt;
  const SteadyTime steady = timeline.steady_time();
  return TimeRange{steady.from, steady.to};
}

std::optional<TimeRange> steady_step(const Timeline& timeline) {
  if (timeline.steps() == 0) return std::nullopt;
  const std::size_t last = timeline.steady_window().last;
  return TimeRange{last == 0 ? Seconds{} : timeline.step_end(last - 1), timeline.step_end(last)};
}

std::optional<Seconds> steady_forward(const Plan& plan, const Timeline& timeline) {
  if (timeline.steps() == 0) return std::nullopt;
  const std::size_t last = timeline.steady_window().last;
  std::optional<Seconds> first;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::compute || task.phase != Phase::forward) continue;
    const Seconds start = timeline.span(last, TaskId(i)).start;
    if (!first || start < *first) first = start;
  }
  return first;
}

RecordingPtr record(const PlanTimeline& what, std::span<const PathStep> path) {
  return PlanRecorder(what, path).run();
}

RecordingPtr record(const ScenePtr& scene) {
  const Prediction& prediction = scene->prediction;
  return record(
      {scene->document.name() + ", " + scene->document.strategy.label(), scene->input.graph,
       scene->input.cluster, prediction.plan, prediction.timeline, scene, &scene->stages},
      scene->path);
}

PlanFacts::PlanFacts(PlanTimeline what, std::vector<std::uint32_t> on_path,
                     std::vector<float> path_share)
    : what_(std::move(what)), on_path_(std::move(on_path)), path_share_(std::move(path_share)) {}

std::string PlanFacts::traffic(const Task& task) const {
  if (task.kind == TaskKind::transfer) {
    const Transfer& transfer = what_.plan.transfers()[task.detail];
    if (what_.plan.is_on_host(task)) return format_bytes(transfer.bytes);
    return fmt::format("{} from {}", format_bytes(transfer.bytes),
                       senders(what_.plan, what_.cluster, transfer));
  }
  const Group& group = what_.plan.groups()[task.detail];
  return fmt::format("{} summed over {} devices", format_bytes(group.bytes),
                     what_.plan.participants(group).size());
}

std::string PlanFacts::round_text(const Task& task) const {
  if (!is_of_a_round(what_.plan, task)) return {};
  return fmt::format("round {} of {}, ", task.round + 1, what_.plan.rounds());
}

std::string PlanFacts::stage_text(LayerId layer) const {
  const bool several = what_.stages != nullptr && what_.stages->several();
  return several ? ", " + what_.stages->name(layer) : std::string();
}

std::vector<std::string> PlanFacts::lines(std::uint32_t id, double shift) const {
  const PickedTask picked = task_of(what_.plan, id);
  const Task& task = what_.plan[picked.task];
  Span span = what_.timeline.span(picked.step, picked.task);
  for (Seconds* time : {&span.ready, &span.start, &span.end}) *time += Seconds{shift};
  const auto [start, end] = seconds_apart(span.start, span.end);
  std::vector<std::string> lines = {
      title_of(what_.graph, what_.plan, task),
      fmt::format("{}, step {}, {}shard {} of {} ({}{})", device_label(what_.cluster, task.device),
                  picked.step + 1, round_text(task), task.shard + 1,
                  what_.plan.placement(task.layer).devices.size(), name(what_.graph[task.layer].op),
                  stage_text(task.layer)),
      fmt::format("{}: from {} to {}", seconds_text(span.duration()), start.toStdString(),
                  end.toStdString())};
  const Seconds waited = span.start - span.ready;
  lines.push_back(waited > Seconds{0} ? fmt::format("ready at {}, waited {}",
                                                    seconds_text(span.ready), seconds_text(waited))
                                      : "began as soon as it was ready");
  if (task.kind != TaskKind::compute) lines.push_back(traffic(task));
  if (const std::int64_t alike = what_.plan.members(task.device); alike > 1) {
    lines.push_back(fmt::format("one of {} devices that do the same", alike));
  }
  if (std::binary_search(on_path_.begin(), on_path_.end(), id)) {
    lines.push_back(fmt::format("on the critical path: {:.1f} % of a step's, with its like",
                                100 * path_share_[picked.task()]));
  }
  return lines;
}

std::optional<double> PlanFacts::ready(std::uint32_t id) const {
  const PickedTask task = task_of(what_.plan, id);
  return what_.timeline.span(task.step, task.task).ready.value;
}

std::optional<PickedTask> PlanFacts::task(std::uint32_t id) const {
  return task_of(what_.plan, id);
}

std::optional<std::uint32_t> PlanFacts::find(const PickedTask& task) const {
  if (task.step >= what_.timeline.steps() || task.task() >= what_.plan.size()) return std::nullopt;
  return task_id(what_.plan, task);
}

// Joins are not drawn: what they join stands for them.
void PlanFacts::add_before(PickedTask task, std::vector<std::uint32_t>& ids) const {
  const auto add = [&](PickedTask other) {
    if (ids.size() >= kMostNeighbours) return;
    is_join(other.task) ? add_before(other, ids) : ids.push_back(task_id(what_.plan, other));
  };
  for (const TaskId other : what_.plan.dependencies(task.task)) add({task.step, other});
  if (task.step == 0) return;
  for (const TaskId other : what_.plan.carried(task.task)) add({task.step - 1, other});
}

// One walk through a step, in whose order tasks come after all that they wait for: what waits for a
// marked task is one more id, or a mark where it is a join.
PlanFacts::Marks PlanFacts::waiting(const Marks& step_before, Marks now, std::size_t step,
                                    std::vector<std::uint32_t>& ids) const {
  const auto any = [](const Marks& marks, std::span<const TaskId> tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](TaskId task) { return marks[task()]; });
  };
  for (std::size_t i = 0; i < now.size() && ids.size() < kMostNeighbours; ++i) {
    const TaskId task(i);
    if (!any(now, what_.plan.dependencies(task)) && !any(step_before, what_.plan.carried(task)))
      continue;
    if (is_join(task)) now[i] = true;
    if (!is_join(task)) ids.push_back(task_id(what_.plan, {step, task}));
  }
  return now;
}

std::vector<std::uint32_t> PlanFacts::before(std::uint32_t id) const {
  std::vector<std::uint32_t> ids;
  add_before(task_of(what_.plan, id), ids);
  return ids;
}

std::vector<std::uint32_t> PlanFacts::after(std::uint32_t id) const {
  std::vector<std::uint32_t> ids;
  const PickedTask task = task_of(what_.plan, id);
  const Marks none(what_.plan.size());
  Marks marked = none;
  marked[task.task()] = true;
  marked = waiting(none, marked, task.step, ids);
  for (std::size_t step = task.step + 1; step < what_.timeline.steps() && marked != none; ++step) {
    marked = waiting(marked, none, step, ids);
  }
  return ids;
}

std::string work_name(const Graph& graph, const Task& task) {
  if (is_recomputation(task)) return "recomputation";
  const WorkKind work = work_kind(task);
  const bool of_op = work == WorkKind::forward || work == WorkKind::backward;
  return std::string(of_op ? name(graph[task.layer].op) : name(work));
}

SteadyPath::SteadyPath(const Plan& plan, const Timeline& timeline, std::span<const PathStep> path)
    : plan_(plan), by_task_(plan.size()) {
  const auto steady = steady_range(timeline);
  for (const PathStep& step : path) {
    const Span& span = timeline.span(step.step, step.task);
    const Seconds begin = std::max(span.start, steady->begin);
    const Seconds on_it = std::min(span.end, steady->end) - begin;
    by_task_[step.task()] += std::max(on_it.value, 0.0);
    seconds_ += std::max(on_it.value, 0.0);
  }
}

std::string SteadyPath::note(const Graph& graph) const {
  std::map<std::string, double> seconds;
  for (std::size_t i = 0; i < by_task_.size(); ++i) {
    seconds[work_name(graph, plan_[TaskId(i)])] += by_task_[i];
  }
  std::vector<std::pair<double, std::string>> order;
  order.reserve(seconds.size());
  for (const auto& [work, s] : seconds) order.emplace_back(-s, work);
  std::sort(order.begin(), order.end());
  std::string note;
  for (const auto& [s, work] : order) {
    if (-s <= kWorthTelling * seconds_) break;
    note += fmt::format("{}{} {:.1f} %", note.empty() ? "" : "   ", work, -100 * s / seconds_);
  }
  return note;
}

std::vector<float> SteadyPath::shares(std::span<const std::uint32_t> class_of) const {
  std::map<std::uint32_t, double> by_class;
  for (std::size_t i = 0; i < by_task_.size(); ++i) by_class[class_of[i]] += by_task_[i];
  std::vector<float> shares;
  for (const std::uint32_t c : class_of) {
    shares.push_back(static_cast<float>(seconds_ > 0 ? by_class.at(c) / seconds_ : 0));
  }
  return shares;
}

}  // namespace strata::gui
