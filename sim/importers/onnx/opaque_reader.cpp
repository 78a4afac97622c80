// Nodes that nothing here computes: opaque ops, which move what they read and write.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ceil_div.h"
#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

// How far to scale says how to compute; no training changes it.
bool has_settings_alone(std::string_view op) {
  return op == "Resize" || op == "Upsample";
}

// A single number is more likely a setting, too: an exponent, a bound.
std::int64_t trained_elements(const OnnxTensor& tensor) {
  if (tensor.proto && !holds_floats(*tensor.proto)) return 0;
  const std::int64_t count = element_count(tensor.dims);
  return count > 1 ? count : 0;
}

// The mean and the variance behind its two parameters are the channels' own.
bool is_batch_norm(const OnnxNode& node) {
  return node.proto().op_type() == "BatchNormalization";
}

std::int64_t parameters_of(const OnnxNode& node) {
  std::int64_t sum = 0;
  if (has_settings_alone(node.proto().op_type())) return sum;
  const int end = is_batch_norm(node) ? 3 : node.input_count();
  for (int i = 0; i < end && sum <= kMaxElements; ++i) {
    if (node.has_input(i) && node.is_tensor(i)) sum += trained_elements(node.tensor(i));
  }
  return sum;
}

void check_samples_first(const OnnxActivation& value, const std::string& name) {
  if (!value.axes.empty() && value.axes.front() == Dim::n) return;
  throw InputError(
      fmt::format("its input '{}' has no samples first; allowed: (n, ...)", shown(name)));
}

// Each once: to read a value twice moves it once.
std::vector<LayerId> layers_of(OnnxNode& node) {
  std::vector<LayerId> layers;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.is_data(i)) continue;
    const std::string& name = node.proto().input(i);
    if (const auto* value = std::get_if<OnnxActivation>(&node.value(i)))
      check_samples_first(*value, name);
    for (const LayerId layer : layers_below(node.network(), node.value(i), name)) {
      if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(layer);
    }
  }
  return layers;
}

const TensorDims& dims_of_output(OnnxNode& node, int i) {
  const OnnxShapes& shapes = node.network().shapes();
  if (i > 0 && is_batch_norm(node))
    throw InputError(
        fmt::format("its output {} is a statistic of the channels; allowed: the first", i));
  const auto at = shapes.dims.find(node.proto().output(i));
  if (at == shapes.dims.end()) {
    throw InputError(fmt::format("the shape of its output {} is not known", i));
  }
  const TensorDims& dims = at->second;
  if (!dims.empty() && dims.size() <= kDims.size() && dims[0] == shapes.batch) return dims;
  throw InputError(
      fmt::format("its output {} is {} for a batch of {}; allowed: (n, ...), of up to five dims", i,
                  print_dims(dims), shapes.batch));
}

// Ops that compute much more than they move, in a way that their shapes alone do not tell.
constexpr std::array<std::string_view, 13> kWithoutAKnownProduct = {
    "Attention", "ConvInteger",   "DFT",         "DeformConv",    "Det", "Einsum", "GRU",
    "LSTM",      "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN", "STFT"};

struct Product {
  std::int64_t macs = 0;  ///< for each element of the output
  std::int64_t columns = 1;
};

// Of a value that a node computes, too; none where inference does not know them.
const TensorDims* dims_of_input(const OnnxNode& node, OnnxNetwork& network, int i) {
  if (!node.has_input(i)) return nullptr;
  if (node.is_tensor(i)) return &node.tensor(i).dims;
  const auto at = network.shapes().dims.find(node.proto().input(i));
  return at == network.shapes().dims.end() ? nullptr : &at->second;
}

std::int64_t product_of(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product = bounded_product(product, dim, kMaxElements);
  return product;
}

// a (..., m, k) by b (..., k, n); Gemm may have either transposed.
std::optional<Product> matrix_product(OnnxNode& node, const TensorDims& output) {
  const TensorDims* const a = dims_of_input(node, node.network(), 0);
  if (a == nullptr || a->empty() || output.empty()) return std::nullopt;
  return Product{node.attributes().integer("transA", 0) != 0 ? a->front() : a->back(),
                 output.back()};
}

