#pragma once

// Trace-event JSON read back, as `strata predict --trace` and many profilers write it: an object
// with "traceEvents", or the list of events alone. Kept are complete slices (ph X), names (M),
// counters (C) and arrows (s, f); events of other phases are counted. Times in seconds from the
// first event. Value; pure functions.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace strata {

/// A row of slices, which may lie within one another.
struct TraceThread {
  std::string process, name;
  std::string process_id = {};  ///< as the file has it; several may have one name
};

struct TraceSlice {
  std::uint32_t thread = 0;    ///< in Trace::threads
  std::uint32_t name = 0;      ///< in Trace::names
  std::uint32_t category = 0;  ///< the same
  Seconds begin, end;
  std::uint64_t args = 0;  ///< where its "args" begin in Trace::args
  std::uint32_t args_size = 0;
};

struct TraceCounter {
  std::string process, name;
  std::vector<std::pair<Seconds, double>> values;  ///< in order of time: from then on
};

struct Trace {
  std::vector<TraceThread> threads;  ///< in the order in which viewers show them
  std::vector<TraceSlice> slices;    ///< by thread, then begin, the longer of equals first
  std::vector<TraceCounter> counters;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrows;  ///< between slices
  std::vector<std::string> names;
  std::string args;             ///< JSON objects, one after another
  Seconds end;                  ///< of all
  std::size_t passed_over = 0;  ///< events of phases that are not kept

  std::string_view args_of(const TraceSlice& slice) const {
    return std::string_view(args).substr(slice.args, slice.args_size);
  }
};

/// Throws InputError "FILE:LINE: ..." for what is no trace, Cancelled where `cancelled` says so.
Trace parse_trace(std::string_view text, const std::string& file,
                  const std::atomic<bool>* cancelled = nullptr);
Trace read_trace(const std::string& file, const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
