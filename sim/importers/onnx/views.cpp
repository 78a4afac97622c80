#include "sim/importers/onnx/views.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

// Neighbours that are one run of a dim become one factor.
void append(ViewAxis& axis, const AxisFactor& factor) {
  if (factor.extent == 1) return;
  if (!axis.empty()) {
    AxisFactor& last = axis.back();
    const bool repeats = last.stride == 0 && factor.stride == 0;
    const bool joins = last.stride != 0 && last.stride == factor.extent * factor.stride;
    if (last.dim == factor.dim && (repeats || joins)) {
      last.extent *= factor.extent;
      last.stride = factor.stride;
      return;
    }
  }
  axis.push_back(factor);
}

bool covers(const ViewAxis& axis, Dim dim, std::int64_t extent) {
  return axis == ViewAxis{{dim, extent, 1}};
}

Extents file_extents(const OnnxNetwork& network, const OnnxView& view) {
  Extents extents = view.product ? view.product->extents : network.output(view.layer);
  extents[Dim::n] = network.shapes().batch;
  return extents;
}

// Of the channels that a view has, which of its source they are, in their order there.
std::vector<std::int64_t> rows_of(const OnnxView& view) {
  std::vector<AxisFactor> factors;
  for (const ViewAxis& axis : view.axes) {
    for (const AxisFactor& factor : axis) {
      if (factor.dim == Dim::c && factor.stride > 0) factors.push_back(factor);
    }
  }
  std::sort(factors.begin(), factors.end(),
            [](const AxisFactor& a, const AxisFactor& b) { return a.stride > b.stride; });
  std::vector<std::int64_t> rows = {view.offset[Dim::c]};
  for (const AxisFactor& factor : factors) {
    std::vector<std::int64_t> more;
    more.reserve(rows.size() * static_cast<std::size_t>(factor.extent));
    for (const std::int64_t row : rows) {
      for (std::int64_t i = 0; i < factor.extent; ++i) more.push_back(row + i * factor.stride);
    }
    rows = std::move(more);
  }
  return rows;
}

OnnxTensor rows_in(OnnxTensor tensor, const std::vector<std::int64_t>& rows) {
  if (std::ssize(rows) == tensor.dims[0]) return tensor;
  tensor.dims[0] = std::ssize(rows);
  tensor.rows = rows;
  return tensor;
}

// An embedding whose weight this is, so that both are one.
std::string owner_of(const OnnxNetwork& network, const OnnxProduct& product) {
  if (product.bias || product.weight.transposed) return "";
  for (const auto& [layer, parameters] : network.parameters()) {
    const OnnxTensor& weight = parameters.weight;
    if (std::holds_alternative<Embedding>(network.op(layer)) && weight.proto != nullptr &&
        weight.proto == product.weight.proto)
      return network.name(layer);
  }
  return "";
}

LayerId add_product(OnnxNetwork& network, OnnxProduct& product,
                    const std::vector<std::int64_t>& rows, const std::string& part) {
  if (const auto at = product.layers.find(rows); at != product.layers.end()) return at->second;
  const bool whole = std::ssize(rows) == product.weight.dims[0];
  const std::string owner = whole ? owner_of(network, product) : "";
  const std::string name = whole || part.empty() ? product.name : product.name + "_" + part;
  Linear op{std::ssize(rows), product.bias.has_value(), owner};
  const LayerId id = network.add(name, op, {product.input});
  product.layers[rows] = id;
  if (!owner.empty()) return id;
  OnnxParameters parameters{rows_in(product.weight, rows), {}};
  if (product.bias) parameters.bias = rows_in(*product.bias, rows);
  network.set_parameters(id, std::move(parameters));
  return id;
}

void make_product(OnnxNetwork& network, OnnxView& view, const std::string& part) {
  const std::vector<std::int64_t> rows = rows_of(view);
  view.layer = add_product(network, *view.product, rows, part);
  view.product = nullptr;
  pack_channels(view);
}

bool has_dim(const OnnxView& view, Dim dim) {
  return std::any_of(view.axes.begin(), view.axes.end(), [&](const ViewAxis& axis) {
    return std::any_of(axis.begin(), axis.end(),
                       [&](const AxisFactor& factor) { return factor.dim == dim; });
  });
}

