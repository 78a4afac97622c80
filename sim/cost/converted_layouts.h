#pragma once

// Costs where tensors lie with their channels outermost (NCHW), as frameworks have them unless told
// otherwise. Matrix units read channels innermost (NHWC), so libraries convert around each
// convolution on such units: its input and its output, or their gradients, in each of its three
// phases ("Tensor Transformations" of cuDNN's developer guide). Conversions of weights, which are
// small, are not counted.

#include <memory>

#include "sim/cost/cost_model.h"

namespace strata {

/// The same costs, with those conversions: a copy within the device's memory for each tensor, a
/// kernel of its own. fp32, and types of which the kind has no peak, are computed without matrix
/// units, in either layout. Thread-safe.
std::shared_ptr<const CostModel> with_channels_outermost(
    const std::shared_ptr<const CostModel>& costs);
/// The same costs without them.
std::shared_ptr<const CostModel> with_channels_innermost(
    const std::shared_ptr<const CostModel>& costs);

}  // namespace strata
