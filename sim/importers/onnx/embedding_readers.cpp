// Vectors of tokens, positions and token types, the class token, and products of each token with
// a constant.

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

// ---- products

OnnxTensor turned(OnnxTensor weight) {
  std::swap(weight.dims[0], weight.dims[1]);
  weight.transposed = !weight.transposed;
  return weight;
}

// What is read, with a layer below it; kept, so that others who read it find the layer.
std::optional<OnnxView> view_with_layer(OnnxNode& node, int i) {
  if (std::holds_alternative<OnnxGate>(node.value(i))) node.activation(i);
  auto view = view_of(node.network(), node.value(i));
  if (!view || view->scale != 1 || view->rotary != 0) return std::nullopt;
  view = with_layer(node.network(), std::move(*view));
  const std::string& name = node.proto().input(i);
  if (auto activation = plain(node.network(), *view)) {
    node.network().define(name, std::move(*activation));
  } else {
    node.network().define(name, *view);
  }
  return view;
}

// Of activations with more axes than (n, c): the others stay as they are.
bool read_product(OnnxNode& node, const OnnxTensor& weight, const OnnxTensor* bias) {
  auto view = view_with_layer(node, 0);
  if (!view || view->axes.empty()) return false;
  const auto activation = plain(node.network(), *view);
  if (activation && activation->axes.size() == 2 &&
      is_usual(activation->axes, node.extents(*activation)))
    return false;
  Extents extents = node.network().output(view->layer);
  const ViewAxis channels = {{Dim::c, extents[Dim::c], 1}};
  if (view->axes.back() != channels && extents[Dim::c] > 1) return false;
  if (weight.dims[1] != extents[Dim::c])
    throw InputError(fmt::format("its weight '{}' is {}; allowed: ({}, {})", shown(weight.name),
                                 print_dims(weight.dims), weight.dims[0], extents[Dim::c]));
  extents[Dim::c] = weight.dims[0];
  auto product = std::make_shared<OnnxProduct>(
      OnnxProduct{view->layer, weight, {}, node.wanted_name(), extents});
  if (bias != nullptr) product->bias = *bias;
  view->layer = LayerId();
  view->product = std::move(product);
  view->axes.back() = {};
  if (extents[Dim::c] > 1) view->axes.back().push_back({Dim::c, extents[Dim::c], 1});
  node.alias(std::move(*view));
  return true;
}

bool read_token_matmul(OnnxNode& node) {
  const OnnxTensor* weight = node.network().tensor(node.proto().input(1));
  if (!node.is_data(0) || weight == nullptr || weight->dims.size() != 2) return false;
  return read_product(node, turned(*weight), nullptr);
}

bool read_token_gemm(OnnxNode& node) {
  const NodeAttributes& attributes = node.attributes();
  const OnnxTensor* weight = node.network().tensor(node.proto().input(1));
  if (!node.is_data(0) || weight == nullptr || weight->dims.size() != 2) return false;
  if (attributes.number("alpha", 1) != 1 || attributes.number("beta", 1) != 1 ||
      attributes.integer("transA", 0) != 0)
    return false;
  const bool as_it_is = attributes.integer("transB", 0) != 0;
  const OnnxTensor* bias =
      node.has_input(2) ? node.network().tensor(node.proto().input(2)) : nullptr;
  const bool fits = bias == nullptr ? !node.has_input(2) : bias->dims.size() == 1;
  return fits && read_product(node, as_it_is ? *weight : turned(*weight), bias);
}

// The Add of a number for each row of a product that no layer was made of yet.
bool read_bias(OnnxNode& node) {
  for (const int i : {0, 1}) {
    const auto* given = std::get_if<OnnxView>(&node.value(i));
    const OnnxTensor* bias = node.network().tensor(node.proto().input(1 - i));
    if (given == nullptr || bias == nullptr || !given->product || given->product->bias) continue;
    OnnxView view = *given;
    const OnnxProduct& product = *view.product;
    const std::int64_t rows = product.weight.dims[0];
    const bool whole =
        rows == 1 ? view.axes.back().empty() : view.axes.back() == ViewAxis{{Dim::c, rows, 1}};
    if (bias->dims != TensorDims{rows} || !whole || !product.layers.empty() ||
        view.offset != Extents{})
      continue;
    view.product = std::make_shared<OnnxProduct>(product);
    view.product->bias = *bias;
    node.alias(std::move(view));
    return true;
  }
  return false;
}

// ---- constants that are parameters, under other names and dims

