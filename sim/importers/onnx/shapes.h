#pragma once

// The shapes of a model's values: by our own rules where there is one for the op (shape_rules.h),
// by ONNX's own inference for other ops that its library knows, and as the file says them where
// neither does. Integers that shapes are made of are computed on the way, so that a Reshape to a
// computed shape is known, too; what parameters hold does not matter, and stripped files have no
// values. Values; thread-safe to read.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/graph_inputs.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

struct OnnxShapes {
  GraphInputs inputs;
  /// What inference had for the batch: the file's own, or a number of ours where it is symbolic.
  std::int64_t batch = 1;
  std::map<std::string, TensorDims, std::less<>> dims;      ///< of values whose dims are all known
  std::map<std::string, TensorDims, std::less<>> integers;  ///< values that nodes compute
  /// Floats that nodes compute from constants, where all of a value's are one number.
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, int, std::less<>> elements;  ///< ONNX's types, of values that have one
  /// Values that come of ops which nothing here knows.
  std::set<std::string, std::less<>> unseen;
};

/// Of a model that check_sound accepts. Throws InputError "FILE: ...".
OnnxShapes infer_shapes(const onnx::ModelProto& model, const std::string& file);

}  // namespace strata
