// Norms and activations of tokens that exporters spell out: layer norm and RMS norm from their
// means, GELU from tanh, SwiGLU from SiLU and a product.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

// The nodes of a pattern behind one node: each reads what the one before it writes, casts between.
class Chain {
 public:
  explicit Chain(OnnxNode& node) : network_(&node.network()), at_(node.output()) {}

  const std::string& at() const { return at_; }
  const std::vector<const onnx::NodeProto*>& nodes() const { return nodes_; }
  explicit operator bool() const { return whole_; }

  /// What a name is but for casts.
  std::string root(std::string name) const {
    for (const onnx::NodeProto* writer = network_->writer(name);
         writer != nullptr && is_cast(*writer); writer = network_->writer(name))
      name = writer->input(0);
    return name;
  }
  std::string root() const { return root(at_); }

  /// To the only reader, such an op.
  Chain& then(std::string_view op) {
    skip_casts();
    const onnx::NodeProto* reader = network_->only_reader(at_);
    if (reader == nullptr || reader->op_type() != op) return fail();
    return go(*reader);
  }
  /// To one of several readers, the first such op.
  Chain& one(std::string_view op) {
    skip_casts();
    for (const onnx::NodeProto* reader : network_->readers(at_)) {
      if (reader->op_type() == op) return go(*reader);
    }
    return fail();
  }
  /// The other input of the node that was reached last; empty where it has none.
  const std::string& other() const {
    static const std::string kNone;
    if (!whole_ || nodes_.empty() || nodes_.back()->input_size() != 2) return kNone;
    const onnx::NodeProto& node = *nodes_.back();
    return node.input(node.input(0) == before_ ? 1 : 0);
  }
  std::optional<double> number() const {
    const auto found = other().empty() ? nullptr : network_->numbers(other());
    return found != nullptr && found->values.size() == 1 ? std::optional(found->values[0])
                                                         : std::nullopt;
  }
  Chain& by(double wanted) {
    const auto found = number();
    return found && is_near(*found, wanted) ? *this : fail();
  }
  Chain& with(const std::string& wanted) { return root(other()) == wanted ? *this : fail(); }
  Chain& fail() {
    whole_ = false;
    return *this;
  }

 private:
  static bool is_cast(const onnx::NodeProto& node) {
    return node.op_type() == "Cast" || node.op_type() == "Identity" || node.op_type() == "CastLike";
  }
  void skip_casts() {
    for (const onnx::NodeProto* reader = network_->only_reader(at_);
         reader != nullptr && is_cast(*reader); reader = network_->only_reader(at_))
      go(*reader);
  }
  Chain& go(const onnx::NodeProto& node) {
    before_ = at_;
    at_ = node.output(0);
    nodes_.push_back(&node);
    return *this;
  }

  OnnxNetwork* network_;
  std::string at_, before_;
  std::vector<const onnx::NodeProto*> nodes_;
  bool whole_ = true;
};

void absorb(OnnxNode& node, const Chain& chain) {
  for (const auto* part : chain.nodes()) node.network().absorb(*part, node.proto());
}

// The axes of a reduction, since opset 18 an input.
std::vector<std::int64_t> reduction_axes(OnnxNode& node, const onnx::NodeProto& reduction) {
  if (reduction.input_size() < 2) return NodeAttributes(reduction).integers("axes");
  const auto found = node.network().numbers(reduction.input(1));
  return found == nullptr ? std::vector<std::int64_t>() : integers_of(*found);
}

bool is_over_last(OnnxNode& node, const onnx::NodeProto& reduction, std::int64_t rank) {
  const std::vector<std::int64_t> axes = reduction_axes(node, reduction);
  return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1) &&
         NodeAttributes(reduction).integer("keepdims", 1) != 0;
}

const OnnxTensor* channels_tensor(OnnxNode& node, const std::string& name, std::int64_t channels) {
  const OnnxTensor* tensor = node.network().tensor(name);
  const bool fits = tensor != nullptr && element_count(tensor->dims) == channels;
  return fits ? tensor : nullptr;
}

