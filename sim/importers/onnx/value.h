#pragma once

// What a value of an ONNX graph is to us: a layer's output, its axes in ONNX's order; a tensor of
// parameters or constants; or a shape that inference has computed already. Values.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/graph/graph.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

/// Which of our dims an axis is; none: an axis of extent 1 that is no dim of the layer's.
using Axis = std::optional<Dim>;
using Axes = std::vector<Axis>;

/// (n, c), (n, c, w), (n, c, h, w) or (n, c, d, h, w), by rank.
Axes usual_axes(std::size_t rank);

/// Of one sample of a value of these dims. `axes` has none without a dim.
Extents sample_extents(const TensorDims& dims, const Axes& axes);

/// Zeros around an activation, which a Pad put there and a convolution or pooling takes over.
struct Margin {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Margin&) const = default;
};

struct OnnxActivation {
  LayerId layer;
  Axes axes;
  PerDim<Margin> zeros;
};

struct OnnxTensor {
  std::string name;
  TensorDims dims;
  const onnx::TensorProto* proto = nullptr;  ///< none: an input that stands for parameters
  bool transposed = false;                   ///< of rank 2: `dims` are those after it
  bool copied = false;                       ///< by an Identity
  bool constant = false;                     ///< of a Constant node
};

struct OnnxShape {};

/// What a node with errors writes: its readers are not blamed for it.
struct OnnxFailed {};

using OnnxValue = std::variant<OnnxActivation, OnnxTensor, OnnxShape, OnnxFailed>;

/// Whether `axes` are the usual ones over `extents`, where an axis of extent 1 is as good as any
/// other.
bool is_usual(const Axes& axes, const Extents& extents);

}  // namespace strata
