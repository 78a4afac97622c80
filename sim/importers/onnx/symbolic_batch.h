#pragma once

// The batch of a file that leaves it open. Pure; thread-safe.

#include <cstdint>

#include <onnx/onnx_pb.h>

namespace strata {

/// A prime, so that a reshape that only some batches fit shows; and no dim of the graph's tensors,
/// inputs and of what the file says of other values, so that nothing else passes for samples.
std::int64_t symbolic_batch(const onnx::GraphProto& graph);

}  // namespace strata