// x - mean, divided by the root of its mean square, times a scale, plus a shift.
bool read_spelled_layer_norm(OnnxNode& node) {
  const auto& dims = node.network().shapes().dims;
  const auto at = dims.find(node.proto().input(0));
  if (at == dims.end() || !is_over_last(node, node.proto(), std::ssize(at->second))) return false;
  Chain mean(node);
  const std::string x = mean.root(node.proto().input(0));
  mean.then("Sub").with(x);
  if (!mean) return false;
  Chain root = mean;
  root.one("Pow").by(2).then("ReduceMean");
  if (!root || !is_over_last(node, *root.nodes().back(), std::ssize(at->second))) return false;
  root.then("Add");
  const auto epsilon = root.number();
  root.then("Sqrt").then("Div").with(mean.root()).then("Mul");
  const std::string scale = root.other();
  root.then("Add");
  const std::string shift = root.other();
  if (!root || !epsilon) return false;
  const OnnxActivation input = node.activation(0);
  const std::int64_t channels = node.extents(input)[Dim::c];
  const OnnxTensor *weight = channels_tensor(node, scale, channels),
                   *bias = channels_tensor(node, shift, channels);
  if (weight == nullptr || bias == nullptr || input.axes.back() != Dim::c) return false;
  absorb(node, root);
  const LayerId id = node.layer(LayerNorm{shortest(static_cast<float>(*epsilon))}, {input.layer},
                                input.axes, *root.nodes().back());
  node.network().set_parameters(id, {*weight, *bias});
  return true;
}

/// Heads of a layer's channels along the last axis, all of them, as they are when they are split:
/// (n, w, heads, size).
struct OnnxHeads {
  OnnxView view;
  std::int64_t size = 0;
};

std::optional<OnnxHeads> heads_in(OnnxNode& node) {
  const auto view = view_of(node.network(), node.value(0));
  if (!view || view->axes.size() != 4 || view->scale != 1 || view->rotary != 0) return std::nullopt;
  const std::int64_t size = extent_of(view->axes.back());
  const auto is = [](const ViewAxis& axis, std::int64_t stride) {
    return axis.size() == 1 && axis[0].dim == Dim::c && axis[0].stride == stride;
  };
  const auto heads =
      std::ranges::find_if(view->axes, [&](const ViewAxis& axis) { return is(axis, size); });
  if (!is(view->axes.back(), 1) || heads == view->axes.end()) return std::nullopt;
  const OnnxView whole = with_layer(node.network(), *view);
  if (node.network().output(whole.layer)[Dim::c] != size * extent_of(*heads)) return std::nullopt;
  return OnnxHeads{whole, size};
}

// The scale that multiplies what is divided by its root mean square, in the layer's channels or in
// each of its heads'. `spelled`: the nodes behind this one that it takes, the last of which gives
// the output.
bool add_rms_norm(OnnxNode& node, double epsilon, const std::string& scale,
                  const std::vector<const onnx::NodeProto*>& spelled) {
  OnnxNetwork& network = node.network();
  const onnx::NodeProto& last = spelled.empty() ? node.proto() : *spelled.back();
  const auto heads = heads_in(node);
  const OnnxActivation input =
      heads ? OnnxActivation{heads->view.layer, {}, {}} : node.activation(0);
  const std::int64_t channels = heads ? heads->size : node.extents(input)[Dim::c];
  const OnnxTensor* found = channels_tensor(node, scale, channels);
  if (found == nullptr || (!heads && input.axes.back() != Dim::c)) return false;
  const OnnxTensor weight = *found;
  for (const auto* part : spelled) network.absorb(*part, node.proto());
  const RmsNorm op{epsilon, heads ? heads->size : 0};
  const LayerId id = heads ? network.add(node.wanted_name(), op, {input.layer})
                           : node.layer(op, {input.layer}, input.axes, last);
  if (heads) network.define(last.output(0), OnnxView{.layer = id, .axes = heads->view.axes});
  network.set_parameters(id, {weight, {}});
  return true;
}

// x divided by the root of its mean square, times a scale; from the square on.
bool read_rms_norm(OnnxNode& node) {
  const auto& dims = node.network().shapes().dims;
  const auto at = dims.find(node.output());
  if (at == dims.end()) return false;
  Chain chain(node);
  const std::string x = chain.root(node.proto().input(0));
  chain.then("ReduceMean");
  if (!chain || !is_over_last(node, *chain.nodes().back(), std::ssize(at->second))) return false;
  chain.then("Add");
  const auto epsilon = chain.number();
  chain.then("Sqrt");
  Chain inverse = chain, quotient = chain;
  inverse.then("Reciprocal").then("Mul").with(x);
  if (!inverse) {
    inverse = chain;
    inverse.then("Div").by(1).then("Mul").with(x);
  }
  if (!inverse) inverse = quotient.then("Div").with(x);
  inverse.then("Mul");
  if (!inverse || !epsilon) return false;
  return add_rms_norm(node, shortest(static_cast<float>(*epsilon)), inverse.other(),
                      inverse.nodes());
}

