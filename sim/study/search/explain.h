#pragma once

// Why is a layer cut so? Every config that it could have, with what it would cost among the
// neighbours that it has, and what insisting on it would cost if all other layers answered as best
// they can: its regret. And two strategies beside each other. Thread-safe.

#include <optional>
#include <span>
#include <vector>

#include "sim/strategy/search_space.h"
#include "sim/study/case/predict.h"

namespace strata {

/// One config of the explained layer and of the layers that share it.
struct ChoiceCosts {
  Config config;
  Seconds compute, transfer_in, transfer_out, sync;  ///< Eq. 1, the neighbours being as they are;
                                                     ///< partial sums are among what goes out
  /// How much slower under Eq. 1 the best strategy with this config is than the best of all.
  Seconds regret;
  LayerId binding;  ///< the neighbour with the largest transfer; invalid where nothing moves
  Seconds binding_transfer;

  Seconds total() const { return compute + transfer_in + transfer_out + sync; }
};

struct Explanation {
  std::vector<LayerId> layers;        ///< that share the config
  std::vector<ChoiceCosts> choices;   ///< in the order of the search space
  std::optional<std::size_t> chosen;  ///< the explained strategy's; nothing where not among them
  Seconds optimum;                    ///< under Eq. 1
};

/// Precondition: `layer` is not a network input.
Explanation explain(const Case& input, const SearchOptions& space, const Strategy& strategy,
                    LayerId layer);

/// A strategy's layers whose cut is not the other's, and both predictions.
struct StrategyDiff {
  Prediction before, after;
  std::vector<LayerId> changed;
};
StrategyDiff diff(const Case& input, const Strategy& before, const Strategy& after);

}  // namespace strata
