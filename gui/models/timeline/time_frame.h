#pragma once

// The one time that recordings are drawn in: that of the first, with the other moved so that its
// steady step begins where the first's does. Values; pure.

#include "gui/models/timeline/lanes.h"

namespace strata::gui {

struct TimeFrame {
  std::optional<TimeRange> step;  ///< of the steady state: what is looked at first
  double begin = 0, end = 0;      ///< of all that is drawn

  /// What is added to a recording's times; 0 where either has no steady step.
  double shift_of(const Recording& recording) const;
};

/// `second` may be null. The step is the first's.
TimeFrame frame_of(const Recording& first, const Recording* second);
/// The same, where both are looked at alike: the step is as long as the longer one.
TimeFrame frame_of_both(const Recording& first, const Recording& second);

}  // namespace strata::gui