// One token, where an axis of them was left.
void select_token(OnnxNetwork& network, OnnxView& view) {
  const Extents extents = file_extents(network, view);
  if (extents[Dim::w] == 1 || has_dim(view, Dim::w)) return;
  view.layer = network.add("", SelectToken{view.offset[Dim::w]}, {view.layer});
  view.offset[Dim::w] = 0;
}

// Rows and columns that are one axis.
void join_planes(OnnxNetwork& network, OnnxView& view) {
  const Extents extents = file_extents(network, view);
  ViewAxis plane;
  for (const Dim dim : kSpatialDims) {
    if (extents[dim] > 1) plane.push_back({dim, extents[dim], 1});
  }
  if (plane.size() < 2) return;
  const auto at = std::find(view.axes.begin(), view.axes.end(), plane);
  if (at == view.axes.end()) return;
  view.layer = network.add("", Tokens{}, {view.layer});
  *at = {{Dim::w, extents[Dim::d] * extents[Dim::h] * extents[Dim::w], 1}};
}

}  // namespace

void pack_channels(OnnxView& view) {
  std::vector<AxisFactor*> factors;
  for (ViewAxis& axis : view.axes) {
    for (AxisFactor& factor : axis) {
      if (factor.dim == Dim::c && factor.stride > 0) factors.push_back(&factor);
    }
  }
  std::sort(factors.begin(), factors.end(),
            [](const AxisFactor* a, const AxisFactor* b) { return a->stride < b->stride; });
  std::int64_t stride = 1;
  for (AxisFactor* factor : factors) {
    factor->stride = stride;
    stride *= factor->extent;
  }
  for (ViewAxis& axis : view.axes) {
    ViewAxis joined;
    for (const AxisFactor& factor : axis) append(joined, factor);
    axis = std::move(joined);
  }
  view.offset[Dim::c] = 0;
}

std::int64_t extent_of(const ViewAxis& axis) {
  return std::accumulate(axis.begin(), axis.end(), std::int64_t{1},
                         [](std::int64_t all, const AxisFactor& f) { return all * f.extent; });
}

TensorDims dims_of(const ViewAxes& axes) {
  TensorDims dims;
  dims.reserve(axes.size());
  for (const ViewAxis& axis : axes) dims.push_back(extent_of(axis));
  return dims;
}

std::optional<ViewAxes> reshaped(const ViewAxes& axes, const TensorDims& dims) {
  std::vector<AxisFactor> left;
  for (const ViewAxis& axis : axes) left.insert(left.end(), axis.begin(), axis.end());
  std::reverse(left.begin(), left.end());
  ViewAxes result;
  for (std::int64_t dim : dims) {
    ViewAxis axis;
    while (dim > 1) {
      if (left.empty()) return std::nullopt;
      AxisFactor factor = left.back();
      left.pop_back();
      if (dim % factor.extent != 0) {
        if (factor.extent % dim != 0) return std::nullopt;
        const std::int64_t rest = factor.extent / dim;
        left.push_back({factor.dim, rest, factor.stride});
        factor = {factor.dim, dim, factor.stride * rest};
      }
      dim /= factor.extent;
      append(axis, factor);
    }
    if (dim < 1) return std::nullopt;
    result.push_back(std::move(axis));
  }
  return left.empty() ? std::optional(result) : std::nullopt;
}

std::optional<OnnxView> view_of(const OnnxNetwork& network, const OnnxValue& value) {
  if (const auto* view = std::get_if<OnnxView>(&value)) return *view;
  const auto* activation = std::get_if<OnnxActivation>(&value);
  if (activation == nullptr || activation->zeros != PerDim<Margin>{}) return std::nullopt;
  OnnxView view{.layer = activation->layer};
  const Extents extents = file_extents(network, view);
  for (const Axis& axis : activation->axes) {
    view.axes.emplace_back();
    if (axis) append(view.axes.back(), {*axis, extents[*axis], 1});
  }
  return view;
}

