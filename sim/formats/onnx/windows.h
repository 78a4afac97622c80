#pragma once

// The sliding windows of convolutions and poolings, as ONNX writes them: kernel_shape, strides,
// dilations, and pads or auto_pad. Pure; thread-safe.

#include <cstdint>
#include <vector>

#include "sim/formats/onnx/attributes.h"
#include "sim/formats/onnx/value.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/op.h"

namespace strata {

/// Over the spatial axes of an input of the usual order, `rank` of them, with extents as they are
/// with the zeros around them. Throws InputError that says what is wrong (not in which node).
Windows read_windows(const NodeAttributes& attributes, const std::vector<std::int64_t>& kernel,
                     const OnnxActivation& input, const Extents& extents);

/// Adds zeros around the input to the windows' own padding.
void take_zeros(Windows& windows, const PerDim<Margin>& zeros);

/// One element at a time, as it is.
bool is_identity(const Windows& windows);
bool has_padding(const Windows& windows);

/// Of an input of these axes.
inline int spatial_rank(const Axes& axes) {
  return static_cast<int>(axes.size()) - 2;
}

}  // namespace strata
