#pragma once

// How many rounds of a step tell what the others do. Pure; thread-safe as long as each call has its
// own LayerCosts.

#include <cstdint>
#include <optional>

#include "sim/case/predict.h"
#include "sim/cost/layer_costs.h"
#include "sim/strategy/strategy.h"

namespace strata {

struct FewRounds {
  std::uint32_t least = 0;   ///< that fill the pipeline and may show a period
  std::uint32_t period = 1;  ///< that is expected
  std::uint32_t step = 1;    ///< of which a period is a multiple
};

/// A guess, which round_period() proves right or wrong; nothing where rounds do not repeat (GPipe)
/// or may not (a schedule of one's own).
std::optional<FewRounds> few_rounds(const Case& input, const Strategy& strategy, LayerCosts& costs);

}  // namespace strata
