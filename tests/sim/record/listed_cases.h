#pragma once

// Cases that are listed: every network of the zoo and a few small transformers, under strategies,
// schedules and settings of all kinds. Pure; thread-safe.

#include <string>
#include <vector>

#include "tests/metamorphic/drawn_case.h"

namespace strata::testing {

/// Whether all devices are simulated, too, and whether it takes so little that a test holds it.
enum class CaseSize : std::uint8_t { tiny, small, large };

struct ListedCase {
  DrawnCase said;
  CaseSize size = CaseSize::small;
};
/// Some are refused. No two are the same.
std::vector<ListedCase> listed_cases();

}  // namespace strata::testing
