#pragma once

// Why is a layer cut so? Every config that it could have, with the step that it would make and what
// it would cost under Eq. 1 among the neighbours that it has, and what insisting on it would cost
// if all other layers answered as best they can: its regret. Thread-safe.

#include <optional>
#include <vector>

#include "sim/case/predict.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"
#include "sim/timeline/exposure.h"

namespace strata {

/// One config of the explained layer and of the layers that share it.
struct ChoiceCosts {
  Config config;                ///< of the explained layer
  std::vector<Config> configs;  ///< of all layers that share the choice, as Explanation::layers
  Seconds compute, transfer_in, transfer_out, sync;  ///< Eq. 1, the neighbours being as they are;
                                                     ///< partial sums are among what goes out
  /// How much slower under Eq. 1 the best strategy with this config is than the best of all.
  Seconds regret;
  /// Simulated, the other layers being as they are. 0: not simulated, since many others have less
  /// regret or it takes too long.
  Seconds step;
  Bytes peak_memory;  ///< of the device that needs the most, where it was simulated
  bool fits = true;   ///< no device needs more memory than it has, where it was simulated
  LayerId binding;    ///< the neighbour with the largest transfer; invalid where nothing moves
  Seconds binding_transfer;

  Seconds total() const { return compute + transfer_in + transfer_out + sync; }
};

struct Explanation {
  std::vector<LayerId> layers;        ///< that share the config
  std::vector<ChoiceCosts> choices;   ///< in the order of the search space
  std::optional<std::size_t> chosen;  ///< the explained strategy's; nothing where not among them
  Seconds optimum;                    ///< under Eq. 1
  Seconds step;                       ///< the explained strategy's; 0 where it takes too long
  std::size_t work = 0;               ///< of simulating it (Scored::work)
  std::vector<Exposure> exposures;    ///< of what the layers receive, send and sum in it

  /// The choice that makes the shortest step besides the strategy's own, of those that were
  /// simulated and fit; nothing where there is none.
  std::optional<std::size_t> best_other() const;
};

/// Precondition: `layer` is not a network input. Of a case with micro-batches, all that is said of
/// a choice is of the strategy's rounds (rounds.h), so that choices differ in nothing else. Throws
/// Cancelled once `limits` say so.
Explanation explain(const Case& input, const SearchOptions& space, const Strategy& strategy,
                    LayerId layer, const SolveLimits& limits = {});
/// The strategy with this choice for the explained layers.
Strategy with_choice(const Strategy& strategy, const Explanation& explanation, std::size_t choice);

}  // namespace strata
