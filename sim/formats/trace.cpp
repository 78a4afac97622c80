#include "sim/formats/trace.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/text/json.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

constexpr std::size_t kCompute = 1, kSync = 2, kStatistics = 3, kFirstArrival = 4;

double micros(Seconds seconds) {
  return seconds.value * 1e6;
}

class TraceWriter {
 public:
  TraceWriter(const Graph& graph, const Cluster& cluster, const Plan& plan,
              const Timeline& timeline)
      : graph_(graph),
        cluster_(cluster),
        plan_(plan),
        timeline_(timeline),
        threads_(timeline.steps() * plan.size()),
        arrival_lanes_(cluster.device_count()) {}

  std::string run() && {
    assign_threads();
    name_devices();
    for (std::size_t step = 0; step < timeline_.steps(); ++step) {
      for (std::size_t i = 0; i < plan_.size(); ++i) write_task(step, TaskId(i));
    }
    write_memory();
    write_links();
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + body_ + "\n]}\n";
  }

 private:
  std::size_t slot(std::size_t step, TaskId id) const { return step * plan_.size() + id(); }
  std::size_t process(DeviceId device) const { return device() + 1; }
  std::size_t links_process() const { return cluster_.device_count() + 1; }

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    if (!body_.empty()) body_ += ",\n";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  // Transfers into one device may overlap: each takes the first lane that is free.
  void assign_threads() {
    std::vector<std::vector<std::size_t>> arrivals(cluster_.device_count());
    for (std::size_t step = 0; step < timeline_.steps(); ++step) {
      for (std::size_t i = 0; i < plan_.size(); ++i) {
        const Task& task = plan_[TaskId(i)];
        const std::size_t at = slot(step, TaskId(i));
        if (task.kind == TaskKind::transfer) arrivals[task.device()].push_back(at);
        threads_[at] = task.kind == TaskKind::compute ? kCompute
                       : task.phase == Phase::update  ? kSync
                                                      : kStatistics;
      }
    }
    for (std::size_t device = 0; device < arrivals.size(); ++device) {
      assign_lanes(arrivals[device], arrival_lanes_[device]);
    }
  }

  const Span& span_at(std::size_t at) const {
    return timeline_.span(at / plan_.size(), TaskId(at % plan_.size()));
  }

  void assign_lanes(std::vector<std::size_t>& arrivals, std::size_t& lanes) {
    std::stable_sort(arrivals.begin(), arrivals.end(), [&](std::size_t a, std::size_t b) {
      return span_at(a).start < span_at(b).start;
    });
    std::vector<Seconds> free_at;
    for (std::size_t at : arrivals) {
      const Span& span = span_at(at);
      const auto fits = [&](Seconds end) { return end <= span.start; };
      auto lane = std::find_if(free_at.begin(), free_at.end(), fits);
      if (lane == free_at.end()) lane = free_at.insert(free_at.end(), Seconds{});
      *lane = span.end;
      threads_[at] = kFirstArrival + static_cast<std::size_t>(lane - free_at.begin());
    }
    lanes = free_at.size();
  }

