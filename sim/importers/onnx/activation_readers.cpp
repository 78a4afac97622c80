// Activations, some of which exporters spell out: x Sigmoid(x), x HardSigmoid(x) and Gelu's Erf.

#include <array>
#include <cfloat>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

void add_activation(OnnxNode& node, ActivationKind kind, double slope = Activation{}.slope) {
  const OnnxActivation& input = node.activation(0);
  node.layer(Activation{kind, slope}, {input.layer}, input.axes);
}

// Of a node with two inputs, the one that is not `name`; none where both are or neither is.
const std::string* other_input(const onnx::NodeProto& node, const std::string& name) {
  if (node.input_size() != 2) return nullptr;
  const int first = node.input(0) == name ? 0 : 1;
  if (node.input(first) != name || node.input(1 - first) == name) return nullptr;
  return &node.input(1 - first);
}

// The node that alone reads `name`, if it is such an op.
const onnx::NodeProto* next(OnnxNode& node, const std::string& name, std::string_view op) {
  const onnx::NodeProto* reader = node.network().only_reader(name);
  return reader && reader->op_type() == op ? reader : nullptr;
}

// As next(), of an op of `name` and a constant.
const onnx::NodeProto* next_with(OnnxNode& node, const std::string& name, std::string_view op,
                                 double constant) {
  const onnx::NodeProto* reader = next(node, name, op);
  const std::string* other = reader ? other_input(*reader, name) : nullptr;
  const auto number = other ? node.network().number(*other) : std::nullopt;
  return number && is_near(*number, constant) ? reader : nullptr;
}

// The Mul of this node's output, which nothing else reads, with its input.
const onnx::NodeProto* times_input(OnnxNode& node, const std::string& name) {
  const onnx::NodeProto* product = next(node, name, "Mul");
  const std::string* other = product ? other_input(*product, name) : nullptr;
  return other && *other == node.proto().input(0) ? product : nullptr;
}

void add_product(OnnxNode& node, ActivationKind kind, const onnx::NodeProto& product) {
  const OnnxActivation& input = node.activation(0);
  node.network().absorb(product, node.proto());
  node.layer(Activation{kind}, {input.layer}, input.axes, product);
}

double bound(const OnnxNode& node, const char* attribute, int i, double absent) {
  return node.opset() < 11 ? node.attributes().number(attribute, absent) : node.scalar(i, absent);
}

// The two products behind 1 + Erf(x / sqrt(2)), in the order that they have; none where one is not
// there.
std::vector<const onnx::NodeProto*> gelu_products(OnnxNode& node, const std::string& sum) {
  if (const auto* product = times_input(node, sum))
    return {product, next_with(node, product->output(0), "Mul", 0.5)};
  const auto* half = next_with(node, sum, "Mul", 0.5);
  return {half, half ? times_input(node, half->output(0)) : nullptr};
}

void read_relu(OnnxNode& node) {
  add_activation(node, ActivationKind::relu);
}

void read_leaky_relu(OnnxNode& node) {
  add_activation(node, ActivationKind::leaky_relu, node.attributes().number("alpha", 0.01));
}

void read_elu(OnnxNode& node) {
  add_activation(node, ActivationKind::elu, node.attributes().number("alpha", 1));
}

void read_tanh(OnnxNode& node) {
  add_activation(node, ActivationKind::tanh);
}

void read_gelu(OnnxNode& node) {
  const std::string approximate = node.attributes().text("approximate", "none");
  if (approximate != "none")
    throw InputError(
        fmt::format("it is approximated by {}; allowed: none, tanh", shown(approximate)));
  add_activation(node, ActivationKind::gelu);
}

void read_hard_swish(OnnxNode& node) {
  add_activation(node, ActivationKind::hard_swish);
}

void read_clip(OnnxNode& node) {
  const double low = bound(node, "min", 1, -INFINITY);
  const double high = bound(node, "max", 2, INFINITY);
  const bool no_low = low <= -FLT_MAX;
  const bool no_high = high >= FLT_MAX;
  if (no_low && no_high) return node.alias(node.activation(0));
  if (low == 0 && no_high) return add_activation(node, ActivationKind::relu);
  if (low == 0 && high == 6) return add_activation(node, ActivationKind::relu6);
  throw InputError(fmt::format("it clips to {} ... {}; allowed: 0 ... 6, 0 ... inf", low, high));
}

void read_sigmoid(OnnxNode& node) {
  if (const auto* product = times_input(node, node.output()))
    return add_product(node, ActivationKind::silu, *product);
  add_activation(node, ActivationKind::sigmoid);
}

void read_hard_sigmoid(OnnxNode& node) {
  const double alpha = node.attributes().number("alpha", 0.2);
  const double beta = node.attributes().number("beta", 0.5);
  if (!is_near(alpha, 1.0 / 6) || !is_near(beta, 0.5))
    throw InputError(fmt::format("alpha is {}, beta {}; allowed: 1/6 and 0.5", alpha, beta));
  if (const auto* product = times_input(node, node.output()))
    return add_product(node, ActivationKind::hard_swish, *product);
  add_activation(node, ActivationKind::hard_sigmoid);
}

// 0.5 x (1 + Erf(x / sqrt(2))), from the division on.
void read_division(OnnxNode& node) {
  const onnx::NodeProto& division = node.proto();
  const auto by = node.network().number(division.input(1));
  const bool root = by && is_near(*by, std::numbers::sqrt2);
  const auto* erf = root ? next(node, node.output(), "Erf") : nullptr;
  const auto* plus_one = erf ? next_with(node, erf->output(0), "Add", 1) : nullptr;
  const auto products = gelu_products(node, plus_one ? plus_one->output(0) : "");
  const bool whole = plus_one && products.back() != nullptr;
  if (!whole) throw InputError("allowed: of shapes, and in 0.5 x (1 + Erf(x / sqrt(2)))");
  for (const auto* part : {erf, plus_one, products.front()}) node.network().absorb(*part, division);
  add_product(node, ActivationKind::gelu, *products.back());
}

// Of a pattern's parts those that come after its first were absorbed.
void read_part_of_pattern(OnnxNode&) {
  throw InputError("allowed: in 0.5 x (1 + Erf(x / sqrt(2)))");
}

}  // namespace

KnownOps activation_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Clip", read_clip},
      KnownOp{"Div", read_division},
      KnownOp{"Elu", read_elu},
      KnownOp{"Erf", read_part_of_pattern},
      KnownOp{"Gelu", read_gelu},
      KnownOp{"HardSigmoid", read_hard_sigmoid},
      KnownOp{"HardSwish", read_hard_swish},
      KnownOp{"LeakyRelu", read_leaky_relu},
      KnownOp{"Relu", read_relu},
      KnownOp{"Sigmoid", read_sigmoid},
      KnownOp{"Tanh", read_tanh},
  };
  return kOps;
}

}  // namespace strata