std::optional<OnnxView> sliced(const OnnxView& view, std::size_t axis, std::int64_t begin,
                               std::int64_t count) {
  OnnxView part = view;
  ViewAxis& factors = part.axes[axis];
  if (begin == 0 && count == extent_of(factors)) return part;
  // What lies behind the first factor must stay whole.
  std::int64_t behind = 1;
  for (std::size_t i = 1; i < factors.size(); ++i) behind *= factors[i].extent;
  if (factors.empty() || factors.front().dim == Dim::n || begin % behind != 0 ||
      count % behind != 0 || count < 1)
    return std::nullopt;
  AxisFactor& first = factors.front();
  part.offset[first.dim] += begin / behind * first.stride;
  first.extent = count / behind;
  if (first.extent == 1) factors.erase(factors.begin());
  return part;
}

OnnxView with_layer(OnnxNetwork& network, OnnxView view, const std::string& part) {
  if (view.product) make_product(network, view, part);
  select_token(network, view);
  join_planes(network, view);
  if (view.offset == Extents{}) return view;
  throw InputError("it reads a part of a layer's output; allowed: a token, or rows of a product");
}

std::optional<OnnxActivation> plain(const OnnxNetwork& network, const OnnxView& view) {
  if (view.product || view.scale != 1 || view.rotary != 0) return std::nullopt;
  const Extents extents = file_extents(network, view);
  Extents left = extents;
  OnnxActivation result{view.layer, {}, {}};
  for (const ViewAxis& axis : view.axes) {
    Axis dim;
    if (!axis.empty()) {
      dim = axis.front().dim;
      if (!covers(axis, *dim, left[*dim])) return std::nullopt;
      left[*dim] = 1;
    }
    result.axes.push_back(dim);
  }
  if (volume(left) != 1) return std::nullopt;
  const auto empty = std::find(result.axes.begin(), result.axes.end(), std::nullopt);
  if (extents[Dim::n] == 1) {
    if (empty == result.axes.end()) return std::nullopt;
    *empty = Dim::n;
  }
  if (result.axes.size() == 2 && extents[Dim::c] == 1 && !result.axes[1]) result.axes[1] = Dim::c;
  return result;
}

OnnxActivation made(OnnxNetwork& network, const OnnxValue& value, const std::string& name) {
  if (const auto* activation = std::get_if<OnnxActivation>(&value)) return *activation;
  if (const auto* gate = std::get_if<OnnxGate>(&value)) {
    const OnnxActivation& input = gate->input;
    const LayerId id = network.add(gate->name, Activation{ActivationKind::silu}, {input.layer});
    return {id, input.axes, {}};
  }
  const auto* view = std::get_if<OnnxView>(&value);
  if (view == nullptr)
    throw InputError(
        fmt::format("its input '{}' is part of an attention; allowed: MatMul of "
                    "queries and keys, Softmax, MatMul with values",
                    shown(name)));
  if (view->scale != 1 || view->rotary != 0)
    throw InputError(
        fmt::format("its input '{}' is scaled or turned; allowed: queries and keys "
                    "of an attention",
                    shown(name)));
  const OnnxView whole = with_layer(network, *view);
  if (auto result = plain(network, whole)) return *result;
  throw InputError(
      fmt::format("its input '{}' has axes that are several dims of a layer's; "
                  "allowed: what an attention or a product reads",
                  shown(name)));
}

std::vector<LayerId> layers_below(OnnxNetwork& network, const OnnxValue& value,
                                  const std::string& name) {
  std::vector<LayerId> layers;
  const auto add = [&](OnnxView view) {
    if (view.product) make_product(network, view, "");
    layers.push_back(view.layer);
  };
  if (const auto* activation = std::get_if<OnnxActivation>(&value))
    layers.push_back(activation->layer);
  if (const auto* view = std::get_if<OnnxView>(&value)) add(*view);
  if (const auto* rotation = std::get_if<OnnxRotation>(&value)) add(rotation->view);
  if (const auto* views = std::get_if<OnnxViews>(&value)) add(views->front());
  if (std::holds_alternative<OnnxGate>(value)) layers.push_back(made(network, value, name).layer);
  if (const auto* scores = std::get_if<OnnxScores>(&value)) {
    add(scores->queries);
    add(scores->keys);
  }
  return layers;
}

}  // namespace strata
