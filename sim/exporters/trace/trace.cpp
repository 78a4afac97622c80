#include "sim/exporters/trace/trace.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/exporters/trace/trace_lanes.h"
#include "sim/plan/task_title.h"
#include "sim/plan/work_kind.h"
#include "sim/text/json.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

double micros(Seconds seconds) {
  return seconds.value * 1e6;
}

/// One of the timelines that a trace shows.
struct Side {
  const Timeline& timeline;
  std::string_view name;  ///< empty if it is alone
  std::size_t index;
  Lanes lanes;

  std::string called(const std::string& what) const {
    return name.empty() ? what : fmt::format("{} {}", what, name);
  }
};

class TraceWriter {
 public:
  TraceWriter(const Graph& graph, const Cluster& cluster, const Plan& plan, std::vector<Side> sides)
      : graph_(graph), cluster_(cluster), plan_(plan), sides_(std::move(sides)) {}

  std::string run() && {
    constexpr std::size_t kUsualEvent = 256;
    std::size_t spans = 0;
    for (const Side& side : sides_) spans += side.timeline.spans().size();
    body_.reserve(kUsualEvent * spans);
    body_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
    name_devices();
    for (const Side& side : sides_) write_tasks(side);
    for (const Side& side : sides_) write_memory(side);
    write_links();
    body_ += "\n]}\n";
    return std::move(body_);
  }

