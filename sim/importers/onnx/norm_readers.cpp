// BatchNormalization, LayerNormalization, LRN, Dropout, and the Softmax at a network's end.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

[[noreturn]] void fail_channels(const OnnxTensor& tensor, std::int64_t channels) {
  throw InputError(fmt::format("its parameter '{}' is {}; allowed: ({})", shown(tensor.name),
                               print_dims(tensor.dims), channels));
}

void check_channels(const OnnxTensor& tensor, std::int64_t channels) {
  if (tensor.dims != TensorDims{channels}) fail_channels(tensor, channels);
}

bool is_constant(const OnnxTensor& tensor, float value) {
  const bool inside = tensor.constant && tensor.proto && holds_floats(*tensor.proto) &&
                      tensor.proto->data_location() != onnx::TensorProto::EXTERNAL;
  if (!inside) return false;
  const std::vector<float> values = float_values(*tensor.proto, "");
  return std::all_of(values.begin(), values.end(), [&](float each) { return each == value; });
}

// Whether an input is this number throughout, which no optimiser knows.
bool is_fixed(OnnxNode& node, int i, float value) {
  const OnnxTensor* tensor = node.network().tensor(node.proto().input(i));
  if (tensor != nullptr) return is_constant(*tensor, value);
  return node.network().number(node.proto().input(i)) == static_cast<double>(value);
}

// From `axis` on all axes are normalised together: of more than one element only the channels.
void check_normalises_channels(const OnnxNode& node, const OnnxActivation& input) {
  const auto rank = std::ssize(input.axes);
  const std::int64_t said = node.attributes().integer("axis", -1);
  const std::int64_t first = said < 0 ? said + rank : said;
  const Extents& extents = node.extents(input);
  bool channels = false, others = first < 0;
  for (std::int64_t i = std::max<std::int64_t>(first, 0); i < rank; ++i) {
    const Axis& axis = input.axes[static_cast<std::size_t>(i)];
    if (axis == Dim::c) channels = true;
    if (axis && axis != Dim::c && (axis == Dim::n || extents[*axis] > 1)) others = true;
  }
  if (channels && !others) return;
  throw InputError(
      fmt::format("axis is {}, from which on it normalises other axes than the channels; allowed: "
                  "the channels alone, as axis 1 of (n, c) or (n, c, 1, 1)",
                  said));
}

// Opsets below 13 take the axes from `axis` on together; later ones that axis alone.
bool is_over_channels(const OnnxNode& node, const OnnxActivation& input) {
  const auto rank = static_cast<std::int64_t>(input.axes.size());
  std::int64_t axis = node.attributes().integer("axis", node.opset() < 13 ? 1 : -1);
  if (axis < 0) axis += rank;
  return axis == 1 && rank == 2;
}

// But for names that its output has besides.
bool is_last(OnnxNode& node) {
  const OnnxNetwork& network = node.network();
  const std::string* name = &node.output();
  const onnx::NodeProto* reader = network.only_reader(*name);
  while (reader != nullptr && reader->op_type() == "Identity") {
    name = &reader->output(0);
    reader = network.only_reader(*name);
  }
  return network.is_output(*name) && network.reader_count(*name) == 0;
}

// The node that writes a value, if it is such an op of so many inputs.
const onnx::NodeProto* writer(OnnxNode& node, const std::string& name, std::string_view op,
                              int inputs) {
  const onnx::NodeProto* found = node.network().writer(name);
  const bool is_it = found && found->op_type() == op && found->input_size() == inputs;
  return is_it ? found : nullptr;
}

bool is_drawn_from_unit(OnnxNode& node, const std::string& name) {
  const auto* draws = writer(node, name, "RandomUniformLike", 1);
  if (draws == nullptr) return false;
  const NodeAttributes attributes(*draws);
  return attributes.number("low", 0) == 0 && attributes.number("high", 1) == 1;
}

// Of a mask Div(Cast(Less(RandomUniformLike(...), keep)), keep), drawn from 0 to 1: keep.
std::optional<double> kept_by_draws(OnnxNode& node, const std::string& mask) {
  const auto* scaled = writer(node, mask, "Div", 2);
  if (scaled == nullptr) return std::nullopt;
  const auto* cast = writer(node, scaled->input(0), "Cast", 1);
  if (cast == nullptr) cast = writer(node, scaled->input(0), "CastLike", 2);
  const auto* less = cast ? writer(node, cast->input(0), "Less", 2) : nullptr;
  if (less == nullptr || !is_drawn_from_unit(node, less->input(0))) return std::nullopt;
  const auto keep = node.network().number(less->input(1));
  return keep == node.network().number(scaled->input(1)) ? keep : std::nullopt;
}

