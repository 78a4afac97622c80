#pragma once

// The shapes of a model's values, by ONNX's own inference, with integers propagated, so that a
// Reshape to a computed shape is known, too. It runs on a copy whose parameters became inputs:
// their values do not matter, and stripped files have none. Values; thread-safe to read.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <onnx/onnx_pb.h>

#include "sim/formats/onnx/graph_inputs.h"
#include "sim/formats/onnx/tensor_values.h"

namespace strata {

struct OnnxShapes {
  GraphInputs inputs;
  /// What inference had for the batch: the file's own, or a number of ours where it is symbolic.
  std::int64_t batch = 1;
  std::map<std::string, TensorDims, std::less<>> dims;      ///< of values whose dims are all known
  std::map<std::string, TensorDims, std::less<>> integers;  ///< values that nodes compute
  /// Values that come of ops which inference does not know.
  std::set<std::string, std::less<>> unseen;
};

/// Of a model that check_sound accepts. Throws InputError "FILE: ...".
OnnxShapes infer_shapes(const onnx::ModelProto& model, const std::string& file);

}  // namespace strata
