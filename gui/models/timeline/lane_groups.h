#pragma once

// The lines of a timeline, in groups that fold: devices (or links) whose lanes hold the same at the
// same times are one group with their number, which opens into the hosts that they are in, and
// those into single devices. Where little is folded, each host closes into the compute lanes of its
// devices. Pure.

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gui/models/timeline/lanes.h"

namespace strata::gui {

/// What stands together under one name.
struct RowGroup {
  std::string name;         ///< "host0/gpu0", "host0"
  std::size_t count = 1;    ///< that do the same, of which the lanes of the first are shown
  std::string key = {};     ///< of what opens and closes here; empty where nothing does
  bool open = false;        ///< in parts, which come after it
  std::uint32_t level = 0;  ///< how deep it lies in others
  bool is_stage = false;    ///< the heading of a stage, whose devices come after it
};

/// Which lines there are.
struct RowOptions {
  bool links = true;
  bool links_beside = false;          ///< each after the device, or the host, that it belongs to
  bool folded = false;                ///< what does the same is one group
  std::set<std::string> turned = {};  ///< keys of groups that are open, or closed, unlike usual
};

struct LaneRows {
  std::vector<LaneRow> rows;            ///< headings among them, which have no lane
  std::vector<std::uint32_t> group_of;  ///< by row
  std::vector<RowGroup> groups;
  /// By side and lane: the lane that is shown for it; kNowhere where none is.
  std::array<std::vector<std::uint32_t>, 2> shown_for;
};

/// `second` may be null.
LaneRows arrange(const Recording& first, const Recording* second, const RowOptions& options);

/// How many devices' lanes there are.
std::size_t count_devices(const Recording& recording);

}  // namespace strata::gui
