#pragma once

// The functions of an ONNX file: ops that it defines itself, by nodes of others. Pure; thread-safe.

#include <string>

#include <onnx/onnx_pb.h>

namespace strata {

/// Puts the nodes of each function in the place of the nodes that call it, until none does. What is
/// named in a function has the names of the node that calls it before its own. Throws InputError
/// "FILE: ..." for a function that calls itself, that is of another opset than the model, or that
/// makes the graph too large, for functions that call each other more than 64 deep, and for
/// two with one domain, name and overload.
void inline_functions(onnx::ModelProto& model, const std::string& file);

}  // namespace strata