bool keeps_elements(const onnx::NodeProto& node) {
  constexpr std::array<std::string_view, 8> kKeeping = {
      "Cast", "CastLike", "Dropout", "Expand", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  return std::find(kKeeping.begin(), kKeeping.end(), node.op_type()) != kKeeping.end();
}

// Where a constant comes from: a tensor, or the first node that does more than spread it.
struct Origin {
  const OnnxTensor* tensor = nullptr;
  const onnx::NodeProto* node = nullptr;
};

Origin origin_of(const OnnxNetwork& network, std::string name) {
  while (true) {
    if (const OnnxTensor* tensor = network.tensor(name)) return {tensor, nullptr};
    const onnx::NodeProto* writer = network.writer(name);
    if (writer == nullptr || writer->input_size() == 0) return {};
    if (!keeps_elements(*writer)) return {nullptr, writer};
    name = writer->input(0);
  }
}

// A tensor of vectors, (1, ...) positions x channels, as a weight has them: (c, positions).
OnnxTensor by_channel(OnnxTensor tensor, std::int64_t positions, std::int64_t channels) {
  tensor.dims = {channels, positions};
  tensor.transposed = true;
  return tensor;
}

bool are_rows(const TensorDims& dims, std::int64_t channels) {
  return dims.size() >= 2 && dims.back() == channels &&
         element_count(dims) == dims[dims.size() - 2] * channels;
}

// Whether a tensor has a vector for each of so many positions: once, or for each sample the same,
// as exports for inference repeat them.
bool are_vectors(OnnxNode& node, const Origin& origin, std::int64_t positions,
                 std::int64_t channels) {
  const TensorDims& dims = origin.tensor->dims;
  const std::int64_t wanted = positions * channels, count = element_count(dims);
  if (dims.empty() || dims.back() != channels) return false;
  if (count == wanted) return true;
  if (dims.size() != 3 || dims[0] != node.network().shapes().batch || count != dims[0] * wanted)
    return false;
  const auto numbers = node.network().numbers(origin.tensor->name);
  if (numbers == nullptr) return true;
  const std::vector<double>& values = numbers->values;
  return std::equal(values.begin() + wanted, values.end(), values.begin());
}

void add_positions(OnnxNode& node, const OnnxActivation& input, const OnnxTensor& tensor,
                   std::int64_t positions) {
  const Extents extents = node.extents(input);
  const std::int64_t said = positions == extents[Dim::w] ? 0 : positions;
  const LayerId id = node.layer(PositionEmbedding{said}, {input.layer}, input.axes);
  node.network().set_parameters(id, {by_channel(tensor, positions, extents[Dim::c]), {}});
}

// Whether indices are 0, 1, 2, ... along their last axis of `count`.
bool are_positions(const ConstantTensor& indices, std::int64_t count) {
  for (std::size_t i = 0; i < indices.values.size(); ++i) {
    if (indices.values[i] != static_cast<double>(static_cast<std::int64_t>(i) % count))
      return false;
  }
  return !indices.dims.empty() && indices.dims.back() == count;
}

// Vectors of numbers that the file has: of token types that it sets, which data may have here.
void add_types(OnnxNode& node, const OnnxActivation& input, const OnnxTensor& table) {
  OnnxNetwork& network = node.network();
  const Extents extents = node.extents(input);
  const LayerId numbers = network.add("token_types", Input{{{1, 1, 1, 1, extents[Dim::w]}}}, {});
  std::string name = layer_name(table.name);
  if (name.ends_with("_weight")) name.resize(name.size() - 7);
  const LayerId types = network.add(name, Embedding{table.dims[0], table.dims[1]}, {numbers});
  network.set_parameters(types, {table, {}});
  network.note(
      fmt::format("the file sets the numbers of '{}'; here they are data, input token_types",
                  shown(table.name)));
  node.layer(Add{}, {input.layer, types}, input.axes);
}

bool read_gathered(OnnxNode& node, const OnnxActivation& input, const onnx::NodeProto& gather) {
  const OnnxTensor* table = node.network().tensor(gather.input(0));
  const auto indices = node.network().numbers(gather.input(1));
  if (table == nullptr || indices == nullptr || table->dims.size() != 2 ||
      NodeAttributes(gather).integer("axis", 0) != 0)
    return false;
  const Extents& extents = node.extents(input);
  if (table->dims[1] != extents[Dim::c]) return false;
  if (are_positions(*indices, extents[Dim::w])) {
    add_positions(node, input, *table, table->dims[0]);
  } else {
    add_types(node, input, *table);
  }
  return true;
}

// The first tokens' of a tensor of positions.
bool read_first_positions(OnnxNode& node, const OnnxActivation& input,
                          const onnx::NodeProto& slice) {
  const Origin origin = origin_of(node.network(), slice.input(0));
  const Extents& extents = node.extents(input);
  if (origin.tensor == nullptr || !are_rows(origin.tensor->dims, extents[Dim::c])) return false;
  const auto starts = slice.input_size() > 1 ? node.network().numbers(slice.input(1)) : nullptr;
  if (starts == nullptr || starts->values != std::vector<double>{0}) return false;
  add_positions(node, input, *origin.tensor, origin.tensor->dims[origin.tensor->dims.size() - 2]);
  return true;
}

// (n, w, c) and vectors of its positions or of types of tokens.
bool read_positions(OnnxNode& node) {
  for (const int i : {0, 1}) {
    if (!node.is_data(i) || node.is_data(1 - i)) continue;
    if (!std::holds_alternative<OnnxActivation>(node.value(i)) &&
        !std::holds_alternative<OnnxView>(node.value(i)))
      return false;
    const OnnxActivation input = node.activation(i);
    const Extents extents = node.extents(input);
    if (input.axes.size() != 3 || input.axes[1] != Dim::w || input.axes[2] != Dim::c) return false;
    const Origin origin = origin_of(node.network(), node.proto().input(1 - i));
    if (origin.tensor != nullptr && !origin.tensor->constant &&
        are_vectors(node, origin, extents[Dim::w], extents[Dim::c])) {
      add_positions(node, input, *origin.tensor, extents[Dim::w]);
      return true;
    }
    if (origin.node == nullptr) return false;
    if (origin.node->op_type() == "Gather") return read_gathered(node, input, *origin.node);
    return origin.node->op_type() == "Slice" && read_first_positions(node, input, *origin.node);
  }
  return false;
}

// A learned token before the others.
bool read_class_token(OnnxNode& node) {
  if (node.input_count() != 2 || node.is_data(0) || !node.is_data(1)) return false;
  const Origin origin = origin_of(node.network(), node.proto().input(0));
  if (origin.tensor == nullptr) return false;
  const OnnxActivation input = node.activation(1);
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 1), input.axes.size());
  const std::int64_t channels = node.extents(input)[Dim::c];
  if (input.axes[axis] != Dim::w || !are_vectors(node, origin, 1, channels)) return false;
  OnnxTensor token = *origin.tensor;
  if (element_count(token.dims) > channels) {
    token.rows.resize(static_cast<std::size_t>(channels));
    std::iota(token.rows.begin(), token.rows.end(), 0);
  }
  token.dims = {channels};
  const LayerId id = node.layer(ClassToken{}, {input.layer}, input.axes);
  node.network().set_parameters(id, {std::move(token), {}});
  return true;
}