 private:
  std::size_t process(DeviceId device) const { return device() + 1; }
  std::size_t links_process() const { return cluster_.device_count() + 1; }
  /// The sides of one lane are neighbours.
  std::size_t thread(const Side& side, std::size_t lane) const {
    return lane * sides_.size() + side.index;
  }
  std::size_t thread(const Side& side, std::size_t step, TaskId id) const {
    return thread(side, side.lanes.of[step * plan_.size() + id()]);
  }

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    body_ += body_.back() == '[' ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  void name_process(std::size_t pid, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid,
          json_string(name));
    event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid,
          pid);
  }

  void name_thread(std::size_t pid, const Side& side, std::size_t lane, const std::string& name) {
    const std::size_t tid = thread(side, lane);
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, tid,
          json_string(side.called(name)));
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          pid, tid, tid);
  }

  void name_devices() {
    for (std::size_t i = 0; i < cluster_.device_count(); ++i) {
      const DeviceId device(i);
      if (plan_.representative(device) != device) continue;
      const std::int64_t others = plan_.members(device) - 1;
      name_process(process(device),
                   others == 0
                       ? cluster_[device].full_name()
                       : fmt::format("{} and {} alike", cluster_[device].full_name(), others));
      for (const Side& side : sides_) name_threads(side, device);
    }
  }

  void name_threads(const Side& side, DeviceId device) {
    const std::size_t pid = process(device);
    name_thread(pid, side, kDeviceLane, "compute");
    name_thread(pid, side, kSyncLane, "parameter sync");
    name_thread(pid, side, kStatisticsLane, "statistics");
    for (std::size_t lane = 0; lane < side.lanes.arrivals[device()]; ++lane) {
      name_thread(pid, side, kFirstArrivalLane + lane, fmt::format("arriving {}", lane));
    }
  }

  std::string details(const Task& task) const {
    if (task.kind == TaskKind::compute) return computation_args(graph_, plan_, task);
    if (in_group(task)) {
      const Group& group = plan_.groups()[task.detail];
      return fmt::format(R"(,"bytes":{},"replicas":{})", group.bytes.value, group.tasks.size());
    }
    const Transfer& transfer = plan_.transfers()[task.detail];
    if (plan_.is_on_host(task)) return fmt::format(R"(,"bytes":{})", transfer.bytes.value);
    const auto pieces = plan_.pieces(transfer);
    return fmt::format(R"(,"bytes":{},"from":{})", transfer.bytes.value,
                       json_string(cluster_[pieces.front().from].name));
  }

  void write_tasks(const Side& side) {
    for (std::size_t step = 0; step < side.timeline.steps(); ++step) {
      for (std::size_t i = 0; i < plan_.size(); ++i) write_task(side, step, TaskId(i));
    }
  }

  void write_task(const Side& side, std::size_t step, TaskId id) {
    const Task& task = plan_[id];
    if (task.kind == TaskKind::join) return;
    const Span& span = side.timeline.span(step, id);
    event(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"name":{},"cat":"{}","args":{{"step":{},"task":{},"ready_us":{:.6f}{}}}}})",
        process(task.device), thread(side, step, id), micros(span.start), micros(span.duration()),
        json_string(task_title(graph_, plan_, task)), task_category(task.kind), step, id(),
        micros(span.ready), details(task));
    for (TaskId before : plan_.dependencies(id)) write_arrow(side, step, before, step, id);
    if (step == 0) return;
    for (TaskId before : plan_.carried(id)) write_arrow(side, step - 1, before, step, id);
  }

  // An arrow is drawn from the slice in which it begins; at its very end the next slice may begin.
  static double inside_the_end(const Span& span) {
    constexpr double kMargin = 0.01;  // microseconds; viewers count nanoseconds
    return std::max(micros(span.start), micros(span.end) - kMargin);
  }

  // Viewers are slow with more.
  static constexpr std::size_t kMostTasksWithArrows = 200'000;

  // Only between threads: on one thread the order shows it.
  void write_arrow(const Side& side, std::size_t from_step, TaskId from, std::size_t to_step,
                   TaskId to) {
    if (plan_.size() > kMostTasksWithArrows) return;
    const Task& a = plan_[from];
    const Task& b = plan_[to];
    const std::size_t from_thread = thread(side, from_step, from);
    const std::size_t to_thread = thread(side, to_step, to);
    if (a.kind == TaskKind::join || (a.device == b.device && from_thread == to_thread)) return;
    ++arrows_;
    event(R"({{"ph":"s","id":{},"pid":{},"tid":{},"ts":{:.6f},"name":"after","cat":"dependency"}})",
          arrows_, process(a.device), from_thread,
          inside_the_end(side.timeline.span(from_step, from)));
    event(
        R"({{"ph":"f","bp":"e","id":{},"pid":{},"tid":{},"ts":{:.6f},"name":"after","cat":"dependency"}})",
        arrows_, process(b.device), to_thread, micros(side.timeline.span(to_step, to).start));
  }

  void write_memory(const Side& side) {
    const auto curves = memory_curves(plan_, side.timeline);
    for (std::size_t device = 0; device < curves.size(); ++device) {
      const std::vector<MemoryUse>& uses = curves[device];
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const MemoryUse& use = uses[i];
        // Of those at one time, a viewer shows the last.
        if (i + 1 < uses.size() && uses[i + 1].at == use.at) continue;
        event(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":"{}","args":{{"bytes":{}}}}})",
              process(DeviceId(device)), micros(use.at), side.called("memory"), use.bytes.value);
      }
    }
  }

  void write_links() {
    const auto recorded = [](const Side& side) { return !side.timeline.link_rates().empty(); };
    if (std::none_of(sides_.begin(), sides_.end(), recorded)) return;
    name_process(links_process(), "links (bytes per second)");
    for (const Side& side : sides_) {
      for (const LinkRate& rate : side.timeline.link_rates()) {
        event(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":{},"args":{{"rate":{:.0f}}}}})",
              links_process(), micros(rate.at), json_string(side.called(cluster_[rate.link].name)),
              rate.rate.value);
      }
    }
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Plan& plan_;
  std::vector<Side> sides_;
  std::string body_;
  std::uint64_t arrows_ = 0;
};

}  // namespace

std::string computation_args(const Graph& graph, const Plan& plan, const Task& task) {
  std::string args = fmt::format(R"(,"shard":{})", task.shard);
  const std::string product = product_text(graph, plan, task);
  if (!product.empty()) args += fmt::format(R"(,"product":{})", json_string(product));
  return args;
}

std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& timeline) {
  std::vector<Side> alone = {{timeline, "", 0, assign_lanes(plan, timeline)}};
  return TraceWriter(graph, cluster, plan, std::move(alone)).run();
}

std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& predicted, const Timeline& measured) {
  std::vector<Side> both = {{predicted, "predicted", 0, assign_lanes(plan, predicted)},
                            {measured, "measured", 1, assign_lanes(plan, measured)}};
  return TraceWriter(graph, cluster, plan, std::move(both)).run();
}

}  // namespace strata
