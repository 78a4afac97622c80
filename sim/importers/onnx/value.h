#pragma once

// What a value of an ONNX graph is to us: a layer's output, its axes in ONNX's order; a tensor of
// parameters or constants; or a shape that inference has computed already. Values.

#include <cstdint>
#include <map>
#include <memory>
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
  std::vector<std::int64_t> rows = {};       ///< of rank 2: those of the file's; empty: all
};

struct OnnxShape {};

/// What a node with errors writes: its readers are not blamed for it.
struct OnnxFailed {};

/// Part of an axis: `extent` steps of `stride` elements along a dim; a stride of 0 repeats them.
struct AxisFactor {
  Dim dim = Dim::n;
  std::int64_t extent = 1, stride = 1;
  bool operator==(const AxisFactor&) const = default;
};

/// The factors of an axis, row-major; none: its extent is 1.
using ViewAxis = std::vector<AxisFactor>;
using ViewAxes = std::vector<ViewAxis>;

/// A product with a constant, whose rows become layers once it is known which belong together: of
/// a fused query, key and value those of each.
struct OnnxProduct {
  LayerId input;
  OnnxTensor weight;  ///< (O, I)
  std::optional<OnnxTensor> bias;
  std::string name;
  Extents extents{};                                         ///< its output's
  std::map<std::vector<std::int64_t>, LayerId> layers = {};  ///< made so far, by rows
};

/// Elements of a layer's output, or of a product's, in other axes: heads of channels, samples and
/// tokens together, half of the channels.
struct OnnxView {
  LayerId layer;  ///< invalid: a product's
  std::shared_ptr<OnnxProduct> product = nullptr;
  ViewAxes axes = {};
  Extents offset{};  ///< where it begins in each dim
  double scale = 1;
  double rotary = 0;  ///< base of the rotary positions by which it is turned; 0: it is not
};

/// Products of queries and keys. Along dim d of `axes` lie the keys' positions.
struct OnnxScores {
  OnnxView queries, keys;
  ViewAxes axes;
  double scale = 1;
  bool causal = false;
  std::int64_t window = 0;
  bool normalised = false;  ///< a Softmax followed
  double dropout = 0;       ///< and then a Dropout
};

/// Heads of queries or keys on their way to rotary positions: their halves changed, times a
/// constant.
struct OnnxRotation {
  OnnxView view;
  bool turned = false;      ///< (-second, first)
  std::string factor = {};  ///< of cosines or sines; empty: none yet
};

/// An activation that a product with another tensor may follow: a gate.
struct OnnxGate {
  OnnxActivation input;
  std::string name;
};

/// What a node makes of one value, by number.
using OnnxViews = std::vector<OnnxView>;

using OnnxValue = std::variant<OnnxActivation, OnnxTensor, OnnxShape, OnnxFailed, OnnxView,
                               OnnxScores, OnnxRotation, OnnxGate, OnnxViews>;

/// Whether it depends on the network's data.
inline bool is_data(const OnnxValue& value) {
  return !std::holds_alternative<OnnxTensor>(value) && !std::holds_alternative<OnnxShape>(value) &&
         !std::holds_alternative<OnnxFailed>(value);
}

/// Whether `axes` are the usual ones over `extents`, where an axis of extent 1 is as good as any
/// other.
bool is_usual(const Axes& axes, const Extents& extents);

}  // namespace strata
