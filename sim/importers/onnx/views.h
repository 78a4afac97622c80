#pragma once

// Activations in other axes than their layers': what Reshape, Transpose, Slice and Expand make of
// them, and the layers that compute what is left. Functions of values, but for those that take a
// network. All throw InputError that says what is wrong (not in which node).

#include <cstdint>
#include <optional>

#include "sim/importers/onnx/network.h"
#include "sim/importers/onnx/value.h"

namespace strata {

std::int64_t extent_of(const ViewAxis& axis);
TensorDims dims_of(const ViewAxes& axes);

/// The same elements in other dims; none where these cut through what lies together.
std::optional<ViewAxes> reshaped(const ViewAxes& axes, const TensorDims& dims);

/// Of a value that depends on the data and is an activation or a view.
std::optional<OnnxView> view_of(const OnnxNetwork& network, const OnnxValue& value);

/// Its `count` elements from `begin` on along an axis; none where the axis has several factors that
/// this cuts through.
std::optional<OnnxView> sliced(const OnnxView& view, std::size_t axis, std::int64_t begin,
                               std::int64_t count);

/// The channels of a view where they lie together, in the same order.
void pack_channels(OnnxView& view);

/// A layer whose output has the view's elements; the view of it. `part` is what a part of a product
/// that is not made yet is called after the product.
OnnxView with_layer(OnnxNetwork& network, OnnxView view, const std::string& part = "");

/// With an axis of its own for each dim; none where it has not.
std::optional<OnnxActivation> plain(const OnnxNetwork& network, const OnnxView& view);

/// Any value that depends on the data, called `name` in the file, as a layer's output.
OnnxActivation made(OnnxNetwork& network, const OnnxValue& value, const std::string& name);

/// The layers whose outputs a value is made of.
std::vector<LayerId> layers_below(OnnxNetwork& network, const OnnxValue& value,
                                  const std::string& name);

}  // namespace strata