// Of its five inputs and up to five outputs two and one are ours: training takes the batch's own
// mean and variance.
void read_batch_norm(OnnxNode& node) {
  const OnnxActivation& input = node.usual(0);
  if (node.attributes().integer("spatial", 1) != 1) throw InputError("spatial is 0; allowed: 1");
  const std::int64_t channels = node.extents(input)[Dim::c];
  for (const int i : {1, 2}) check_channels(node.tensor(i), channels);
  OnnxParameters parameters{node.tensor(1), node.tensor(2)};
  const double epsilon = node.attributes().number("epsilon", 1e-5);
  const LayerId id = node.layer(BatchNorm{epsilon}, {input.layer});
  node.network().set_parameters(id, std::move(parameters));
  node.network().note(
      "batch normalisation: its running mean and variance are left out, for "
      "training takes the batch's own");
  if (!node.tensor(1).constant || !node.tensor(2).constant) return;
  node.network().note(
      "batch normalisation: its scale and bias are constants of the graph, as those of "
      "affine=False; here they are trained");
}

// The scale and the shift of affine=False are constants, and no parameters.
void read_layer_norm(OnnxNode& node) {
  const OnnxActivation input = node.activation(0);
  check_normalises_channels(node, input);
  const double epsilon = node.attributes().number("epsilon", 1e-5);
  const bool shifts = node.has_input(2);
  if (is_fixed(node, 1, 1) && (!shifts || is_fixed(node, 2, 0))) {
    node.layer(LayerNorm{epsilon, false}, {input.layer}, input.axes);
    return;
  }
  if (!shifts) throw InputError("it has a scale and no B; allowed: both, or a constant scale of 1");
  const std::int64_t channels = node.extents(input)[Dim::c];
  for (const int i : {1, 2}) {
    if (element_count(node.tensor(i).dims) != channels) fail_channels(node.tensor(i), channels);
  }
  OnnxParameters parameters{node.tensor(1), node.tensor(2)};
  const LayerId id = node.layer(LayerNorm{epsilon}, {input.layer}, input.axes);
  node.network().set_parameters(id, std::move(parameters));
}

void read_lrn(OnnxNode& node) {
  const OnnxActivation& input = node.usual(0);
  const NodeAttributes& attributes = node.attributes();
  const LocalResponseNorm op{attributes.integer("size", 5), attributes.number("alpha", 1e-4),
                             attributes.number("beta", 0.75), attributes.number("bias", 1)};
  node.layer(op, {input.layer});
}

// Kept, whatever the file was exported for: this is a tool for training.
void read_dropout(OnnxNode& node) {
  const OnnxActivation input = node.activation(0);
  const double ratio =
      shortest(static_cast<float>(node.scalar(1, node.attributes().number("ratio", 0.5))));
  if (ratio == 0) return node.alias(input);
  node.layer(Dropout{ratio}, {input.layer}, input.axes);
}

void read_softmax(OnnxNode& node) {
  const OnnxActivation input = node.activation(0);
  if (!is_last(node) || !is_over_channels(node, input))
    throw InputError("allowed: over the channels of (n, c), at the network's end");
  node.network().note("the softmax at its end is left out: the loss has it");
  node.alias(input);
}

}  // namespace

// As PyTorch's exporter writes one that works in place.
bool read_drawn_dropout(OnnxNode& node) {
  for (const int x : {0, 1}) {
    const std::string& mask = node.proto().input(1 - x);
    const auto keep = kept_by_draws(node, mask);
    if (!keep) continue;
    const auto& dims = node.network().shapes().dims;
    const auto at = dims.find(mask);
    if (at == dims.end() || at->second != node.output_dims())
      throw InputError("what passes is drawn at random; allowed: for each element, as in dropout");
    const OnnxActivation input = node.activation(x);
    const double ratio = shortest(static_cast<float>(1 - shortest(static_cast<float>(*keep))));
    node.layer(Dropout{ratio}, {input.layer}, input.axes);
    return true;
  }
  return false;
}

KnownOps norm_readers() {
  static constexpr std::array kOps = {
      KnownOp{"BatchNormalization", read_batch_norm},
      KnownOp{"Dropout", read_dropout},
      KnownOp{"LRN", read_lrn},
      KnownOp{"LayerNormalization", read_layer_norm},
      KnownOp{"LogSoftmax", read_softmax},
      KnownOp{"Softmax", read_softmax},
  };
  return kOps;
}

}  // namespace strata
