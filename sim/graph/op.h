#pragma once

// What a layer computes, as a closed set of values. Windows are given per spatial dim (d, h, w);
// a dim that an op does not slide over has kernel 1, stride 1, no padding, dilation 1.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "sim/geometry/geometry.h"

namespace strata {

/// A sliding window along one spatial dim, in elements.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t dilation = 1;

  constexpr auto operator<=>(const Window&) const = default;
};

struct Windows {
  Window d, h, w;

  constexpr const Window& operator[](Dim dim) const {
    return dim == Dim::d ? d : dim == Dim::h ? h : w;
  }
  constexpr Window& operator[](Dim dim) { return dim == Dim::d ? d : dim == Dim::h ? h : w; }
  constexpr auto operator<=>(const Windows&) const = default;
};

/// The network's data; costs nothing to place and gets no gradient.
struct Input {
  Extents extents;  ///< of one sample: n is 1
  bool operator==(const Input&) const = default;
};

struct Convolution {
  int rank = 2;  ///< 1 (w), 2 (h, w) or 3 (d, h, w)
  std::int64_t out_channels = 0;
  Windows windows;
  std::int64_t groups = 1;
  bool bias = true;
  bool operator==(const Convolution&) const = default;
};

enum class PoolMode : std::uint8_t { max, average };

struct Pooling {
  int rank = 2;
  PoolMode mode = PoolMode::max;
  Windows windows;
  bool ceil_mode = false;         ///< a last window may hang over the padded end
  bool count_include_pad = true;  ///< average: padding counts as zeros in the divisor
  bool operator==(const Pooling&) const = default;
};

/// Output cell i of extent O averages (or takes the maximum of) inputs
/// [floor(i S / O), ceil((i+1) S / O)). Global pooling has outputs 1, 1, 1.
struct AdaptivePooling {
  int rank = 2;
  PoolMode mode = PoolMode::average;
  std::int64_t d = 1, h = 1, w = 1;  ///< output extents; dims beyond the rank keep their extent
  bool operator==(const AdaptivePooling&) const = default;
};

/// y = W x + b over all of c, d, h, w of its input; output (n, c).
struct FullyConnected {
  std::int64_t out_features = 0;
  bool bias = true;
  bool operator==(const FullyConnected&) const = default;
};

enum class ActivationKind : std::uint8_t {
  relu,
  relu6,
  leaky_relu,
  elu,
  sigmoid,
  tanh,
  silu,
  gelu,
  hard_swish,
  hard_sigmoid  ///< 0 ... 1, x / 6 + 1/2 between
};
inline constexpr std::size_t kActivationKinds = 10;

struct Activation {
  ActivationKind kind = ActivationKind::relu;
  double slope = 0.01;  ///< leaky_relu's negative slope, elu's alpha
  bool operator==(const Activation&) const = default;
};

/// Normalises each channel over n, d, h, w with the whole batch's statistics, whatever the cut.
struct BatchNorm {
  double epsilon = 1e-5;
  bool operator==(const BatchNorm&) const = default;
};

/// Across channels: `size` neighbours, (size-1)/2 before and size/2 after.
struct LocalResponseNorm {
  std::int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;
  bool operator==(const LocalResponseNorm&) const = default;
};

struct Dropout {
  double probability = 0.5;
  bool operator==(const Dropout&) const = default;
};

/// Joins its inputs along the channels.
struct Concat {
  bool operator==(const Concat&) const = default;
};

struct Add {
  bool operator==(const Add&) const = default;
};

/// The product of two tensors, element by element; the second may be a gate, which has one value
/// for each channel of each sample: its d, h and w are 1.
struct Multiply {
  bool operator==(const Multiply&) const = default;
};

/// (n, c, d, h, w) to (n, c d h w), row-major.
struct Flatten {
  bool operator==(const Flatten&) const = default;
};

/// Softmax with cross-entropy against labels, mean over the batch. Its output, as seen by a
/// Config, is the class probabilities (n, c); cut in c, shards exchange each row's maximum and
/// sum, not the row (as batch normalisation exchanges statistics).
struct SoftmaxCrossEntropy {
  bool operator==(const SoftmaxCrossEntropy&) const = default;
};

/// What is known by its name and its shapes alone. It can be predicted, as the bytes that it moves,
/// but not run; and cut in n alone, for any output may need all of its sample.
struct Opaque {
  std::string kind;             ///< what it is elsewhere: "Resize"
  Extents extents;              ///< of its output, of one sample: n is 1
  std::int64_t parameters = 0;  ///< elements that training updates
  bool operator==(const Opaque&) const = default;
};

using Op = std::variant<Input, Convolution, Pooling, AdaptivePooling, FullyConnected, Activation,
                        BatchNorm, LocalResponseNorm, Dropout, Concat, Add, Multiply, Flatten,
                        SoftmaxCrossEntropy, Opaque>;

/// The op's name in tables, JSON and model files: "input", "conv2d", "max_pool2d", "avg_pool1d",
/// "adaptive_avg_pool2d", "fc", "relu", ..., "batch_norm", "lrn", "dropout", "concat", "add",
/// "multiply", "flatten", "softmax_cross_entropy", "opaque".
std::string_view name(const Op& op);

/// For people: the name, and of an opaque op what it is: "opaque (Resize)".
std::string title(const Op& op);

/// Has no parameters, and output element i depends on input element i alone (activation, dropout).
bool is_elementwise(const Op& op);

inline bool is_input(const Op& op) {
  return std::holds_alternative<Input>(op);
}
inline bool is_opaque(const Op& op) {
  return std::holds_alternative<Opaque>(op);
}

/// The gradient follows from the output alone, so that the input may be overwritten by it. False
/// for silu, gelu and hard_swish, which need their input.
bool gradient_from_output(const Activation& activation);

/// Whether any backward phase reads the layer's inputs, or its output, beside the gradient.
bool backward_reads_input(const Op& op);
bool backward_reads_output(const Op& op);

}  // namespace strata
