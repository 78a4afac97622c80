#pragma once

// How frameworks run a step, as named settings: what they do beside the plan, with the source of
// each figure (docs/frameworks.md). Pure; thread-safe.

#include <functional>
#include <string_view>

#include "sim/strategy/framework.h"
#include "sim/study/case/predict.h"

namespace strata {

/// Larger than the gradients of any network: all are summed at once.
inline constexpr Bytes kOneBucket{std::int64_t{1} << 50};

/// Chooses what the request's framework does otherwise of a case's settings (optimizer, zero, sync,
/// bucket) where nobody did: `given` says so of a setting's key.
void choose_settings(CaseRequest& request, const std::function<bool(std::string_view)>& given);

/// Changes what the framework does otherwise beside its settings. Under fsdp the usual bucket
/// becomes a block.
void run_as(Framework framework, Case& input);

}  // namespace strata
