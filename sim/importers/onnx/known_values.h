#pragma once

// What is known of the values of a graph before a node of it: their dims, and the numbers that say
// shapes, bounds and scales. Grows node by node; not thread-safe. A KnownNode is one node's view of
// it.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/integer_folding.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

class KnownValues {
 public:
  /// Throws InputError for dims that no value of a network has.
  void add(const std::string& name, TensorDims dims);
  void add_integers(const std::string& name, std::vector<std::int64_t> values);
  /// Of floats that are this number, all of them.
  void add_number(const std::string& name, double number) { numbers_[name] = number; }
  /// An initializer, which must live as long as this, or the value of a Constant.
  void add_tensor(const std::string& name, const onnx::TensorProto& tensor);
  void add_constant(const std::string& name, onnx::TensorProto tensor);

  /// None where they are not known.
  const TensorDims* dims(const std::string& name) const;
  std::optional<KnownIntegers> integers(const std::string& name) const;
  /// May be infinite or not a number.
  std::optional<double> number(const std::string& name) const;
  /// Throws InputError where one is not finite.
  std::optional<std::vector<float>> floats(const std::string& name) const;
  /// An initializer or a Constant with few values.
  const onnx::TensorProto* tensor(const std::string& name) const;

  using Dims = std::map<std::string, TensorDims, std::less<>>;
  using Numbers = std::map<std::string, double, std::less<>>;
  const Dims& all_dims() const { return dims_; }
  /// Of what nodes compute.
  const Dims& computed_integers() const { return integers_; }
  const Numbers& computed_numbers() const { return numbers_; }

 private:
  Dims dims_, integers_;
  Numbers numbers_;
  std::map<std::string, const onnx::TensorProto*, std::less<>> tensors_;
  std::deque<onnx::TensorProto> constants_;
};

class KnownNode {
 public:
  KnownNode(const onnx::NodeProto& node, int opset, const KnownValues& values)
      : node_(node), attributes_(node), opset_(opset), values_(values) {}

  const onnx::NodeProto& proto() const { return node_; }
  const NodeAttributes& attributes() const { return attributes_; }
  int opset() const { return opset_; }
  int input_count() const { return node_.input_size(); }
  /// Inputs at the end may be absent, and those before it be left empty.
  bool has_input(int i) const { return i < node_.input_size() && !node_.input(i).empty(); }
  bool knows(int i) const { return has_input(i) && values_.dims(node_.input(i)) != nullptr; }
  /// Of an input that it knows.
  const TensorDims& dims(int i) const { return *values_.dims(node_.input(i)); }
  /// None where they are not known.
  std::optional<std::vector<std::int64_t>> integers(int i) const;
  std::optional<std::vector<float>> floats(int i) const;
  /// From the attribute or, where the opset has them there, from input `i`; none where that is not
  /// known, and empty where the node has neither.
  std::optional<std::vector<std::int64_t>> integers(const char* attribute, int i) const;

 private:
  const onnx::NodeProto& node_;
  NodeAttributes attributes_;
  int opset_;
  const KnownValues& values_;
};

}  // namespace strata
