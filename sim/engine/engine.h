#pragma once

// The discrete-event engine. It knows nothing of networks or layers: activities with demands on
// resources and dependencies go in, times come out.
//
// Resources are devices (one compute activity at a time) and links (capacity shared among the
// flows that cross them, max-min fair). A flow first pays its latency, using no bandwidth, then
// moves its bytes at the largest rate that fairness allows. The clock is an integer number of
// picoseconds; a duration is rounded once, when it becomes an event. Equal inputs give equal
// outputs to the bit.
//
// A Workload is built, then simulated; simulate() is const, pure and thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"

namespace strata {

/// Simulated time in picoseconds since the start.
using Tick = std::int64_t;
inline constexpr double kTicksPerSecond = 1e12;
/// Rounds to the nearest tick. Seconds must be finite, non-negative and below 2^53 ticks' safety
/// limit of 9.0e6 s; the readers of files enforce it.
Tick to_ticks(Seconds seconds);
constexpr Seconds to_seconds(Tick ticks) { return {static_cast<double>(ticks) / kTicksPerSecond}; }

using ActivityId = Index<struct ActivityTag>;

/// A flow moving at x bytes/s uses weight * x of the link's bandwidth.
struct Demand {
  LinkId link;
  double weight = 1;
  bool operator==(const Demand&) const = default;
};

/// What is to be simulated. Ids are given in the order of the calls.
class Workload {
 public:
  /// `link_bandwidths` in the order of LinkId.
  Workload(std::size_t device_count, std::span<const BytesPerSecond> link_bandwidths);

  void reserve(std::size_t activities, std::size_t demands, std::size_t dependencies);

  /// Occupies the device for `duration`. Among the ready activities of a device the one with the
  /// least (priority, ready time, id) goes first; none is interrupted.
  ActivityId add_compute(DeviceId on, Tick duration, std::uint64_t priority = 0);
  /// Moves `bytes` over all the demanded links at once, after `latency`. A link stands in the
  /// demands at most once. No demands: only the latency passes.
  ActivityId add_flow(std::span<const Demand> demands, double bytes, Tick latency);
  /// The same with weight 1 on every link.
  ActivityId add_flow(std::span<const LinkId> links, double bytes, Tick latency);
  /// Uses no resource: a join of its dependencies, followed by its `duration`.
  ActivityId add_event(Tick duration = 0);

  /// `later` becomes ready only after `earlier` ended.
  void add_dependency(ActivityId later, ActivityId earlier);
  /// Time between the end of the last dependency (or 0) and being ready.
  void set_delay(ActivityId id, Tick delay);
  /// Not ready before this time.
  void set_not_before(ActivityId id, Tick time);

  std::size_t size() const;
};

/// ready: dependencies (and delay) done. start: the device was free, or the flow (its latency
/// included) began. end: done.
struct ActivityTimes {
  std::vector<Tick> ready, start, end;
  Tick makespan = 0;
};

struct EngineStatistics {
  std::uint64_t events = 0;        ///< distinct times at which something happened
  std::uint64_t rate_solves = 0;   ///< fair-sharing problems solved
  std::uint64_t flows_resolved = 0;///< flows in them, summed
};

/// From `at` on, `flow` moves at `rate` bytes per second.
struct RateChange {
  Tick at;
  ActivityId flow;
  double rate;
  bool operator==(const RateChange&) const = default;
};

struct SimulateOptions {
  std::vector<RateChange>* rate_changes = nullptr;  ///< if given, filled in order of time
  EngineStatistics* statistics = nullptr;
};

/// Throws InputError naming the ids if the dependencies have a cycle.
ActivityTimes simulate(const Workload& workload, const SimulateOptions& options = {});

}  // namespace strata
