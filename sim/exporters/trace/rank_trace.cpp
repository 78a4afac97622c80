#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/exporters/trace/trace.h"
#include "sim/exporters/trace/trace_lanes.h"
#include "sim/plan/task_title.h"
#include "sim/text/json.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

constexpr int kDeviceProcess = 0, kHostProcess = 1;

double in_micros(Seconds seconds) {
  return seconds.value * 1e6;
}

std::string_view kernel_of(GroupWork work) {
  switch (work) {
    case GroupWork::reduce_scatter:
      return "ncclKernel_ReduceScatter ";
    case GroupWork::all_gather:
      return "ncclKernel_AllGather ";
    case GroupWork::all_to_all:
      return "ncclKernel_SendRecv ";
    case GroupWork::all_reduce:
      break;
  }
  return "ncclKernel_AllReduce ";
}

// Nothing for what no kernel of a library does.
std::string_view library_kernel(const Plan& plan, const Task& task) {
  if (const Exchange* exchange = plan.exchange_of(task)) return kernel_of(exchange->work);
  switch (task.kind) {
    case TaskKind::transfer:
      return plan.is_on_host(task) ? "" : "ncclKernel_SendRecv ";
    case TaskKind::reduce:
      return kernel_of(GroupWork::reduce_scatter);
    case TaskKind::gather:
      return kernel_of(GroupWork::all_gather);
    case TaskKind::collective:
      return kernel_of(plan.groups()[task.detail].work);
    default:
      return {};
  }
}

std::string kernel_name(const Graph& graph, const Plan& plan, const Task& task) {
  return std::string(library_kernel(plan, task)) + task_title(graph, plan, task);
}

// Of an exchange, the tensor that all devices have together.
Bytes bytes_of(const Plan& plan, const Task& task) {
  if (const Exchange* exchange = plan.exchange_of(task)) return exchange->bytes;
  return task.kind == TaskKind::transfer ? plan.transfers()[task.detail].bytes
                                         : plan.groups()[task.detail].bytes;
}

