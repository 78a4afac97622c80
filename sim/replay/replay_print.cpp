#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sim/replay/replay.h"
#include "sim/text/json.h"

namespace strata {
namespace {

class Printer {
 public:
  Printer(const Workload& workload, const Cluster& cluster, const std::vector<std::string>& ids)
      : workload_(workload), cluster_(cluster), ids_(ids), waits_for_(workload.size()) {
    for (const Dependency& d : workload.dependencies()) {
      waits_for_[d.later()].push_back(d.earlier);
    }
  }

  std::string print() {
    for (std::size_t a = 0; a < workload_.size(); ++a) print_activity(ActivityId{a});
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  // With twelve decimals, a tick's worth.
  static std::string seconds(Tick ticks) {
    constexpr Tick kSecond = static_cast<Tick>(kTicksPerSecond);
    return fmt::format("{}.{:012}", ticks / kSecond, ticks % kSecond);
  }

  std::string id(ActivityId a) const {
    return ids_.empty() ? std::to_string(a()) : json_string(ids_[a()]);
  }

  void print_activity(ActivityId a) {
    put("{{\"id\":{}", id(a));
    switch (workload_.kind(a)) {
      case ActivityKind::compute:
        print_compute(a);
        break;
      case ActivityKind::flow:
        print_flow(a);
        break;
      case ActivityKind::event:
        put(",\"event\":{}", seconds(workload_.duration(a)));
        break;
    }
    if (workload_.delay(a) > 0) put(",\"delay\":{}", seconds(workload_.delay(a)));
    if (workload_.not_before(a) > 0) put(",\"not_before\":{}", seconds(workload_.not_before(a)));
    const char* before = ",\"after\":[";
    for (ActivityId earlier : waits_for_[a()]) put("{}{}", std::exchange(before, ","), id(earlier));
    put("{}", waits_for_[a()].empty() ? "}\n" : "]}\n");
  }

  void print_compute(ActivityId a) {
    put(",\"on\":{},\"seconds\":{}", json_string(cluster_[workload_.device(a)].name),
        seconds(workload_.duration(a)));
    if (workload_.priority(a) > 0) put(",\"priority\":{}", workload_.priority(a));
  }

  void print_flow(ActivityId a) {
    const std::span<const Demand> demands = workload_.demands(a);
    if (demands.empty()) return put(",\"event\":{}", seconds(workload_.latency(a)));
    bool weighted = false;
    const char* before = "";
    put(",\"over\":[");
    for (const Demand& d : demands) {
      put("{}{}", std::exchange(before, ","), json_string(cluster_[d.link].name));
      weighted = weighted || d.weight != 1;
    }
    before = "],\"weights\":[";
    for (const Demand& d : demands) {
      if (weighted) put("{}{}", std::exchange(before, ","), d.weight);
    }
    put("],\"bytes\":{},\"latency\":{}", workload_.bytes(a), seconds(workload_.latency(a)));
  }

  const Workload& workload_;
  const Cluster& cluster_;
  const std::vector<std::string>& ids_;
  std::vector<std::vector<ActivityId>> waits_for_;
  std::string text_;
};

constexpr std::size_t kWriteAtOnce = 1 << 16;

// An integer stays one.
std::string id_json(const ReplayIds& ids, ActivityId id) {
  return ids.is_integer(id) ? std::string(ids[id]) : json_string(ids[id]);
}

}  // namespace

void print_times(const ReplayPlan& plan, const ActivityTimes& times, Seconds engine,
                 const std::function<void(std::string_view)>& write) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text),
                 "{{\n  \"makespan_seconds\": {},\n  \"engine_seconds\": {},\n  \"activities\": [",
                 to_seconds(times.makespan).value, engine.value);
  for (std::size_t i = 0; i < plan.ids.size(); ++i) {
    fmt::format_to(std::back_inserter(text),
                   "{}\n    {{\"id\": {}, \"ready\": {}, \"start\": {}, \"end\": {}}}",
                   i == 0 ? "" : ",", id_json(plan.ids, ActivityId(i)),
                   to_seconds(times.ready[i]).value, to_seconds(times.start[i]).value,
                   to_seconds(times.end[i]).value);
    if (text.size() < kWriteAtOnce) continue;
    write({text.data(), text.size()});
    text.clear();
  }
  fmt::format_to(std::back_inserter(text), "{}]\n}}\n", plan.ids.size() == 0 ? "" : "\n  ");
  write({text.data(), text.size()});
}

std::string print_replay(const Workload& workload, const Cluster& cluster,
                         const std::vector<std::string>& ids) {
  return Printer(workload, cluster, ids).print();
}

}  // namespace strata
