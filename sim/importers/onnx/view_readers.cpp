// Reshape, Transpose, Split, Slice, Gather and Expand of activations whose axes are not a layer's:
// heads, parts of a product, one token.

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

// The dims of an output, where inference knows them.
const TensorDims* known_output_dims(OnnxNode& node, int i) {
  const auto& dims = node.network().shapes().dims;
  const auto at = dims.find(node.proto().output(i));
  return at == dims.end() ? nullptr : &at->second;
}

// ConstantTensor that an input has, or an attribute in older opsets.
std::optional<std::vector<std::int64_t>> numbers(OnnxNode& node, int i, const char* attribute) {
  if (!node.has_input(i)) return node.attributes().integers(attribute);
  const auto found = node.network().numbers(node.proto().input(i));
  return found == nullptr ? std::nullopt : std::optional(integers_of(*found));
}

// A number alone has none.
bool has_samples(OnnxNode& node, const TensorDims& dims) {
  return !dims.empty() && dims[0] == node.network().shapes().batch;
}

// Flatten, Reshape, Squeeze and Unsqueeze. A layer's output that stays one is no view.
bool read_reshape(OnnxNode& node) {
  const TensorDims* dims = known_output_dims(node, 0);
  if (dims == nullptr) return false;
  if (const auto* scores = std::get_if<OnnxScores>(&node.value(0))) {
    auto axes = reshaped(scores->axes, *dims);
    if (!axes) return false;
    OnnxScores result = *scores;
    result.axes = std::move(*axes);
    node.alias(std::move(result));
    return true;
  }
  auto view = view_of(node.network(), node.value(0));
  auto axes = view ? reshaped(view->axes, *dims) : std::nullopt;
  if (!axes) return false;
  const bool is_layers = std::holds_alternative<OnnxActivation>(node.value(0));
  view->axes = std::move(*axes);
  if (is_layers && has_samples(node, *dims) && dims->size() < 3) return false;
  if (is_layers && plain(node.network(), *view)) return false;
  node.alias(std::move(*view));
  return true;
}

bool read_transpose_of_view(OnnxNode& node) {
  const auto* given = std::get_if<OnnxView>(&node.value(0));
  const std::vector<std::int64_t> order = node.attributes().integers("perm");
  if (given == nullptr || (!order.empty() && order.size() != given->axes.size())) return false;
  OnnxView view = *given;
  const ViewAxes before = view.axes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t from =
        order.empty() ? before.size() - 1 - i : checked_axis(order[i], before.size());
    view.axes[i] = before[from];
  }
  node.alias(std::move(view));
  return true;
}

constexpr std::int64_t kMostParts = 65'536;

std::optional<std::vector<std::int64_t>> parts_of(OnnxNode& node, std::int64_t extent,
                                                  std::int64_t outputs) {
  auto said = numbers(node, 1, "split");
  if (!said) return std::nullopt;
  if (said->empty()) {
    const std::int64_t count =
        std::max<std::int64_t>(1, node.attributes().integer("num_outputs", outputs));
    said->push_back((extent + count - 1) / count);
  }
  if (said->size() == 1) {  // of each but the last
    const std::int64_t part = said->front();
    if (part < 1 || extent / part > kMostParts) return std::nullopt;
    said->clear();
    for (std::int64_t at = 0; at < extent; at += part) said->push_back(std::min(part, extent - at));
  }
  return said;
}

OnnxViews split(OnnxNode& node, const OnnxView& view, std::int64_t outputs) {
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 0), view.axes.size());
  const auto parts = parts_of(node, extent_of(view.axes[axis]), outputs);
  if (!parts) throw InputError("its parts are not known");
  OnnxViews views;
  std::int64_t at = 0;
  for (const std::int64_t count : *parts) {
    auto part = sliced(view, axis, at, count);
    if (!part) throw InputError("it cuts through heads; allowed: whole parts of a product");
    views.push_back(std::move(*part));
    at += count;
  }
  return views;
}

// Of activations whose parts are read as views: queries, keys and values of one product.
bool read_split(OnnxNode& node) {
  const auto* view = std::get_if<OnnxView>(&node.value(0));
  if (view == nullptr) return false;
  const OnnxViews views = split(node, *view, node.proto().output_size());
  if (std::ssize(views) < node.proto().output_size()) return false;
  for (int i = 0; i < node.proto().output_size(); ++i) {
    if (!node.proto().output(i).empty())
      node.network().define(node.proto().output(i), views[static_cast<std::size_t>(i)]);
  }
  return true;
}

bool read_sequence(OnnxNode& node) {
  const auto* view = std::get_if<OnnxView>(&node.value(0));
  if (view == nullptr || node.attributes().integer("keepdims", 1) == 0) return false;
  node.network().define(node.output(), split(node, *view, 1));
  return true;
}

