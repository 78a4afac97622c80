#include "sim/search/least_step.h"

#include <algorithm>
#include <set>

#include "sim/case/rounds.h"
#include "sim/search/keep.h"
#include "sim/search/step_bound.h"

namespace strata {
namespace {

// Into how many parts of the samples some layer may be cut.
std::set<std::int64_t> parts_of_samples(const SearchSpace& space) {
  std::set<std::int64_t> parts;
  for (std::size_t v = 0; v < space.size(); ++v) {
    for (const Cut& cut : *space[v].cuts) {
      for (LayerId layer : space[v].layers) {
        parts.insert(space.cut_of(layer, cut).degrees[Dim::n]);
      }
    }
  }
  return parts;
}

std::int64_t kept_parts(const KeptLayers& kept) {
  std::int64_t most = 1;
  for (LayerId layer : kept.layers) {
    most = std::max<std::int64_t>(most, kept.strategy[layer].degrees[Dim::n]);
  }
  return most;
}

SearchSpace space_of(const Case& input, const SearchOptions& options, const KeptLayers& kept) {
  return keep({input.graph, input.cluster, options}, input, kept);
}

}  // namespace

Seconds least_step(const Case& input, const SearchOptions& options, const KeptLayers& kept,
                   const SolveLimits& limits) {
  if (!input.cut) {
    return StepBound(input, space_of(input, options, kept), limits).least();
  }
  const SearchSpace all = space_of(input, options, kept);
  Seconds least{kInfinity};
  for (const std::int64_t groups : parts_of_samples(all)) {
    if (groups < kept_parts(kept) || !divide_in_rounds(input, groups)) continue;
    const Case cut = in_rounds(input, groups);
    least = std::min(least, StepBound(cut, space_of(cut, options, kept), limits).least());
  }
  return least.value < kInfinity ? least : Seconds{};
}

}  // namespace strata
