#include "sim/simulate/round_period.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "sim/engine/tick.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

/// What a device computes of one round without a break: a forward pass, gradients of inputs with or
/// without those of parameters, or these alone. The layer and the phase of its first task, and
/// `forward`, tell the same work of other rounds.
struct Work {
  std::uint32_t round = 0;
  Phase phase = Phase::forward;
  LayerId layer;
  bool forward = false;  ///< not computed again for a backward pass
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
using Key = std::tuple<LayerId, Phase, bool, std::uint32_t>;

// All times are whole ticks: a difference is one, too, but for what doubles round.
Seconds in_ticks(Seconds time) {
  return to_seconds(to_ticks(time));
}

class Comparison {
 public:
  Comparison(const Plan& plan, std::span<const Span> step, double tolerance)
      : tolerance_(tolerance), devices_(work_of_devices(plan, step)), full_(full_time(devices_)) {
    std::erase_if(devices_, [](const std::vector<Work>& works) { return works.empty(); });
    window_ = compared_time(step);
    known_.resize(devices_.size());
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const Work& work : devices_[d]) {
        known_[d][{work.layer, work.phase, work.forward, work.round}] = &work;
      }
    }
  }

  /// Whether so many rounds are a period.
  std::optional<RoundPeriod> period(std::uint32_t rounds) const {
    if (devices_.empty()) return std::nullopt;
    const std::optional<Seconds> time = last_distance(rounds);
    if (!time) return std::nullopt;
    const Seconds from = full_.to - *time - window_;
    if (from < full_.from) return std::nullopt;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!repeats(d, rounds, from, *time)) return std::nullopt;
    }
    // What is under way then began since `from`.
    return RoundPeriod{rounds, from + 0.5 * window_, *time};
  }

 private:
  // What is under way at one time began in it, and so did what is on the way to other devices.
  Seconds compared_time(std::span<const Span> step) const {
    Seconds longest;
    for (const Span& span : step) {
      if (span.start < full_.to) longest = std::max(longest, span.end - span.start);
    }
    for (const std::vector<Work>& works : devices_) {
      for (const Work& work : works) longest = std::max(longest, work.end - work.start);
    }
    return 2.0 * longest;
  }

  std::optional<Seconds> last_distance(std::uint32_t rounds) const {
    std::optional<Seconds> last;
    for (const Work& work : devices_.front()) {
      const Work* const next = work.start >= full_.from ? same(0, work, rounds) : nullptr;
      if (next != nullptr && next->start <= full_.to) last = in_ticks(next->start - work.start);
    }
    return last;
  }

  // The same work of a round so many later, or earlier.
  const Work* same(std::size_t device, const Work& work, std::int64_t rounds) const {
    const std::int64_t round = work.round + rounds;
    if (round < 0) return nullptr;
    const auto at = known_[device].find(
        {work.layer, work.phase, work.forward, static_cast<std::uint32_t>(round)});
    return at != known_[device].end() ? at->second : nullptr;
  }

  bool is_later_by(Seconds time, const Work* work, const Work* next) const {
    if (work == nullptr || next == nullptr) return false;
    const auto near = [&](Seconds found) {
      return std::abs((found - time).value) <= tolerance_ * time.value;
    };
    return near(next->start - work->start) && near(next->end - work->end);
  }

  // From either side: what should begin in the compared time must not do so before or after it.
  bool repeats(std::size_t device, std::uint32_t rounds, Seconds from, Seconds time) const {
    std::size_t compared = 0;
    for (const Work& work : devices_[device]) {
      if (work.start >= from && work.start <= full_.to - time) {
        if (!is_later_by(time, &work, same(device, work, rounds))) return false;
        ++compared;
      }
      if (work.start >= from + time && work.start <= full_.to) {
        const auto earlier = -static_cast<std::int64_t>(rounds);
        if (!is_later_by(time, same(device, work, earlier), &work)) return false;
      }
    }
    return compared > 0;
  }

  double tolerance_;
  std::vector<std::vector<Work>> devices_;
  Full full_;
  Seconds window_;  // in which all devices must do what they did a period before
  std::vector<std::map<Key, const Work*>> known_;  // by device
};

}  // namespace

// A device's state at one time is that of a period before where what it does from then on is, too.
std::optional<RoundPeriod> round_period(const Plan& plan, std::span<const Span> step,
                                        std::uint32_t rounds, double tolerance) {
  const Comparison comparison(plan, step, tolerance);
  for (std::uint32_t more = rounds; more < plan.rounds(); more += rounds) {
    if (const auto found = comparison.period(more)) return found;
  }
  return std::nullopt;
}

}  // namespace strata
