#pragma once

// Transpose and Slice of integers that are known, in any number of dims. Pure; thread-safe.

#include <cstdint>
#include <optional>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/integer_folding.h"

namespace strata {

/// As `fold` has it.
std::optional<std::vector<std::int64_t>> transpose_table(const onnx::NodeProto& node,
                                                         const KnownIntegers& input,
                                                         const TensorDims& dims);
std::optional<std::vector<std::int64_t>> slice_table(const onnx::NodeProto& node,
                                                     const std::vector<KnownIntegers>& inputs,
                                                     const TensorDims& dims);

}  // namespace strata
