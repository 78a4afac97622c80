#pragma once

// The recording of a trace file: a lane for each of its threads (more, where slices lie within one
// another) and one for each counter. A slice's id is its number in the trace. Pure; thread-safe.

#include <atomic>
#include <memory>
#include <string>

#include "gui/models/timeline/lanes.h"
#include "sim/importers/trace/read_trace.h"

namespace strata::gui {

/// Throws Cancelled where `cancelled` says so.
RecordingPtr record(std::shared_ptr<const Trace> trace, const std::string& name,
                    const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata::gui
