#include "tests/sim/engine/referee.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace strata {
namespace {

enum class State { blocked, delayed, queued, running, latent, moving, done };

constexpr Tick kNone = std::numeric_limits<Tick>::max();

class Referee {
 public:
  explicit Referee(const Workload& w)
      : w_(w),
        dependencies_(w.dependencies()),
        state_(w.size(), State::blocked),
        until_(w.size(), kNone),
        left_(w.size()),
        rate_(w.size()) {
    times_.ready.resize(w.size());
    times_.start.resize(w.size());
    times_.end.resize(w.size());
  }

  ActivityTimes run() {
    for (;;) {
      while (step_activities() || step_devices()) {
      }
      solve();
      const Tick next = *std::min_element(until_.begin(), until_.end());
      if (next == kNone) break;
      advance(next);
    }
    times_.makespan = now_;
    return times_;
  }

 private:
  bool unblocked(ActivityId id) const {
    return std::all_of(dependencies_.begin(), dependencies_.end(), [&](Dependency d) {
      return d.later != id || state_[d.earlier()] == State::done;
    });
  }

  bool step_activities() {
    bool any = false;
    for (std::size_t a = 0; a < w_.size(); ++a) any = step(ActivityId{a}) || any;
    return any;
  }

  // One transition of one activity, if it is due now.
  bool step(ActivityId id) {
    const std::size_t a = id();
    if (state_[a] == State::blocked) {
      if (!unblocked(id)) return false;
      times_.ready[a] = std::max(now_ + w_.delay(id), w_.not_before(id));
      return enter(a, State::delayed, times_.ready[a]);
    }
    if (state_[a] == State::queued || state_[a] == State::done || until_[a] != now_) return false;
    if (state_[a] == State::delayed) return begin(id);
    if (state_[a] == State::latent && w_.bytes(id) > 0 && !w_.demands(id).empty()) {
      left_[a] = w_.bytes(id);
      return enter(a, State::moving, kNone);
    }
    times_.end[a] = now_;
    return enter(a, State::done, kNone);
  }

  bool begin(ActivityId id) {
    times_.start[id()] = now_;
    if (w_.kind(id) == ActivityKind::compute) return enter(id(), State::queued, kNone);
    if (w_.kind(id) == ActivityKind::event) {
      return enter(id(), State::running, now_ + w_.duration(id));
    }
    return enter(id(), State::latent, now_ + w_.latency(id));
  }

  bool enter(std::size_t a, State state, Tick until) {
    state_[a] = state;
    until_[a] = until;
    return true;
  }

  bool step_devices() {
    bool any = false;
    for (std::size_t d = 0; d < w_.device_count(); ++d) any = step_device(DeviceId{d}) || any;
    return any;
  }

  bool step_device(DeviceId device) {
    ActivityId best;
    for (std::size_t a = 0; a < w_.size(); ++a) {
      const ActivityId id{a};
      if (w_.kind(id) != ActivityKind::compute || w_.device(id) != device) continue;
      if (state_[a] == State::running) return false;
      if (state_[a] == State::queued && (!best.valid() || key(id) < key(best))) best = id;
    }
    if (!best.valid()) return false;
    times_.start[best()] = now_;
    left_[best()] = static_cast<long double>(w_.duration(best));
    return enter(best(), State::running, w_.duration(best) == 0 ? now_ : kNone);
  }

  // Of a device, as the flows that move leave it.
  long double speed(DeviceId device) const {
    for (std::size_t a = 0; a < w_.size(); ++a) {
      const auto slowed = w_.slows(ActivityId{a});
      const bool slows = std::find(slowed.begin(), slowed.end(), device) != slowed.end();
      if (slows && state_[a] == State::moving) return 1 - w_.slowed_share();
    }
    return 1;
  }

  bool computes(std::size_t a) const {
    return state_[a] == State::running && w_.kind(ActivityId{a}) == ActivityKind::compute;
  }

  std::tuple<std::uint64_t, Tick, ActivityId> key(ActivityId id) const {
    return {w_.priority(id), times_.ready[id()], id};
  }

  // Progressive filling from scratch.
  void solve() {
    std::vector<ActivityId> open;
    for (std::size_t a = 0; a < w_.size(); ++a) {
      if (state_[a] == State::moving) open.push_back(ActivityId{a});
    }
    std::vector<long double> room;
    for (BytesPerSecond b : w_.link_bandwidths()) room.push_back(b.value / 1e12L);
    while (!open.empty()) freeze_next_link(open, room);
    for (std::size_t a = 0; a < w_.size(); ++a) {
      if (!computes(a)) continue;
      rate_[a] = speed(w_.device(ActivityId{a}));
      until_[a] = now_ + static_cast<Tick>(left_[a] / rate_[a] + 0.5L);
    }
  }

  void freeze_next_link(std::vector<ActivityId>& open, std::vector<long double>& room) {
    std::vector<long double> weight(room.size());
    for (ActivityId id : open) {
      for (const Demand& d : w_.demands(id)) weight[d.link()] += d.weight;
    }
    std::size_t first = room.size();
    for (std::size_t l = 0; l < room.size(); ++l) {
      if (weight[l] == 0) continue;
      if (first == room.size() || room[l] / weight[l] < room[first] / weight[first]) first = l;
    }
    const long double level = room[first] / weight[first];
    std::erase_if(open, [&](ActivityId id) {
      const auto demands = w_.demands(id);
      const auto crosses = [&](const Demand& d) { return d.link() == first; };
      if (std::none_of(demands.begin(), demands.end(), crosses)) return false;
      for (const Demand& d : demands) room[d.link()] -= d.weight * level;
      rate_[id()] = level;
      until_[id()] = now_ + static_cast<Tick>(left_[id()] / level + 0.5L + 1.0L / 128);
      return true;
    });
  }

  void advance(Tick to) {
    for (std::size_t a = 0; a < w_.size(); ++a) {
      if (state_[a] == State::moving || computes(a))
        left_[a] -= rate_[a] * static_cast<long double>(to - now_);
    }
    now_ = to;
  }

  const Workload& w_;
  const std::vector<Dependency> dependencies_;
  std::vector<State> state_;
  std::vector<Tick> until_;  // when the state ends, where that is known
  std::vector<long double> left_, rate_;
  ActivityTimes times_;
  Tick now_ = 0;
};

}  // namespace

ActivityTimes simulate_naively(const Workload& workload) {
  return Referee(workload).run();
}

}  // namespace strata
