#pragma once

// Replay plans: activities in a file, for the engine. JSON, {"activities": [...]}, or the same
// objects one a line (JSONL), which is read line by line. In each object:
//
//   "id"                         a string or an integer (7 and "7" are the same)
//   "on" "seconds"               a compute activity on a device; "priority" (0), least first
//   "from" "to" "bytes"          a flow along the cluster's route, after its summed latency
//   "over" [LINK...] "bytes"     a flow over these links at once, after their summed latency;
//                                "weights" [...] (all 1): what of each link a rate of 1 uses
//   "latency"                    seconds, for either flow, instead of the sum
//   "event"                      seconds that use no resource: a join, or a pause
//   "after" [ID...]              dependencies; they may stand later in the file
//   "delay" "not_before"         seconds: after the last dependency; since the start
//
// Seconds are in [0, 9.0e6], bytes in [0, 1e18]. Seconds are what an activity takes on its device,
// at the speed that the device has: reading them asks for no speed. So a printed plan keeps the
// speeds it was made with, and latencies; bandwidths are the cluster's.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/engine.h"

namespace strata {

/// The ids of a plan's activities, as text, and which of them the file gives as integers. Compact:
/// one string holds them all.
class ReplayIds {
 public:
  std::size_t size() const { return begins_.size(); }
  std::string_view operator[](ActivityId id) const {
    return std::string_view(text_).substr(begins_[id()], lengths_[id()]);
  }
  bool is_integer(ActivityId id) const { return integers_[id()]; }

 private:
  friend class ReplayBuilder;
  std::string text_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> lengths_;
  std::vector<bool> integers_;
};

/// ActivityId i is the i-th activity of the file.
struct ReplayPlan {
  Workload workload;
  ReplayIds ids;
  std::string file;
  std::vector<int> lines;  ///< of the activities in it
};

/// Throws InputError "FILE:LINE: ..." for everything that is wrong, also for a cycle.
ReplayPlan read_replay(const std::string& file, const Cluster& cluster);
/// The same for text that is in memory already.
ReplayPlan parse_replay(std::string_view text, const std::string& file, const Cluster& cluster);

/// Throws InputError "FILE:LINE: ..." where an activity would end after the clock.
ActivityTimes simulate(const ReplayPlan& plan);

/// As JSON: the makespan, the time that the engine took, and each activity's times. `write` gets it
/// part by part, as it is made: a document of millions of activities would not fit in memory.
void print_times(const ReplayPlan& plan, const ActivityTimes& times, Seconds engine,
                 const std::function<void(std::string_view)>& write);

/// The workload as JSONL, with the names of the cluster whose devices and links it speaks of.
/// Reading it with the same cluster gives an equal workload, to the tick as far as a double of
/// seconds can tell ticks apart (2.5 hours). `ids`, if given, are the activities' names; otherwise
/// their numbers.
std::string print_replay(const Workload& workload, const Cluster& cluster,
                         const std::vector<std::string>& ids = {});

}  // namespace strata