void note_tanh(OnnxNode& node) {
  node.network().note("gelu by tanh is read as gelu by erf, from which it differs by up to 5e-4");
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), from the cube on.
bool read_tanh_gelu(OnnxNode& node) {
  Chain chain(node);
  const std::string x = chain.root(node.proto().input(0));
  chain.then("Mul").by(0.044715).then("Add").with(x).then("Mul");
  chain.by(std::sqrt(2 / std::numbers::pi)).then("Tanh").then("Add").by(1).then("Mul");
  if (!chain) return false;
  const std::string factor = chain.other();
  const onnx::NodeProto* half = node.network().writer(factor);
  if (chain.root(factor) == x) {
    chain.then("Mul").by(0.5);
  } else {
    const bool halves = half != nullptr && half->op_type() == "Mul" &&
                        (chain.root(half->input(0)) == x || chain.root(half->input(1)) == x);
    const auto by =
        halves ? node.network().numbers(half->input(chain.root(half->input(0)) == x ? 1 : 0))
               : nullptr;
    if (by == nullptr || by->values != std::vector<double>{0.5}) return false;
  }
  if (!chain) return false;
  const OnnxActivation input = node.activation(0);
  absorb(node, chain);
  if (chain.root(factor) != x) node.network().absorb(*half, node.proto());
  node.layer(Activation{ActivationKind::gelu}, {input.layer}, input.axes, *chain.nodes().back());
  note_tanh(node);
  return true;
}

bool is_power(OnnxNode& node, double wanted) {
  const auto by = node.network().numbers(node.proto().input(1));
  return by != nullptr && by->values == std::vector<double>{wanted};
}

bool read_power(OnnxNode& node) {
  if (!node.is_data(0)) return false;
  if (is_power(node, 2)) return read_rms_norm(node);
  return is_power(node, 3) && read_tanh_gelu(node);
}

bool read_square(OnnxNode& node) {
  return node.is_data(0) && node.proto().input(0) == node.proto().input(1) && read_rms_norm(node);
}

bool read_rms_op(OnnxNode& node) {
  if (!node.is_data(0)) return false;
  const auto& dims = node.network().shapes().dims;
  const auto at = dims.find(node.proto().input(0));
  const std::int64_t axis = node.attributes().integer("axis", -1);
  const bool is_last = axis == -1 || (at != dims.end() && axis == std::ssize(at->second) - 1);
  const double epsilon = node.attributes().number("epsilon", 1e-5);
  if (is_last && add_rms_norm(node, epsilon, node.proto().input(1), {})) return true;
  throw InputError("allowed: over the channels, which come last, with a scale for each");
}

bool read_gelu_by_tanh(OnnxNode& node) {
  if (!node.is_data(0) || node.attributes().text("approximate", "none") != "tanh") return false;
  const OnnxActivation input = node.activation(0);
  node.layer(Activation{ActivationKind::gelu}, {input.layer}, input.axes);
  note_tanh(node);
  return true;
}

// x Sigmoid(x), which another Mul alone reads.
bool read_gate(OnnxNode& node) {
  Chain chain(node);
  chain.then("Mul");
  if (!chain || chain.other() != node.proto().input(0)) return false;
  const onnx::NodeProto& product = *chain.nodes().back();
  chain.then("Mul");
  if (!chain || chain.other().empty() || node.network().numbers(chain.other()) != nullptr)
    return false;
  const OnnxActivation input = node.activation(0);
  node.network().absorb(product, node.proto());
  node.network().define(product.output(0), OnnxGate{input, node.wanted_name()});
  return true;
}

bool read_gated(OnnxNode& node) {
  for (const int i : {0, 1}) {
    const auto* given = std::get_if<OnnxGate>(&node.value(i));
    if (given == nullptr || !node.is_data(1 - i)) continue;
    const OnnxGate gate = *given;
    const OnnxActivation other = node.activation(1 - i);
    if (other.axes != gate.input.axes || node.extents(other) != node.extents(gate.input))
      return false;
    node.layer(GatedActivation{}, {gate.input.layer, other.layer}, other.axes);
    return true;
  }
  return false;
}

}  // namespace

TokenOps spelled_ops() {
  static constexpr std::array kOps = {
      TokenOp{"Gelu", read_gelu_by_tanh},
      TokenOp{"Mul", read_gated},
      TokenOp{"Mul", read_square},
      TokenOp{"Pow", read_power},
      TokenOp{"RMSNormalization", read_rms_op},
      TokenOp{"ReduceMean", read_spelled_layer_norm},
      TokenOp{"Sigmoid", read_gate},
  };
  return kOps;
}

}  // namespace strata
