#pragma once

// Puts a trace's events together: names threads, orders slices, ties the ends of arrows.

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/importers/trace/read_trace.h"
#include "sim/importers/trace/trace_event.h"

namespace strata {

class TraceBuilder {
 public:
  /// Throws InputError without a place.
  void add(const TraceEvent& event);
  Trace build() &&;

 private:
  using ThreadKey = std::pair<std::string, std::string>;
  struct Row {
    std::string name;
    double order = 0;
    std::size_t number = 0;  ///< in the file
  };
  struct ArrowEnd {
    std::uint32_t thread = 0;
    Seconds at;
  };
  struct Arrow {
    std::vector<ArrowEnd> from, to;
  };

  void add_slice(const TraceEvent& event);
  void add_name(const TraceEvent& event);
  void add_value(const TraceEvent& event);
  void add_arrow_end(const TraceEvent& event);
  Seconds time_of(const TraceEvent& event) const;
  Row& process(std::string_view id);
  std::uint32_t thread(const TraceEvent& event);
  std::uint32_t intern(std::string_view text);
  std::string process_name(const std::string& id) const;
  std::string thread_name(const ThreadKey& key) const;
  void order_threads();
  void order_slices();
  void begin_at_zero();
  void take_counters();
  void tie_arrows();
  std::uint32_t slice_at(const ArrowEnd& end) const;

  Trace trace_;
  std::map<std::string, Row, std::less<>> processes_;
  std::map<ThreadKey, std::uint32_t> thread_numbers_;
  std::vector<std::pair<ThreadKey, Row>> threads_;  // in the order of the file
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<Seconds, double>>> counters_;
  std::map<std::string, Arrow, std::less<>> arrows_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::vector<std::size_t> first_slice_;  // by thread, and the end
  simdjson::ondemand::parser args_;
};

}  // namespace strata
