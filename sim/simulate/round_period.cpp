#include "sim/simulate/round_period.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "sim/plan/work_kind.h"

namespace strata {
namespace {

constexpr double kRounding = 1e-9;

/// What a device computes of one round without a break: a forward pass, gradients of inputs with or
/// without those of parameters, or these alone.
struct Work {
  std::uint32_t round = 0;
  Phase phase = Phase::forward;  ///< of the first task, which with
  LayerId layer;                 ///< tells the same work of other rounds
  bool forward = false;
  Seconds start, end;
};

std::vector<std::vector<Work>> work_of_devices(const Plan& plan, std::span<const Span> step) {
  std::vector<std::vector<Work>> devices(plan.device_count());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::compute || task.phase == Phase::update) continue;
    std::vector<Work>& works = devices[task.device()];
    const bool forward = is_forward(task.phase) && !task.again;
    const bool goes_on =
        !works.empty() && works.back().round == task.round && works.back().forward == forward;
    if (!goes_on)
      works.push_back({task.round, task.phase, task.layer, forward, step[i].start, step[i].end});
    works.back().start = std::min(works.back().start, step[i].start);
    works.back().end = std::max(works.back().end, step[i].end);
  }
  return devices;
}

/// Where all devices compute forward and backward passes by turns.
struct Full {
  Seconds from, to{std::numeric_limits<double>::infinity()};
};
Full full_time(const std::vector<std::vector<Work>>& devices) {
  Full full;
  for (const std::vector<Work>& works : devices) {
    if (works.empty()) continue;
    const auto backward =
        std::find_if(works.begin(), works.end(), [](const Work& work) { return !work.forward; });
    const auto last =
        std::find_if(works.rbegin(), works.rend(), [](const Work& work) { return work.forward; });
    if (backward == works.end() || last == works.rend()) return {};
    full.from = std::max(full.from, backward->start);
    full.to = std::min(full.to, last->start);
  }
  return full;
}

// By what tells the same work of other rounds.
using Key = std::tuple<LayerId, Phase, std::uint32_t>;
std::map<Key, const Work*> by_round(const std::vector<Work>& works) {
  std::map<Key, const Work*> known;
  for (const Work& work : works) known[{work.layer, work.phase, work.round}] = &work;
  return known;
}

/// Work, and the same so many rounds later.
using Pair = std::pair<const Work*, const Work*>;
std::vector<Pair> pairs(const std::vector<Work>& works, const Full& full, std::uint32_t rounds) {
  const std::map<Key, const Work*> known = by_round(works);
  std::vector<Pair> found;
  for (const Work& work : works) {
    const auto later = known.find({work.layer, work.phase, work.round + rounds});
    if (later == known.end() || work.start < full.from || later->second->start > full.to) continue;
    found.emplace_back(&work, later->second);
  }
  return found;
}

}  // namespace

// Only the last two periods count: a pipeline takes some to settle.
std::optional<RoundPeriod> round_period(const Plan& plan, std::span<const Span> step,
                                        std::uint32_t rounds) {
  const std::vector<std::vector<Work>> devices = work_of_devices(plan, step);
  Full full = full_time(devices);
  std::optional<Seconds> period;
  for (const std::vector<Work>& works : devices) {
    if (works.empty()) continue;
    const std::vector<Pair> compared = pairs(works, full, rounds);
    if (compared.empty()) return std::nullopt;
    if (!period) {
      period = compared.back().second->start - compared.back().first->start;
      full.from = std::max(full.from, full.to - 2 * *period);
    }
    for (const auto& [work, later] : compared) {
      if (work->start < full.from) continue;
      for (const Seconds time : {later->start - work->start, later->end - work->end}) {
        if (std::abs((time - *period).value) > kRounding * period->value) return std::nullopt;
      }
    }
  }
  if (!period || full.from + *period > full.to) return std::nullopt;
  return RoundPeriod{rounds, full.from, *period};
}

}  // namespace strata