  void name_process(std::size_t pid, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid,
          json_string(name));
    event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid,
          pid);
  }

  void name_thread(std::size_t pid, std::size_t tid, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, tid,
          json_string(name));
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          pid, tid, tid);
  }

  void name_devices() {
    for (std::size_t i = 0; i < cluster_.device_count(); ++i) {
      const DeviceId device(i);
      const Device& d = cluster_[device];
      name_process(process(device), d.host.empty() ? d.name : d.host + "/" + d.name);
      name_thread(process(device), kCompute, "compute");
      name_thread(process(device), kSync, "parameter sync");
      name_thread(process(device), kStatistics, "statistics");
      for (std::size_t lane = 0; lane < arrival_lanes_[i]; ++lane) {
        name_thread(process(device), kFirstArrival + lane, fmt::format("arriving {}", lane));
      }
    }
  }

  std::string title(const Task& task) const {
    const std::string& layer = graph_[task.layer].name;
    if (task.kind == TaskKind::compute) return fmt::format("{} {}", layer, name(task.phase));
    if (task.kind == TaskKind::collective) {
      const Group& group = plan_.groups()[task.detail];
      return fmt::format("{} {} all-reduce", layer, name(group.algorithm));
    }
    const char* what = task.phase == Phase::forward  ? "input"
                       : task.phase == Phase::update ? "parameters"
                                                     : "gradient";
    return fmt::format("{} {}", layer, what);
  }

  std::string arguments(const Task& task, std::size_t step, TaskId id) const {
    std::string args = fmt::format(R"("step":{},"task":{},"ready_us":{:.6f})", step, id(),
                                   micros(timeline_.span(step, id).ready));
    if (task.kind == TaskKind::compute) args += fmt::format(R"(,"shard":{})", task.shard);
    if (task.kind == TaskKind::collective) {
      const Group& group = plan_.groups()[task.detail];
      args += fmt::format(R"(,"bytes":{},"replicas":{})", group.bytes.value, group.tasks.size());
    }
    if (task.kind == TaskKind::transfer) {
      const Transfer& transfer = plan_.transfers()[task.detail];
      const auto pieces = plan_.pieces(transfer);
      args += fmt::format(R"(,"bytes":{},"from":{})", transfer.bytes.value,
                          json_string(cluster_[pieces.front().from].name));
    }
    return args;
  }

  void write_task(std::size_t step, TaskId id) {
    const Task& task = plan_[id];
    if (task.kind == TaskKind::join) return;
    const Span& span = timeline_.span(step, id);
    const char* category = task.kind == TaskKind::compute    ? "compute"
                           : task.kind == TaskKind::transfer ? "transfer"
                                                             : "collective";
    event(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"name":{},"cat":"{}","args":{{{}}}}})",
        process(task.device), threads_[slot(step, id)], micros(span.start), micros(span.duration()),
        json_string(title(task)), category, arguments(task, step, id));
    for (TaskId before : plan_.dependencies(id)) write_arrow(step, before, step, id);
    if (step == 0) return;
    for (TaskId before : plan_.carried(id)) write_arrow(step - 1, before, step, id);
  }

  // An arrow is drawn from the slice in which it begins; at its very end the next slice may begin.
  static double inside_the_end(const Span& span) {
    constexpr double kMargin = 0.01;  // microseconds; viewers count nanoseconds
    return std::max(micros(span.start), micros(span.end) - kMargin);
  }

  // Only between threads: on one thread the order shows it.
  void write_arrow(std::size_t from_step, TaskId from, std::size_t to_step, TaskId to) {
    const Task& a = plan_[from];
    const Task& b = plan_[to];
    const std::size_t from_thread = threads_[slot(from_step, from)];
    const std::size_t to_thread = threads_[slot(to_step, to)];
    if (a.kind == TaskKind::join || (a.device == b.device && from_thread == to_thread)) return;
    ++arrows_;
    event(R"({{"ph":"s","id":{},"pid":{},"tid":{},"ts":{:.6f},"name":"after","cat":"dependency"}})",
          arrows_, process(a.device), from_thread, inside_the_end(timeline_.span(from_step, from)));
    event(
        R"({{"ph":"f","bp":"e","id":{},"pid":{},"tid":{},"ts":{:.6f},"name":"after","cat":"dependency"}})",
        arrows_, process(b.device), to_thread, micros(timeline_.span(to_step, to).start));
  }

  void write_memory() {
    const auto curves = memory_curves(plan_, timeline_);
    for (std::size_t device = 0; device < curves.size(); ++device) {
      for (const MemoryUse& use : curves[device]) {
        event(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":"memory","args":{{"bytes":{}}}}})",
              process(DeviceId(device)), micros(use.at), use.bytes.value);
      }
    }
  }

  void write_links() {
    if (timeline_.link_rates().empty()) return;
    name_process(links_process(), "links (bytes per second)");
    for (const LinkRate& rate : timeline_.link_rates()) {
      event(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":{},"args":{{"rate":{:.0f}}}}})",
            links_process(), micros(rate.at), json_string(cluster_[rate.link].name),
            rate.rate.value);
    }
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<std::size_t> threads_;
  std::vector<std::size_t> arrival_lanes_;
  std::string body_;
  std::uint64_t arrows_ = 0;
};

}  // namespace

std::string print_trace(const Graph& graph, const Cluster& cluster, const Plan& plan,
                        const Timeline& timeline) {
  return TraceWriter(graph, cluster, plan, timeline).run();
}

}  // namespace strata
