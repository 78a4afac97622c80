#pragma once

// Strategies by rule that a search takes along: hybrids (sim/strategy/hybrid.h) that its space may
// hold, and others that it holds not, with stages or layers that are computed again. Pure;
// thread-safe.

#include <optional>
#include <vector>

#include "sim/case/predict.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Whether a layer is an attention.
bool of_tokens(const Graph& graph);

/// Of networks of tokens, under which little memory is needed: tensor parallelism of every power of
/// two with the tokens shared, where it fits.
std::vector<Strategy> hybrids(const Case& input);

/// hybrid:tp=T,sp=1,pp=P for all powers of two and, in stages, divisors of the devices that fit the
/// network, of which T is 1 where it is not of tokens. Without recomputation only those with
/// stages; with it all, also one device a copy, and their names say so.
std::vector<Strategy> pipelines(const Case& input, Recompute recompute);

/// Whether no space holds it, whatever its options: not all layers have a shard on the first
/// device, or some are computed again.
bool is_by_rule(const Strategy& strategy);

/// Those whose micro-batches divide the batch, all of a case without.
std::vector<Strategy> with_rounds(const Case& input, std::vector<Strategy> strategies);

/// The space without choices of which, as data-parallel groups, micro-batches do not divide the
/// batch; where a variable has no other, it keeps them.
SearchSpace with_rounds(const Case& input, const SearchSpace& space);

/// Whether each device has the memory, or is within the limit, for its parameters alone, without
/// what an optimizer keeps of them.
bool parameters_fit(const Case& input, const Strategy& strategy, std::optional<Bytes> limit);

}  // namespace strata
