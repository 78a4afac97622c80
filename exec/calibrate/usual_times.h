#pragma once

// Which of a machine's times are usual, by those times alone: some machines' clocks wander by one
// per cent and others' by ten, so no fixed share says that something else ran. Pure; thread-safe.

#include <vector>

namespace strata {

struct UsualTimes {
  double middle = 0;  ///< of the shortest interval that holds half of the times
  double most = 0;    ///< what takes longer was disturbed; infinite where nothing can be said

  /// How much longer than usual is disturbed, 0.05 for 5 %; 0 where nothing can be said.
  double threshold() const;
};

/// The shortest interval that holds half of the times (the shorth) is what is usual, as long as no
/// more than half were disturbed. As far above it as the whiskers of a box plot reach, one and a
/// half times its width, is chance (0.4 % of normal times lie beyond), and so is one per cent. Of
/// fewer than eight times nothing can be said.
UsualTimes usual_times(std::vector<double> times);

}  // namespace strata
