#pragma once

// The sliding windows of convolutions and poolings, as ONNX writes them: kernel_shape, strides,
// dilations, and pads or auto_pad. Pure; thread-safe.

#include <cstdint>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/op.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/value.h"

namespace strata {

/// Over spatial dims of these extents, one to three, the last of which is w. Throws InputError that
/// says what is wrong (not in which node).
Windows read_windows(const NodeAttributes& attributes, const std::vector<std::int64_t>& kernel,
                     const std::vector<std::int64_t>& spatial);

/// Of the spatial axes of an input of the usual order, with the zeros around them.
std::vector<std::int64_t> padded_extents(const OnnxActivation& input, const Extents& extents);

/// The i-th of `rank` spatial dims.
constexpr Dim spatial_dim(std::size_t i, std::size_t rank) {
  return kDims[kDims.size() - rank + i];
}

/// Adds zeros around the input to the windows' own padding.
void take_zeros(Windows& windows, const PerDim<Margin>& zeros);

/// The pads of all axes, at their begins and then at their ends, of pads that are said of `axes`
/// alone, each once. Throws InputError.
std::vector<std::int64_t> spread_pads(const std::vector<std::int64_t>& pads,
                                      const std::vector<std::int64_t>& axes, std::size_t rank);

/// One element at a time, as it is.
bool is_identity(const Windows& windows);
bool has_padding(const Windows& windows);

/// Of an input of these axes.
inline int spatial_rank(const Axes& axes) {
  return static_cast<int>(axes.size()) - 2;
}

}  // namespace strata