// The weight is (O, I / groups, kernel).
std::optional<Product> convolution(OnnxNode& node) {
  const TensorDims* const weight = dims_of_input(node, node.network(), 1);
  if (weight == nullptr || weight->size() < 3) return std::nullopt;
  return Product{product_of(std::span(*weight).subspan(1)), weight->front()};
}

// The weight is (I, O / groups, kernel), of which each input element takes all but the first.
std::optional<Product> transposed_convolution(OnnxNode& node, const TensorDims& output) {
  const TensorDims* const input = dims_of_input(node, node.network(), 0);
  const TensorDims* const weight = dims_of_input(node, node.network(), 1);
  if (input == nullptr || weight == nullptr || weight->size() < 3) return std::nullopt;
  const std::int64_t taps = product_of(std::span(*weight).subspan(1));
  const std::int64_t all = bounded_product(element_count(*input), taps, kMaxMacs);
  if (all < 0) return std::nullopt;
  return Product{ceil_div(all, element_count(output)), output[1]};
}

// What its shapes say that it multiplies; none where they do not say it.
std::optional<Product> product_in(OnnxNode& node, const TensorDims& output) {
  const std::string& op = node.proto().op_type();
  if (op == "MatMul" || op == "Gemm") return matrix_product(node, output);
  if (op == "Conv") return convolution(node);
  if (op == "ConvTranspose") return transposed_convolution(node, output);
  const bool unknown = std::ranges::find(kWithoutAKnownProduct, op) != kWithoutAKnownProduct.end();
  return unknown ? std::nullopt : std::optional(Product{});
}

// Its axes are those of what it reads, of as many dims, for most ops go element by element or
// change the extent of one axis: a scaled token stays a token. Not those of a Transpose.
Axes axes_of_output(OnnxNode& node, std::size_t rank) {
  const auto fit = [&](const Axes& axes) {
    return axes.size() == rank && std::ranges::all_of(axes, &Axis::has_value);
  };
  for (int i = 0; i < node.input_count() && node.proto().op_type() != "Transpose"; ++i) {
    if (!node.is_data(i)) continue;
    const auto* const value = std::get_if<OnnxActivation>(&node.value(i));
    if (value != nullptr && fit(value->axes)) return value->axes;
  }
  Axes axes = usual_axes(rank);
  axes.resize(rank);  // (n) has no c
  return axes;
}

// It computes little for the bytes that it moves: what an opaque op costs is what it costs.
void read_resize(OnnxNode& node) {
  const OnnxActivation& input = node.usual(0);
  const auto& dims = node.network().shapes().dims;
  if (node.output_dims() == dims.at(node.proto().input(0))) return node.alias(input);
  read_opaque(node, 0);
}

std::string note_of(const Opaque& op) {
  const char* const more = op.uncosted   ? ", for how much it computes is not known"
                           : op.macs > 0 ? " and of the product that its shapes tell of"
                                         : "";
  return fmt::format("op {} is opaque: its cost is that of the bytes that it moves{}", op.kind,
                     more);
}

}  // namespace

void read_opaque(OnnxNode& node, int first) {
  bool computes = first == 0;  // else a reader's layer does, and has the parameters
  for (int i = first; i < node.proto().output_size(); ++i) {
    if (!node.is_used(i)) continue;
    const TensorDims& dims = dims_of_output(node, i);
    Axes axes = axes_of_output(node, dims.size());
    Opaque op{node.proto().op_type(), sample_extents(dims, axes)};
    if (std::exchange(computes, false)) {  // of several outputs the first has all of it
      const std::optional<Product> product = product_in(node, dims);
      op.elements = parameters_of(node);
      op.uncosted = !product;
      if (product) op.macs = product->macs, op.columns = product->columns;
    }
    const LayerId id = node.network().add(node.wanted_name(), op, layers_of(node));
    node.network().define(node.proto().output(i), OnnxActivation{id, std::move(axes), {}});
    node.network().note(note_of(op));
  }
}

KnownOps opaque_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Resize", read_resize},
      KnownOp{"Upsample", read_resize},
  };
  return kOps;
}

}  // namespace strata
