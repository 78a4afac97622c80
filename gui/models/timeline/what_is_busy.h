#pragma once

// How much of a stretch of time the devices of a recording work. Pure.

#include <optional>
#include <string>

#include "gui/models/timeline/lanes.h"

namespace strata::gui {

struct Busy {
  double mean = 0;      ///< of all devices' shares of the time
  double most = 0;      ///< the busiest one's
  std::string busiest;  ///< its name
};
/// Nothing for a recording without devices, or no time.
std::optional<Busy> what_is_busy(const Recording& recording, const TimeRange& range);

}  // namespace strata::gui
