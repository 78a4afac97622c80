#pragma once

// Cases drawn at random as a user says them: settings as text, and the files that they name. The
// tables of settings (sim/scenario/settings.h) and of what-ifs (sim/case/what_ifs.h) tell
// which there are, so a new one is drawn as soon as it stands there.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tests/sim/plan/random_case.h"

namespace strata::testing {

/// A cluster file of 1 to 8 devices in hosts, of one kind or of several, on switches, in a chain or
/// with links of their own, all of which reach each other.
std::string drawn_cluster(Random& random);

/// The settings of a prediction; what-ifs, "set.KEY", come last. A case may still be refused: some
/// settings do not go together.
struct DrawnCase {
  std::vector<Setting> settings;

  /// "" where the case does not have it.
  std::string value(std::string_view key) const;
  /// The same case with these values in place of its own; without the settings whose new value is
  /// "".
  DrawnCase with(std::vector<Setting> changes) const;
  /// "model=lenet5 cluster=p100-1x4 ...", for messages.
  std::string text() const;
};

/// Writes the files of the case into the folder, under names that no other number has.
DrawnCase drawn_case(Random& random, const std::string& folder, std::uint64_t number);

}  // namespace strata::testing
