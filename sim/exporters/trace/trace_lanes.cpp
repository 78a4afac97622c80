#include "sim/exporters/trace/trace_lanes.h"

#include <algorithm>

#include "sim/plan/work_kind.h"

namespace strata {
namespace {

class LaneFinder {
 public:
  LaneFinder(const Plan& plan, const Timeline& timeline) : plan_(plan), timeline_(timeline) {
    lanes_.of.resize(timeline.steps() * plan.size());
    lanes_.arrivals.resize(plan.device_count());
  }

  Lanes run() && {
    std::vector<std::vector<std::size_t>> arrivals(plan_.device_count());
    for (std::size_t at = 0; at < lanes_.of.size(); ++at) {
      const Task& task = plan_[TaskId(at % plan_.size())];
      if (arrives(task)) arrivals[task.device()].push_back(at);
      lanes_.of[at] = fixed_lane(task);
    }
    for (std::size_t device = 0; device < arrivals.size(); ++device) {
      lanes_.arrivals[device] = spread(std::move(arrivals[device]));
    }
    return std::move(lanes_);
  }

 private:
  static bool arrives(const Task& task) {
    return task.kind == TaskKind::transfer && task.stream == Stream::links;
  }

  static std::size_t fixed_lane(const Task& task) {
    if (task.stream == Stream::device) return kDeviceLane;
    return work_kind(task) == WorkKind::sync ? kSyncLane : kStatisticsLane;
  }

  const Span& span(std::size_t at) const {
    return timeline_.span(at / plan_.size(), TaskId(at % plan_.size()));
  }

  /// The number of lanes that it took.
  std::size_t spread(std::vector<std::size_t> arrivals) {
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [&](std::size_t a, std::size_t b) { return span(a).start < span(b).start; });
    std::vector<Seconds> free_at;
    for (const std::size_t at : arrivals) {
      const auto fits = [&](Seconds end) { return end <= span(at).start; };
      auto lane = std::find_if(free_at.begin(), free_at.end(), fits);
      if (lane == free_at.end()) lane = free_at.insert(free_at.end(), Seconds{});
      *lane = span(at).end;
      lanes_.of[at] = kFirstArrivalLane + static_cast<std::size_t>(lane - free_at.begin());
    }
    return free_at.size();
  }

  const Plan& plan_;
  const Timeline& timeline_;
  Lanes lanes_;
};

}  // namespace

Lanes assign_lanes(const Plan& plan, const Timeline& timeline) {
  return LaneFinder(plan, timeline).run();
}

}  // namespace strata