// Rows of a constant, by the numbers of tokens.
bool read_embedding(OnnxNode& node) {
  const OnnxTensor* table = node.network().tensor(node.proto().input(0));
  if (table == nullptr || !node.is_data(1) || table->dims.size() != 2 ||
      node.attributes().integer("axis", 0) != 0)
    return false;
  auto view = view_of(node.network(), node.value(1));
  if (!view || view->product || node.network().output(view->layer)[Dim::c] != 1) return false;
  const OnnxTensor weight = *table;
  view->layer = node.network().add(node.wanted_name(), Embedding{weight.dims[0], weight.dims[1]},
                                   {view->layer});
  node.network().set_parameters(view->layer, {weight, {}});
  view->axes.emplace_back();
  if (weight.dims[1] > 1) view->axes.back().push_back({Dim::c, weight.dims[1], 1});
  node.alias(std::move(*view));
  return true;
}

// From integers to integers.
bool read_cast_of_tokens(OnnxNode& node) {
  const auto* input = std::get_if<OnnxActivation>(&node.value(0));
  if (input == nullptr) return false;
  const auto is_integer = [&](const std::string& name) {
    const auto& types = node.network().shapes().elements;
    onnx::TensorProto type;
    if (const auto at = types.find(name); at != types.end()) type.set_data_type(at->second);
    return holds_integers(type);
  };
  if (!is_integer(node.proto().input(0)) || !is_integer(node.output())) return false;
  node.alias(OnnxActivation(*input));
  return true;
}

}  // namespace

TokenOps embedding_ops() {
  static constexpr std::array kOps = {
      TokenOp{"Add", read_bias},
      TokenOp{"Add", read_positions},
      TokenOp{"Cast", read_cast_of_tokens},
      TokenOp{"Concat", read_class_token},
      TokenOp{"Gather", read_embedding},
      TokenOp{"Gemm", read_token_gemm},
      TokenOp{"MatMul", read_token_matmul},
  };
  return kOps;
}

}  // namespace strata
