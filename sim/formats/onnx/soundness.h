#pragma once

// What must hold of an ONNX file before anything is read from it: versions, names, the order of its
// nodes, ops that are known, and each node as ONNX's own checker has it. Pure; thread-safe.

#include <string>

#include <onnx/onnx_pb.h>

namespace strata {

inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 17;

/// The opset of ONNX's own ops. Throws InputError "FILE: ..." for one that is not read here.
int opset_of(const onnx::ModelProto& model, const std::string& file);

/// Throws InputError with a line for each of the first ten errors. `any_op`: ONNX's own ops need no
/// reader here, but for those that hold graphs.
void check_sound(const onnx::ModelProto& model, const std::string& file, bool any_op = false);

}  // namespace strata
