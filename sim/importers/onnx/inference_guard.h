#pragma once

// What shape inference takes for granted of a node: ONNX's own (1.12) reads out of bounds or
// divides by zero where it is not so. Pure; thread-safe.

#include <map>
#include <string>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/tensor_values.h"

namespace strata {

/// Throws InputError that says what is wrong (not in which node). `dims` are those of values before
/// the node, where they are known.
void check_for_inference(const onnx::NodeProto& node,
                         const std::map<std::string, TensorDims, std::less<>>& dims);

}  // namespace strata
