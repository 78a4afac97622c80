#pragma once

// Why does a strategy's step take the time it takes? What it is made of, what of its communication
// is hidden, which device and link are the busiest, how much faster any strategy could be, and
// beside it the usual strategies: why they are slower or faster, and what would have to be true for
// that to turn. Thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"
#include "sim/explain/break_even.h"
#include "sim/search/solve.h"
#include "sim/timeline/exposure.h"

namespace strata {

/// Another strategy beside the explained one.
struct Rival {
  Strategy strategy;
  Seconds step, eq1;
  PathShares path;
  Exposure communication;  ///< all of it
  Bytes peak_memory;       ///< of the device that needs the most
  bool fits = true;        ///< no device needs more than it has
  std::string shortage;    ///< which device needs how much more than it has, where it does not fit
  std::size_t work = 0;    ///< of simulating it (Contender)
  std::vector<BreakEven> turns;
};

struct Busiest {
  std::string name;  ///< of a device or a link
  double share = 0;  ///< of the step that it works, or of its capacity
};

struct Story {
  Strategy strategy;
  Seconds step, eq1;
  PathShares path;
  StepParts parts;      ///< what a device's step is made of, on average
  Exposures exposures;  ///< the parts that are exposed most first
  Busiest device;
  std::optional<Busiest> link;  ///< nothing where nothing moves
  Bytes peak_memory;            ///< of the device that needs the most
  bool fits = true;
  std::string shortage;  ///< as a Rival's
  /// Where it does not fit: proved of the first device, that it needs so much under any strategy of
  /// the space (memory_floor.h), and what it has.
  Bytes least_memory, capacity;
  bool all_tried = true;      ///< of what would turn the order (BreakEvens)
  Seconds lower_bound;        ///< no strategy of the space has a shorter step (step_bound.h)
  std::vector<Rival> rivals;  ///< data, model, owt and eq1, where they are cut otherwise and quick
                              ///< to simulate; the fastest first

  bool nothing_fits() const { return least_memory > capacity; }
};

/// `request`: of the case. Throws Cancelled once `limits` say so.
Story tell(const Case& input, const CaseRequest& request, const SearchOptions& space,
           const Strategy& strategy, const SolveLimits& limits = {});

/// The story in a few sentences, each a line; of a pipeline with its bubble.
std::vector<std::string> sentences(const Case& input, const Story& story);

/// "A device's step on average: 364 us compute, 5.67 us exposed transfers", without what is
/// nothing.
std::string parts_text(const StepParts& parts);
/// "the transfer from conv1 to pool1", "the sum of conv1's gradients".
std::string what(const Graph& graph, const Exposure& part);
/// "link.inter.bandwidth=3.4x", "a batch of 1024".
std::string change_text(const BreakEven& turn);
/// "It is faster than `own` with ...": all changes with both steps, or that there is none.
std::string turns_text(const std::vector<BreakEven>& turns, bool faster_now, std::string_view own,
                       bool all_tried);
/// What holds of all of them.
inline constexpr std::string_view kTurnsNote =
    "Each change is simulated by itself, both strategies being cut as they are now; a search in "
    "the "
    "changed case may find others.";

}  // namespace strata
