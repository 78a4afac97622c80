#pragma once

// What the inputs of an ONNX graph are for: data, whose first dim is the batch, or parameters that
// the file has no values for. Values; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace strata {

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
