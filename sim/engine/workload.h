#pragma once

// What is to be simulated: activities with demands on resources, and dependencies among them.
// Built once by its add_ functions, then only read (and thread-safe to read). An activity costs
// 16 bytes and a dependency 8; flows that demand the same links with the same weights and latency
// share one route, and delays, not-before times and priorities cost nothing where none is set. What
// repeats is kept once, while all copies are equal.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/engine/tick.h"

namespace strata {

using ActivityId = Index<struct ActivityTag>;

/// One byte of a link among all that an int64 can count is more than the least of these.
inline constexpr double kLeastWeight = 1e-20, kMostWeight = 1e9;

/// A flow moving at x bytes/s uses weight * x of the link's bandwidth.
struct Demand {
  LinkId link;
  double weight = 1;
  bool operator==(const Demand&) const = default;
};

enum class ActivityKind : std::uint8_t { compute, flow, event };

/// `later` becomes ready only after `earlier` ended.
struct Dependency {
  ActivityId later, earlier;
  bool operator==(const Dependency&) const = default;
};

/// Ids are given in the order of the calls.
class Workload {
 public:
  /// `link_bandwidths` in the order of LinkId. Throws InputError unless all are from
  /// kLeastBandwidth to kMostBandwidth.
  Workload(std::size_t device_count, std::span<const BytesPerSecond> link_bandwidths);

  void reserve(std::size_t activities, std::size_t demands, std::size_t dependencies);

  /// Occupies the device for `duration`. Among the ready activities of a device the one with the
  /// least (priority, ready time, id) goes first; none is interrupted.
  ActivityId add_compute(DeviceId on, Tick duration, std::uint64_t priority = 0);
  /// Moves `bytes` over all the demanded links at once, after `latency`. A link stands in the
  /// demands at most once. No demands: only the latency passes. Throws InputError unless weights
  /// are from kLeastWeight to kMostWeight.
  ActivityId add_flow(std::span<const Demand> demands, double bytes, Tick latency);
  /// The same with weight 1 on every link.
  ActivityId add_flow(std::span<const LinkId> links, double bytes, Tick latency);
  /// Devices that flows slow together; their number is for slow().
  std::uint32_t add_device_set(std::span<const DeviceId> devices);
  /// While the flow moves bytes, the devices of the set compute at 1 - `share` of their speed,
  /// however many flows slow them. 0 < share < 1, the same for all flows of the workload.
  void slow(ActivityId flow, std::uint32_t device_set, double share);
  /// Uses no resource: a join of its dependencies, followed by its `duration`.
  ActivityId add_event(Tick duration = 0);

  /// `later` becomes ready only after `earlier` ended.
  void add_dependency(ActivityId later, ActivityId earlier);
  /// Time between the end of the last dependency (or 0) and being ready.
  void set_delay(ActivityId id, Tick delay);
  /// Not ready before this time.
  void set_not_before(ActivityId id, Tick time);

  /// Adds all that was added so far `copies` times more, one copy after another: the k-th copy of
  /// `id` is id + k * size. `across`: what waits in a copy for which activity of the one before it.
  /// Priorities grow by `priority_step` from copy to copy. Precondition: no delays, no times before
  /// which something is not ready; it is called once, and no activity is added after it.
  void repeat(std::size_t copies, std::vector<Dependency> across, std::uint64_t priority_step);
  /// Of a compute activity, in place of the one that it was added with.
  void set_duration(ActivityId id, Tick duration);

  std::size_t size() const { return period_ * (copies_ + 1); }
  std::size_t device_count() const { return device_count_; }
  std::span<const BytesPerSecond> link_bandwidths() const { return bandwidths_; }
  /// All of them.
  std::vector<Dependency> dependencies() const;
  /// Calls visit(later, earlier) for all of them in the same order: those of a copy, then those on
  /// the copy before it, then those of the next copy.
  template <class Visit>
  void for_each_dependency(Visit visit) const;
  /// After so many activities the dependencies repeat: inside() has those of the first ones, and
  /// across() those of the ones that follow on these, as repeat() takes them. Where nothing
  /// repeats: all activities, all dependencies and none.
  std::size_t period() const { return copies_ > 0 && !listed_ ? period_ : size(); }
  std::span<const Dependency> inside() const { return dependencies_; }
  std::span<const Dependency> across() const { return across_; }
  /// Whether every dependency is on an activity that was added earlier: then there is no cycle.
  bool in_order() const { return in_order_; }

