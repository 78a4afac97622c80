#pragma once

// Puts the objects of a replay plan together: looks up names, numbers the activities, and ties
// dependencies to activities that stand later in the file. Every error is gathered with its line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/replay/replay.h"
#include "sim/replay/replay_fields.h"
#include "sim/text/diagnostics.h"

namespace strata {

class ReplayBuilder {
 public:
  ReplayBuilder(const std::string& file, const Cluster& cluster);

  /// One activity, at a line of the file; false if something is wrong with it.
  bool add(simdjson::ondemand::object object, int line);
  void add_error(int line, std::string_view message) { errors_.add({file_, line}, message); }

  bool failed() const { return !errors_.empty(); }

  ReplayPlan build() &&;

 private:
  /// A dependency on an id that is not an activity's yet.
  struct Open {
    ActivityId later;
    std::uint32_t symbol;
  };

  /// Of the table of symbols. A part of the hash, so that other symbols' text stays untouched.
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t symbol = 0;  ///< + 1; 0: empty
  };

  void add_activity();
  ActivityId add_resources();
  ActivityId add_compute();
  ActivityId add_routed_flow();
  ActivityId add_flow_over_links();
  void check_distinct();
  void add_dependencies(ActivityId id);
  DeviceId find_device(std::string_view key, std::string_view name) const;
  Tick latency_or(Seconds sum) const;

  std::uint32_t intern(std::string_view text);
  std::string_view text_of(std::uint32_t symbol) const;
  void rehash(std::size_t slots);

  void resolve();
  void check_cycles();
  ReplayIds take_ids();

  const std::string& file_;
  const Cluster& cluster_;
  Diagnostics errors_;
  Workload workload_;
  ReplayFields fields_;
  std::vector<Demand> demands_;
  std::vector<LinkId> scratch_;
  std::vector<Open> open_;
  std::vector<int> lines_;              // of the activities
  std::vector<std::uint32_t> symbols_;  // of the activities
  std::vector<bool> integers_;          // of the activities' ids

  // Symbols: every id that is mentioned, whether an activity's yet or not.
  std::string text_;
  std::vector<std::uint64_t> begins_;   // of each symbol in text_, and the end
  std::vector<ActivityId> activities_;  // invalid: none yet
  std::vector<Slot> slots_;             // open addressing
};

}  // namespace strata
