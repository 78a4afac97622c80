#pragma once

// The ops of an ONNX graph that have no reader here. Pure; thread-safe.

#include <string>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/network.h"

namespace strata {

/// One of ONNX's own ops without graphs inside. Since the opsets that ONNX's library does not know
/// any op may be one.
bool is_plain(const onnx::NodeProto& node, int opset);

/// A plain one that ONNX's checker and its inference know, as it is in that opset.
bool is_of_library(const onnx::NodeProto& node, int opset);

/// Throws InputError that names each op without a reader, with the nodes that want it. Those count
/// that some output needs and that work on the data, not on shapes and constants alone. With
/// `any_op` plain ones pass.
void check_ops(const OnnxNetwork& network, int opset, bool any_op, const std::string& file);

}  // namespace strata