bool read_sequence_at(OnnxNode& node) {
  const auto* views = std::get_if<OnnxViews>(&node.value(0));
  const auto at = views ? numbers(node, 1, "") : std::nullopt;
  if (!at || at->size() != 1) return false;
  const std::size_t place = checked_axis(at->front(), views->size());
  node.alias(OnnxView((*views)[place]));
  return true;
}

// (n, 1, c) of (n, w, c), as an output's layer can have it.
bool is_one_token(const OnnxView& view) {
  const auto has = [&](Dim dim) {
    return std::any_of(view.axes.begin(), view.axes.end(), [&](const ViewAxis& axis) {
      return !axis.empty() && axis.front().dim == dim;
    });
  };
  return !has(Dim::w) && has(Dim::c) && view.offset[Dim::c] == 0;
}

bool read_slice(OnnxNode& node) {
  auto view = view_of(node.network(), node.value(0));
  if (!view || node.opset() < 10) return false;
  const auto starts = numbers(node, 1, ""), ends = numbers(node, 2, "");
  auto axes = numbers(node, 3, ""), steps = numbers(node, 4, "");
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return false;
  const auto fits = [&](const auto& list) { return list.empty() || list.size() == starts->size(); };
  if (!fits(*axes) || !fits(*steps)) return false;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::size_t axis =
        checked_axis(axes->empty() ? static_cast<std::int64_t>(i) : (*axes)[i], view->axes.size());
    if (!steps->empty() && (*steps)[i] != 1) return false;
    const std::int64_t extent = extent_of(view->axes[axis]);
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    const std::int64_t begin = place((*starts)[i]);
    view = sliced(*view, axis, begin, place((*ends)[i]) - begin);
    if (!view) return false;
  }
  const bool is_layers = std::holds_alternative<OnnxActivation>(node.value(0));
  if (is_layers && !plain(node.network(), *view) && !is_one_token(*view)) return false;
  node.alias(std::move(*view));
  return true;
}

// One element of an axis, which goes.
bool read_select(OnnxNode& node) {
  auto view = view_of(node.network(), node.value(0));
  const auto at = view ? numbers(node, 1, "") : std::nullopt;
  if (!at || at->size() != 1) return false;
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 0), view->axes.size());
  const auto* activation = std::get_if<OnnxActivation>(&node.value(0));
  if (activation != nullptr && activation->axes[axis] != Dim::w) return false;
  const auto extent = extent_of(view->axes[axis]);
  view = sliced(
      *view, axis,
      static_cast<std::int64_t>(checked_axis(at->front(), static_cast<std::size_t>(extent))), 1);
  if (!view) return false;
  const auto index = node.network().numbers(node.proto().input(1));
  if (index->dims.empty()) view->axes.erase(view->axes.begin() + static_cast<std::ptrdiff_t>(axis));
  node.alias(std::move(*view));
  return true;
}

// Repeats along axes of extent 1; keys and values of several groups of queries.
bool read_expand(OnnxNode& node) {
  auto view = view_of(node.network(), node.value(0));
  const TensorDims* dims = known_output_dims(node, 0);
  if (!view || dims == nullptr || dims->size() < view->axes.size()) return false;
  if (std::holds_alternative<OnnxActivation>(node.value(0)) && dims->size() != 5) return false;
  const TensorDims before = dims_of(view->axes);
  view->axes.insert(view->axes.begin(), dims->size() - before.size(), ViewAxis{});
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if (extent_of(view->axes[i]) == (*dims)[i]) continue;
    view->axes[i] = {{Dim::c, (*dims)[i], 0}};
  }
  node.alias(std::move(*view));
  return true;
}

// Of half of the channels, on their way to rotary positions.
bool read_negative(OnnxNode& node) {
  const auto* given = std::get_if<OnnxView>(&node.value(0));
  if (given == nullptr) return false;
  OnnxView view = *given;
  view.scale = -view.scale;
  node.alias(std::move(view));
  return true;
}

}  // namespace

TokenOps view_ops() {
  static constexpr std::array kOps = {
      TokenOp{"Expand", read_expand},
      TokenOp{"Flatten", read_reshape},
      TokenOp{"Gather", read_select},
      TokenOp{"Neg", read_negative},
      TokenOp{"Reshape", read_reshape},
      TokenOp{"SequenceAt", read_sequence_at},
      TokenOp{"Slice", read_slice},
      TokenOp{"Split", read_split},
      TokenOp{"SplitToSequence", read_sequence},
      TokenOp{"Squeeze", read_reshape},
      TokenOp{"Transpose", read_transpose_of_view},
      TokenOp{"Unsqueeze", read_reshape},
  };
  return kOps;
}

}  // namespace strata
