#pragma once

// The dims of what nodes write, by rules of our own: for each op that is read here, and for those
// with which exporters compute shapes. They hold for the opsets from 7 to 23, of which ONNX's own
// library need not know the newest. Pure; thread-safe.

#include <optional>
#include <string_view>
#include <vector>

#include "sim/importers/onnx/known_values.h"

namespace strata {

/// Whether there is a rule for the op.
bool has_shape_rule(std::string_view op);

/// Of each of the node's outputs; none where what they depend on is not known. For a node with a
/// rule and as many inputs as ONNX wants. Throws InputError that says what is wrong (not in which
/// node).
std::vector<std::optional<TensorDims>> output_dims(const KnownNode& node);

using MaybeDims = std::optional<TensorDims>;

/// Of an output, for a node whose inputs' dims are known as far as the rule needs them.
using ShapeRule = MaybeDims (*)(const KnownNode& node);

// window_shapes.cpp
MaybeDims convolution_dims(const KnownNode& node);
MaybeDims pooling_dims(const KnownNode& node);
MaybeDims global_pooling_dims(const KnownNode& node);
MaybeDims pad_dims(const KnownNode& node);
MaybeDims resize_dims(const KnownNode& node);

// layout_shapes.cpp: the same elements in other dims, or some of them.
MaybeDims flatten_dims(const KnownNode& node);
MaybeDims reshape_dims(const KnownNode& node);
MaybeDims squeeze_dims(const KnownNode& node);
MaybeDims unsqueeze_dims(const KnownNode& node);
MaybeDims transpose_dims(const KnownNode& node);
MaybeDims slice_dims(const KnownNode& node);
MaybeDims gather_dims(const KnownNode& node);
/// Of each output.
std::vector<MaybeDims> split_dims(const KnownNode& node);

// value_shapes.cpp: what computes, joins or spreads values, and the shapes themselves.
MaybeDims same_dims(const KnownNode& node);
MaybeDims broadcast_dims(const KnownNode& node);
MaybeDims expand_dims(const KnownNode& node);
MaybeDims concat_dims(const KnownNode& node);
MaybeDims gemm_dims(const KnownNode& node);
MaybeDims matmul_dims(const KnownNode& node);
MaybeDims reduction_dims(const KnownNode& node);
MaybeDims filled_dims(const KnownNode& node);
MaybeDims shape_dims(const KnownNode& node);
MaybeDims size_dims(const KnownNode& node);

}  // namespace strata
