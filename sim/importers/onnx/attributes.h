#pragma once

// The attributes of one ONNX node, by name, with what they are when absent. The types of those that
// are there were checked against ONNX's own schemas. A view; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

namespace strata {

class NodeAttributes {
 public:
  explicit NodeAttributes(const onnx::NodeProto& node) : node_(&node) {}

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t absent) const;
  /// The shortest decimal that reads as the file's float32: 0.2, not 0.20000000298.
  double number(std::string_view name, double absent) const;
  std::string text(std::string_view name, std::string_view absent) const;
  /// Empty where absent.
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<float> numbers(std::string_view name) const;
  const onnx::TensorProto* tensor(std::string_view name) const;
  /// What value_float, value_int, value_floats or value_ints hold, as a tensor.
  std::optional<onnx::TensorProto> plain_constant() const;

 private:
  const onnx::AttributeProto* find(std::string_view name) const;

  const onnx::NodeProto* node_;
};

/// Of ONNX's own ops.
bool is_onnx_domain(const std::string& domain);
/// From how many of its inputs, the first ones, a node computes: of a CastLike's the second says
/// the type alone.
int data_inputs(const onnx::NodeProto& node);
/// As If, Loop and Scan do.
bool holds_graph(const onnx::NodeProto& node);

/// As NodeAttributes::number has it.
double shortest(float value);

/// From 0 on. Throws InputError that says what is allowed.
std::size_t checked_axis(std::int64_t axis, std::size_t rank);
/// Whether `order` has each axis of a tensor of this rank once, from 0 on.
bool has_each_axis_once(std::vector<std::int64_t> order, std::size_t rank);

/// The same of several, each at most once; sorted.
std::vector<std::size_t> checked_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

}  // namespace strata
