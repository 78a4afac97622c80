#pragma once

// What ONNX's shape inference (1.12) takes for granted, and reads out of bounds or divides by zero
// where it is not so; and what it gets wrong. Pure; thread-safe.

#include <map>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/formats/onnx/tensor_values.h"

namespace strata {

/// Throws InputError that says what is wrong (not in which node). `dims` are those of values before
/// the node, where they are known.
void check_for_inference(const onnx::NodeProto& node,
                         const std::map<std::string, TensorDims, std::less<>>& dims);

/// A pooling in ceil mode has no window that starts behind its input, in the padding: PyTorch has
/// none, nor have later versions of ONNX. Takes it off an output of a pooling.
void drop_late_windows(const onnx::NodeProto& node, const TensorDims& input,
                       onnx::TypeProto& output);

/// Whether the shape of what it writes depends on numbers in floats.
bool wants_scales(const onnx::NodeProto& node);
/// Whether a tensor could hold them: a few numbers of the model's own.
bool may_be_scales(const onnx::TensorProto& tensor);
/// Inference makes integers of extents times these, which must fit. Throws InputError.
std::vector<float> checked_scales(const onnx::TensorProto& tensor);

}  // namespace strata