class RankWriter {
 public:
  RankWriter(const Graph& graph, const Cluster& cluster, const Plan& plan, const Timeline& timeline)
      : graph_(graph),
        cluster_(cluster),
        plan_(plan),
        timeline_(timeline),
        lanes_(assign_lanes(plan, timeline)),
        memory_(memory_curves(plan, timeline)),
        tasks_(plan.device_count()) {
    std::set<std::pair<const Exchange*, DeviceId>> exchanges;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Task& task = plan[TaskId(i)];
      if (task.kind == TaskKind::join) continue;
      const Exchange* exchange = plan.exchange_of(task);  // one kernel, however many send to it
      if (exchange != nullptr && !exchanges.emplace(exchange, task.device).second) continue;
      tasks_[task.device()].push_back(TaskId(i));
    }
  }

  std::string run(DeviceId device) {
    body_.clear();
    correlation_ = 0;
    name_threads(device);
    const std::vector<Seconds> begins = step_begins(device);
    for (std::size_t step = 0; step < timeline_.steps(); ++step) {
      write_step(step, begins[step], begins[step + 1]);
      for (TaskId task : tasks_[device()]) {
        write_launch(step, task, begins[step], begins[step + 1]);
        write_kernel(device, step, task);
      }
    }
    write_memory(device);
    return fmt::format("{{\n{}\n\"traceEvents\":[\n{}\n]}}\n", header(device), body_);
  }

 private:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    if (!body_.empty()) body_ += ",\n";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  // HTA finds the rank by a pattern with the space.
  std::string header(DeviceId device) const {
    return fmt::format(R"("schemaVersion":1,"displayTimeUnit":"ms",)"
                       R"("distributedInfo":{{"backend":"nccl","rank": {},"world_size":{}}},)"
                       R"("deviceProperties":[{{"id":0,"name":{}}}],)",
                       device(), plan_.device_count(), json_string(cluster_[device].kind));
  }

  void name(std::string_view what, int pid, std::size_t tid, const std::string& called) {
    event(R"({{"ph":"M","pid":{},"tid":{},"ts":0,"name":"{}","args":{{"name":{}}}}})", pid, tid,
          what, json_string(called));
  }

  void name_threads(DeviceId device) {
    name("process_name", kHostProcess, 1, "host");
    name("thread_name", kHostProcess, 1, "steps and launches");
    name("process_name", kDeviceProcess, 0, cluster_[device].full_name());
    const std::size_t lanes = kFirstArrivalLane + lanes_.arrivals[device()];
    for (std::size_t lane = kDeviceLane; lane < lanes; ++lane) {
      name("thread_name", kDeviceProcess, lane, fmt::format("stream {}", lane));
    }
  }

  // A step begins with its first computation here, and ends where the next one begins.
  std::vector<Seconds> step_begins(DeviceId device) const {
    std::vector<Seconds> begins(timeline_.steps() + 1);
    for (std::size_t step = 0; step < timeline_.steps(); ++step) {
      Seconds first = timeline_.makespan();
      for (TaskId task : tasks_[device()]) {
        if (plan_[task].kind != TaskKind::compute) continue;
        first = std::min(first, timeline_.span(step, task).start);
      }
      begins[step] = step == 0 ? Seconds{} : std::max(first, begins[step - 1]);
    }
    begins.back() = timeline_.makespan();
    return begins;
  }

  void write_step(std::size_t step, Seconds begin, Seconds end) {
    event(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":{},"tid":1,"ts":{:.6f},"dur":{:.6f}}})",
        step, kHostProcess, in_micros(begin), in_micros(end - begin));
  }

  // Within the step, which is how readers tell a kernel's step; they round to microseconds.
  void write_launch(std::size_t step, TaskId id, Seconds begin, Seconds end) {
    constexpr Seconds kMargin{2e-6};
    const Seconds ready = timeline_.span(step, id).ready;
    const Seconds at = std::max(begin, std::min(ready, end - kMargin));
    event(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{},"tid":1,"ts":{:.6f},"dur":0.000000,"args":{{"correlation":{}}}}})",
        kHostProcess, in_micros(at), ++correlation_);
  }

  void write_kernel(DeviceId device, std::size_t step, TaskId id) {
    const Task& task = plan_[id];
    const Span& span = timeline_.span(step, id);
    const std::size_t lane = lanes_.of[step * plan_.size() + id()];
    event(
        R"({{"ph":"X","cat":"kernel","name":{},"pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"args":{{"device":0,"stream":{},"correlation":{},"rank":{},"step":{},"task":{}{}}}}})",
        json_string(kernel_name(graph_, plan_, task)), kDeviceProcess, lane, in_micros(span.start),
        in_micros(span.duration()), lane, correlation_, device(), step, id(), details(task));
  }

  std::string details(const Task& task) const {
    if (task.kind == TaskKind::compute) return computation_args(graph_, plan_, task);
    return fmt::format(R"(,"bytes":{})", bytes_of(plan_, task).value);
  }

  void write_memory(DeviceId device) {
    for (const MemoryUse& use : memory_[device()]) {
      event(R"({{"ph":"C","pid":{},"tid":0,"ts":{:.6f},"name":"memory","args":{{"bytes":{}}}}})",
            kDeviceProcess, in_micros(use.at), use.bytes.value);
    }
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Plan& plan_;
  const Timeline& timeline_;
  Lanes lanes_;
  std::vector<std::vector<MemoryUse>> memory_;
  std::vector<std::vector<TaskId>> tasks_;  // by device
  std::string body_;
  std::uint64_t correlation_ = 0;
};

}  // namespace

std::vector<std::string> print_rank_traces(const Graph& graph, const Cluster& cluster,
                                           const Plan& plan, const Timeline& timeline) {
  RankWriter writer(graph, cluster, plan, timeline);
  std::vector<std::string> traces;
  for (std::size_t i = 0; i < plan.device_count(); ++i) traces.push_back(writer.run(DeviceId(i)));
  return traces;
}

}  // namespace strata
