#pragma once

// The discrete-event engine. It knows nothing of networks or layers: activities with demands on
// resources and dependencies go in, times come out.
//
// Resources are devices (one compute activity at a time) and links (capacity shared among the
// flows that cross them, max-min fair; fair_sharing.h has the theory). A flow first pays its
// latency, using no bandwidth, then moves its bytes at the largest rate that fairness allows. The
// clock is an integer number of picoseconds; a duration is rounded once, when it becomes an event.
// All that happens at one time is handled together: first everything that ends or becomes ready,
// then devices that are free choose their next activity, then rates are solved. Equal inputs give
// equal outputs to the bit.
//
// A Workload is built, then simulated; simulate() is const, pure and thread-safe.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/engine/tick.h"
#include "sim/engine/workload.h"

namespace strata {

/// ready: dependencies (and delay) done. start: the device was free, or the flow (its latency
/// included) began. end: done.
struct ActivityTimes {
  std::vector<Tick> ready, start, end;
  Tick makespan = 0;  ///< of one period, where others repeat it
  /// Activities of a period, where all later ones are like the last that is here
  /// (SimulateOptions); 0 where these are all.
  std::size_t period = 0;

  bool repeats() const { return period > 0; }
  bool operator==(const ActivityTimes&) const = default;
};

struct EngineStatistics {
  std::uint64_t events = 0;          ///< distinct times at which something happened
  std::uint64_t rate_solves = 0;     ///< fair-sharing problems solved
  std::uint64_t flows_resolved = 0;  ///< flows in them, summed
};

/// From `at` on, `flow` moves at `rate` bytes per second, until the next change or its end (which
/// is not a change). What is changed more than once at one time stands there more than once; the
/// last counts.
struct RateChange {
  Tick at;
  ActivityId flow;
  double rate;
  bool operator==(const RateChange&) const = default;
};

struct SimulateOptions {
  std::vector<RateChange>* rate_changes = nullptr;  ///< if given, filled in order of time
  EngineStatistics* statistics = nullptr;
  /// Of a workload that repeats (Workload::repeat): the activities of one period. Where the first
  /// period has ended, and the second began when it ended and did what it did, as long after as it
  /// took, until what is done and what is under way is what it was then, it will go on so, and so
  /// does every later one. Then only the first is simulated; the times, rate changes and statistics
  /// are of that alone. Flows may start in another order in later periods, which rounds sums of
  /// rates otherwise. Precondition: activities of a device have distinct priorities, also over
  /// periods, so that how long they are ready does not matter.
  std::size_t period = 0;
  /// Also where the second period does something otherwise at first, as it begins before the first
  /// one has ended: later periods are like the second, and each takes as long as the first. Then
  /// the times are of these two.
  bool settles = false;
  /// Looked at every few thousand events (sim/base/cancel.h).
  const std::atomic<bool>* cancelled = nullptr;
};

/// An activity would end after kMaxTick. Who knows what its number stands for says so instead.
class ClockEnds : public InputError {
 public:
  explicit ClockEnds(ActivityId id);

  ActivityId activity;
};

/// " would end after 9e+06 s, where the clock ends": what is said behind an activity's name.
std::string clock_ends_text();

/// Throws InputError naming the ids if the dependencies have a cycle, ClockEnds, and Cancelled once
/// it is called off.
ActivityTimes simulate(const Workload& workload, const SimulateOptions& options = {});

/// Activities that wait for one another, each for the next and the last for the first, which
/// is the one with the least id; empty if there is no cycle.
std::vector<ActivityId> find_cycle(const Workload& workload);

/// The times of all activities, where simulate() gave those of the first periods alone. The
/// workload has no delays. Throws ClockEnds, for the activity with the least id that ends too late.
ActivityTimes all_periods(const Workload& workload, const ActivityTimes& first);

}  // namespace strata
