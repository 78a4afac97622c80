#pragma once

// The document's network and strategy on real devices: its shards are measured, its step is
// predicted from them and run, and both are compared task by task (sim/study/validate.h). Not
// thread-safe, as a Runner is not.

#include <functional>
#include <string>

#include "gui/models/scene.h"
#include "sim/base/cancel.h"
#include "sim/study/runner.h"
#include "sim/study/validate.h"

namespace strata::gui {

struct RealRun {
  Document document;              ///< its network and strategy; the cluster is that of the devices
  std::string devices = "cpu:2";  ///< FAMILY:NUMBER
  std::int64_t batch_per_device = 4;
  std::size_t rounds = 3;
};

/// "cpu:2" as "cpu" and 2. Throws InputError.
std::pair<std::string, int> parse_devices(const std::string& text);

/// The `strata validate` that does the same.
std::string command_of(const RealRun& run);

/// Throws InputError for a strategy that does not fit on the devices, what validate() throws, and
/// Cancelled.
MeasuredPtr run_for_real(Runner& runner, const RealRun& run, const std::atomic<bool>* cancelled,
                         const std::function<void(const MeasureProgress&)>& progress);

}  // namespace strata::gui
