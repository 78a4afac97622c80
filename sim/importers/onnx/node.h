#pragma once

// One node as its op's reader sees it: what it reads, its attributes, and how it says what it
// writes. All throw InputError that says what is wrong (not in which node). Not thread-safe.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/network.h"

namespace strata {

/// Whether a number of float32 is this one.
inline bool is_near(double value, double wanted) {
  return std::abs(value - wanted) <= 1e-4 * std::abs(wanted);
}

class OnnxNode {
 public:
  OnnxNode(OnnxNetwork& network, const onnx::NodeProto& node, int number, int opset)
      : network_(network), node_(node), attributes_(node), number_(number), opset_(opset) {}

  OnnxNetwork& network() { return network_; }
  const onnx::NodeProto& proto() const { return node_; }
  const NodeAttributes& attributes() const { return attributes_; }
  int opset() const { return opset_; }
  int input_count() const { return node_.input_size(); }
  const std::string& output() const { return node_.output(0); }
  /// Whether a node or the graph reads output `i`.
  bool is_used(int i) const;

  /// Inputs at the end may be absent, and those before it be left empty.
  bool has_input(int i) const { return i < data_inputs(node_) && !node_.input(i).empty(); }
  const OnnxValue& value(int i) const { return network_.value(node_.input(i)); }
  /// Whether an input depends on the network's data.
  bool is_data(int i) const { return has_input(i) && strata::is_data(value(i)); }
  bool is_tensor(int i) const { return std::holds_alternative<OnnxTensor>(value(i)); }
  const OnnxTensor& tensor(int i) const;
  /// In any order of its axes, without zeros around it; what is not yet a layer becomes one.
  const OnnxActivation& activation(int i) const;
  /// In the usual order, n, c, [d,] [h,] w.
  const OnnxActivation& usual(int i) const;
  /// In the usual order; the reader takes its zeros over.
  const OnnxActivation& padded(int i) const;
  const Extents& extents(const OnnxActivation& input) const { return network_.output(input.layer); }
  /// A number that an input holds, given or computed, or what it is when absent.
  double scalar(int i, double absent) const;
  /// The integers that an input holds, given or computed.
  std::vector<std::int64_t> integers(int i) const;

  /// The first output's dims, by inference.
  const TensorDims& output_dims() const;

  /// Of its layer: after PyTorch's module and its op, the node, or its op and number.
  std::string wanted_name() const;
  /// Appends the layer that computes this node's first output, or that of `last`, the end of a
  /// pattern that starts here; its axes are the usual ones, or those of an input.
  LayerId layer(Op op, std::vector<LayerId> inputs);
  LayerId layer(Op op, std::vector<LayerId> inputs, Axes axes);
  LayerId layer(Op op, std::vector<LayerId> inputs, Axes axes, const onnx::NodeProto& last);
  /// The first output is this value by another name.
  void alias(OnnxValue value);
  void write_shape() { network_.define(output(), OnnxShape{}); }

 private:
  const OnnxActivation& any_activation(int i) const;

  OnnxNetwork& network_;
  const onnx::NodeProto& node_;
  NodeAttributes attributes_;
  int number_, opset_;
};

}  // namespace strata
