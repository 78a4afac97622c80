#pragma once

// ONNX's own checker and shape inference, of one node at a time, which goes through it as a model
// of its own, and what its inference (1.12) takes for granted of a node: it reads out of bounds or
// divides by zero where that does not hold. Pure; thread-safe.

#include <map>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/known_values.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

/// Whether a node that the library knows has the inputs and attributes of its op in that opset, or
/// in kLibraryOpset where that is older. Throws InputError that says what is wrong (not in which
/// node).
void check_by_library(const onnx::NodeProto& node, int opset);

/// That a node has the inputs which its op cannot do without, for those that no library checks: of
/// an opset that it does not know. Throws InputError that says which is missing (not in which
/// node).
void check_inputs(const onnx::NodeProto& node);

using ValueTypes = std::map<std::string, onnx::TypeProto, std::less<>>;

/// The types of what a node writes, with the dims that ONNX knows. Of a node that ONNX's library
/// knows and that check_by_library and check_for_inference accept; `types` are those of values
/// before it. Throws InputError that says what is wrong (not in which node).
std::vector<onnx::ValueInfoProto> infer_by_library(const onnx::NodeProto& node, int opset,
                                                   const KnownValues& known,
                                                   const ValueTypes& types);

/// Throws InputError that says what is wrong (not in which node). `dims` are those of values before
/// the node, where they are known.
void check_for_inference(const onnx::NodeProto& node,
                         const std::map<std::string, TensorDims, std::less<>>& dims);

}  // namespace strata