  ActivityKind kind(ActivityId id) const { return activity(id).kind; }
  /// Of a compute activity.
  DeviceId device(ActivityId id) const { return DeviceId{index(id)}; }
  /// Of a compute activity or an event.
  Tick duration(ActivityId id) const { return static_cast<Tick>(activity(id).amount); }
  std::uint64_t priority(ActivityId id) const {
    if (id() < priorities_.size()) return priorities_[id()];
    return copies_ > 0 ? priority_of_copy(id) : 0;
  }
  /// Of a flow.
  double bytes(ActivityId id) const;
  std::span<const Demand> demands(ActivityId id) const;
  Tick latency(ActivityId id) const { return routes_[index(id)].latency; }

  /// Of a flow: the devices that it slows.
  std::span<const DeviceId> slows(ActivityId id) const;
  /// What they lose of their speed; 0: no flow slows any.
  double slowed_share() const { return slowed_share_; }

  Tick delay(ActivityId id) const { return id() < delays_.size() ? delays_[id()] : 0; }
  Tick not_before(ActivityId id) const { return id() < not_before_.size() ? not_before_[id()] : 0; }
  /// Brings what kind(), device(), duration() and bytes() read into the cache.
  void prefetch(ActivityId id) const { __builtin_prefetch(&activity(id)); }

 private:
  struct Activity {
    std::uint64_t amount;  ///< ticks, or the bits of the double that counts bytes
    std::uint32_t index;   ///< of the device or the route
    ActivityKind kind;
  };
  struct Route {
    std::uint32_t begin, end;  ///< in demands_
    Tick latency;
  };

  /// Copies that are alike have one.
  const Activity& activity(ActivityId id) const {
    const std::size_t at = id();
    return activities_[at < activities_.size() ? at : at % activities_.size()];
  }
  std::size_t index(ActivityId id) const { return activity(id).index; }
  std::uint64_t priority_of_copy(ActivityId id) const;
  void list_dependencies();
  ActivityId add(ActivityKind kind, std::size_t index, std::uint64_t amount);
  std::uint32_t intern(std::span<const Demand> demands, Tick latency);
  void check(const Demand& demand) const;
  bool same(const Route& route, std::span<const Demand> demands, Tick latency) const;
  void rehash(std::size_t slots);

  std::size_t device_count_;
  std::vector<BytesPerSecond> bandwidths_;
  std::size_t period_ = 0;  ///< activities that were added, before copies of them
  std::size_t copies_ = 0;
  std::uint64_t priority_step_ = 0;        ///< from copy to copy
  std::vector<Activity> activities_;       ///< of a period; all once two copies differ
  std::vector<Dependency> dependencies_;   ///< of a period, or all where they are `listed_`
  std::vector<Dependency> across_;         ///< of a period on that before it; none where listed
  bool listed_ = false;                    ///< since some were added after repeat()
  std::vector<Tick> delays_, not_before_;  ///< these three end at the last that was set
  std::vector<std::uint64_t> priorities_;
  std::vector<Demand> demands_;
  std::vector<Route> routes_;
  std::vector<std::uint32_t> route_slots_;  ///< open addressing: a route's number + 1, or 0
  std::vector<Demand> scratch_;
  std::vector<std::vector<DeviceId>> device_sets_;
  std::vector<std::uint32_t> slowed_sets_;  ///< by flow: its set's number + 1; ends at the last
  double slowed_share_ = 0;
  bool in_order_ = true;
};

template <class Visit>
void Workload::for_each_dependency(Visit visit) const {
  for (const auto& [later, earlier] : dependencies_) visit(later, earlier);
  if (listed_) return;
  for (std::size_t k = 1; k <= copies_; ++k) {
    const std::size_t begin = k * period_;
    for (const auto& [later, earlier] : dependencies_) {
      visit(ActivityId{later() + begin}, ActivityId{earlier() + begin});
    }
    for (const auto& [later, earlier] : across_) {
      visit(ActivityId{later() + begin}, ActivityId{earlier() + begin - period_});
    }
  }
}

}  // namespace strata
