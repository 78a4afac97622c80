// Concat, Add and Sum, and the Mul of two activations.

#include <array>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

struct Joined {
  std::vector<LayerId> layers;
  Axes axes;
};

// Inputs whose axes have one order, whatever it is.
Joined inputs_of(OnnxNode& node) {
  Joined joined{{}, node.activation(0).axes};
  for (int i = 0; i < node.input_count(); ++i) {
    const OnnxActivation& input = node.activation(i);
    const bool usual = is_usual(input.axes, node.extents(input)) &&
                       is_usual(joined.axes, node.extents(node.activation(0)));
    if (input.axes.size() != joined.axes.size() || (input.axes != joined.axes && !usual))
      throw InputError("its inputs have their axes in different orders");
    if (usual) joined.axes = usual_axes(joined.axes.size());
    joined.layers.push_back(input.layer);
  }
  return joined;
}

// What is no initializer, which may be trained.
bool is_fixed(const OnnxNetwork& network, const std::string& name) {
  const OnnxTensor* tensor = network.tensor(name);
  return tensor == nullptr || tensor->constant;
}

// By 1, as the scale of an activation is where it has none.
bool read_unit_product(OnnxNode& node) {
  for (const int x : {0, 1}) {
    const auto* input = std::get_if<OnnxActivation>(&node.value(x));
    const std::string& other = node.proto().input(1 - x);
    if (input == nullptr || !is_fixed(node.network(), other)) continue;
    if (node.network().number(other) != 1.0) continue;
    node.alias(*input);
    return true;
  }
  return false;
}

void read_concat(OnnxNode& node) {
  Joined joined = inputs_of(node);
  const auto rank = static_cast<std::int64_t>(joined.axes.size());
  std::int64_t axis = node.attributes().integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || joined.axes[static_cast<std::size_t>(axis)] != Dim::c)
    throw InputError(fmt::format("its axis is {}; allowed: that of the channels", axis));
  if (joined.layers.size() == 1) return node.alias(node.activation(0));
  node.layer(Concat{}, std::move(joined.layers), std::move(joined.axes));
}

void read_add(OnnxNode& node) {
  if (node.network().is_bias(node.proto()))
    return node.alias(node.activation(node.is_tensor(0) ? 1 : 0));
  Joined joined = inputs_of(node);
  if (joined.layers.size() == 1) return node.alias(node.activation(0));
  node.layer(Add{}, std::move(joined.layers), std::move(joined.axes));
}

// The larger one first: the other may be its gate.
void read_multiply(OnnxNode& node) {
  if (read_drawn_dropout(node) || read_unit_product(node)) return;
  if (node.is_tensor(0) || node.is_tensor(1)) {
    throw InputError(
        "allowed: of shapes, of what depends on the network's input, and in "
        "0.5 x (1 + Erf(x / sqrt(2)))");
  }
  Joined joined = inputs_of(node);
  const auto size = [&](int i) { return volume(node.extents(node.activation(i))); };
  if (size(0) < size(1)) std::swap(joined.layers[0], joined.layers[1]);
  node.layer(Multiply{}, std::move(joined.layers), std::move(joined.axes));
}

}  // namespace

KnownOps join_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Add", read_add},
      KnownOp{"Concat", read_concat},
      KnownOp{"Mul", read_multiply},
      KnownOp{"Sum", read_add},
  };
  return kOps;
}

}  // namespace strata
