#pragma once

// What ONNX changed after opset 17, the last that its library in Debian 12 knows: ops whose inputs
// or attributes are others since, and new ones that are read here. All others with a rule in
// shape_rules.h mean what they meant before, but for the types that they take; of ops without one,
// such as QuantizeLinear and DFT, what the library does not accept is not known. Pure; thread-safe.

#include <string_view>

#include <onnx/onnx_pb.h>

namespace strata {

/// The last opset that ONNX's library is asked about.
inline constexpr int kLibraryOpset = 17;

/// Whether the op of that opset is another than that of kLibraryOpset, or was none then.
bool is_newer_op(std::string_view op, int opset);

/// How many inputs its latest form here must have; 0 for an op that did not change.
int fewest_of_newer_op(std::string_view op);

/// A node of an op that is_newer_op: its number of inputs, its attributes and their types. Throws
/// InputError that says what is wrong (not in which node).
void check_newer_op(const onnx::NodeProto& node, int opset);

}  // namespace strata
