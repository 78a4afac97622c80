#pragma once

// What must hold of an ONNX file before anything is read from it: versions, names, the order of its
// nodes, and each node as ONNX's own checker has it, or, where that does not know its opset, we do.
// Pure; thread-safe.

#include <string>

#include <onnx/onnx_pb.h>

namespace strata {

inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 23;

/// The opset of ONNX's own ops. Throws InputError "FILE: ..." for one that is not read here.
int opset_of(const onnx::ModelProto& model, const std::string& file);

/// Throws InputError with a line for each of the first ten errors.
void check_sound(const onnx::ModelProto& model, const std::string& file);

}  // namespace strata
