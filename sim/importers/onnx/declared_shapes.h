#pragma once

// The shapes that a file says of its values itself, which inference takes where it knows no better.
// A value; thread-safe to read.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/graph_inputs.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

/// None where a dim is no number, or a negative one.
std::optional<TensorDims> known_dims(const onnx::TensorShapeProto& shape);

/// A view of a graph.
class DeclaredShapes {
 public:
  /// Dims that have the name of the inputs' batch are `batch`, and so are first dims of 0 and -1
  /// where the inputs' batch is one of these; other dims of 0 and -1 are not known.
  DeclaredShapes(const onnx::GraphProto& graph, const GraphInputs& inputs, std::int64_t batch);

  /// With all its dims known; or none.
  std::optional<onnx::TypeProto> type(const std::string& value) const;

 private:
  void add_batches(const onnx::GraphProto& graph, const GraphInputs& inputs);

  std::int64_t batch_;
  std::set<std::string> batch_names_;
  bool has_open_batch_ = false;  ///< 0 or -1
  std::map<std::string, const onnx::TypeProto*> types_;
};

}  // namespace strata
