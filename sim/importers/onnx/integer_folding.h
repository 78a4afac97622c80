#pragma once

// What nodes compute from integers that are known, in numbers, lists and tables: exporters lay the
// shapes of a Reshape and the pads of a Pad out so. Pure; thread-safe.

#include <cstdint>
#include <optional>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/tensor_values.h"

namespace strata {

inline constexpr std::int64_t kMostFolded = 1024;  ///< elements

/// A tensor's, row-major: as many as `dims` say.
struct KnownIntegers {
  TensorDims dims;
  std::vector<std::int64_t> values;
};

/// Whether it is an op that `fold` knows; a Div of integers alone.
bool may_fold(const onnx::NodeProto& node);

/// The first output's values. `inputs`: one for each of the node's, with no values where it is left
/// out; `dims` and `type`: those of the output, as inference has them. None where these contradict
/// the node, or are of more than kMostFolded elements, or where a cast's type may not hold them.
std::optional<std::vector<std::int64_t>> fold(const onnx::NodeProto& node,
                                              const std::vector<KnownIntegers>& inputs,
                                              const TensorDims& dims,
                                              int type = onnx::TensorProto::INT64);

/// Transpose and Slice, in any number of dims, as `fold` has it.
std::optional<std::vector<std::int64_t>> transpose_table(const onnx::NodeProto& node,
                                                         const KnownIntegers& input,
                                                         const TensorDims& dims);
std::optional<std::vector<std::int64_t>> slice_table(const onnx::NodeProto& node,
                                                     const std::vector<KnownIntegers>& inputs,
                                                     const TensorDims& dims);

}  // namespace strata
