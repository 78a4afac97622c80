#pragma once

// What the inputs of an ONNX graph are for: data, whose first dim is the batch, or parameters that
// the file has no values for. Values; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/graph/open_dims.h"

namespace strata {

/// Gives the dims of all values that have these names their numbers. Throws InputError "FILE: ..."
/// for a name that no input has, which lists those that inputs do have, and for that of the batch.
void set_open_dims(onnx::GraphProto& graph, const OpenDims& dims, const std::string& file);

/// Names, in the order of the file. Inputs that nothing reads are neither, and so are those that
/// old exporters list for their initializers.
struct GraphInputs {
  std::vector<std::string> data;
  std::vector<std::string> parameters;
  std::optional<std::int64_t> batch;  ///< none: symbolic
};

/// Throws InputError "FILE: input 'NAME': ..." with a line for each of the first ten errors: dims
/// that are not known, are no layer's, or differ in the batch.
GraphInputs sort_inputs(const onnx::GraphProto& graph, const std::string& file);

/// A prime, so that a reshape that only some batches fit shows; and no dim of the graph's tensors,
/// inputs and of what the file says of other values, so that nothing else passes for samples.
std::int64_t symbolic_batch(const onnx::GraphProto& graph);

}  // namespace strata
