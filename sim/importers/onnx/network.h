#pragma once

// The network that grows out of an ONNX graph: what its values are so far, the layers, and where
// the parameters of each come from. Not thread-safe.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/graph/graph.h"
#include "sim/importers/onnx/constants.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/shapes.h"
#include "sim/importers/onnx/value.h"

namespace strata {

/// The tensors of one layer's parameters.
struct OnnxParameters {
  OnnxTensor weight;
  std::optional<OnnxTensor> bias;
};

class OnnxNetwork {
 public:
  /// `folder` is the model's.
  OnnxNetwork(const onnx::GraphProto& graph, OnnxShapes shapes, std::string name,
              std::int64_t batch, const std::string& folder);

  const onnx::GraphProto& graph() const { return graph_; }
  const OnnxShapes& shapes() const { return shapes_; }
  const Extents& output(LayerId id) const { return builder_.output(id); }
  std::size_t size() const { return builder_.size(); }
  const Op& op(LayerId id) const { return ops_[id()]; }
  const std::string& name(LayerId id) const { return layer_names_[id()]; }

  /// A value that something before has defined.
  const OnnxValue& value(const std::string& name) const { return values_.at(name); }
  const OnnxTensor* tensor(const std::string& name) const;
  /// Of floats, given or computed from constants: the one that they all are.
  std::optional<double> number(const std::string& name) const;
  /// What constants alone compute, number by number; null where they do not.
  std::shared_ptr<const ConstantTensor> numbers(const std::string& name) {
    return evaluated_.find(name);
  }
  void define(const std::string& name, OnnxValue value);

  /// Appends a layer named after `wanted`. Throws InputError that does not name it.
  LayerId add(const std::string& wanted, Op op, std::vector<LayerId> inputs);
  void set_parameters(LayerId id, OnnxParameters parameters);
  const std::map<LayerId, OnnxParameters>& parameters() const { return parameters_; }

  /// Whether some output of the graph needs this node.
  bool is_live(int node) const { return live_[static_cast<std::size_t>(node)]; }
  /// The only node that reads a value, where one does and the value is no output of the graph; or
  /// none. It comes after the value's writer.
  const onnx::NodeProto* only_reader(const std::string& name) const;
  /// Of a value that some output of the graph needs; none for inputs and initializers, nor for
  /// nodes of other domains and those that hold graphs, which nothing has checked.
  const onnx::NodeProto* writer(const std::string& name) const;
  /// Those that some output of the graph needs, in order.
  std::vector<const onnx::NodeProto*> readers(const std::string& name) const;
  std::size_t reader_count(const std::string& name) const;
  bool is_output(const std::string& name) const { return outputs_.contains(name); }
  /// The graph's, but of several those of (n, c) that come before the last are left out.
  const std::set<std::string, std::less<>>& outputs() const { return outputs_; }

  /// A node whose work the layer of node `by` does, too, is passed over. What it writes has failed
  /// until that layer is there.
  void absorb(const onnx::NodeProto& node, const onnx::NodeProto& by);
  bool is_absorbed(const onnx::NodeProto& node) const { return absorbed_.contains(&node); }
  /// An Add whose constant became the bias of an earlier layer, that of `by`.
  void take_bias(const onnx::NodeProto& add, const onnx::NodeProto& by) { biases_[&add] = &by; }
  bool is_bias(const onnx::NodeProto& add) const { return biases_.contains(&add); }
  /// What `by` took is to be read as it is after all.
  void release(const onnx::NodeProto& by);

  /// Counts what is worth a note, by its text.
  void note(const std::string& text) { ++notes_[text]; }
  std::vector<std::string> notes() const;

  /// Ends the building.
  Graph build() && { return std::move(builder_).build(); }

 private:
  void choose_outputs();
  bool is_classes(const std::string& name, std::size_t rank) const;
  bool are_numbers_of_tokens(const std::string& name) const;
  bool has_numbers_of_tokens() const;
  bool are_tokens(const std::string& name) const;
  Axes input_axes(const std::string& name, std::size_t rank);
  void define_inputs();
  void define_tensors();
  void define_constant(const onnx::NodeProto& node);
  void define_copy(const onnx::NodeProto& node);
  void find_readers();

  const onnx::GraphProto& graph_;
  OnnxShapes shapes_;
  Constants evaluated_;
  GraphBuilder builder_;
  LayerNames names_;
  std::vector<Op> ops_;
  std::vector<std::string> layer_names_;
  std::map<std::string, OnnxValue, std::less<>> values_;
  std::map<LayerId, OnnxParameters> parameters_;
  std::deque<onnx::TensorProto> constants_;  ///< of Constant nodes that hold no tensor
  std::map<std::string, std::vector<const onnx::NodeProto*>, std::less<>> readers_;
  std::map<std::string, const onnx::NodeProto*, std::less<>> writers_;
  std::set<std::string, std::less<>> outputs_;
  std::vector<bool> live_;
  std::map<const onnx::NodeProto*, const onnx::NodeProto*> absorbed_, biases_;  ///< and by which
  std::map<std::string, int> notes_;
};

}  // namespace strata
