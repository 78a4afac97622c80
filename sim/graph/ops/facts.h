#pragma once

// What the pages of the ops answer with, beside extents and access maps. Values; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/ops/phase.h"

namespace strata {

using InputExtents = std::span<const Extents>;  ///< of a layer's inputs, in order

/// Every dim but c.
inline constexpr PerDim<bool> kAllButChannels = {{true, false, true, true, true}};

/// Channels alone.
inline constexpr PerDim<bool> kChannels = {{false, true, false, false, false}};
/// No dim.
inline constexpr PerDim<bool> kNoLoops = {};

/// The parameters of one layer, in elements. A cut of the output in a dim that they carry cuts both
/// tensors in equal proportion.
struct Parameters {
  std::int64_t weight = 0;  ///< elements of the weight: O x I/groups x kernel, O x I, or C
  std::int64_t bias = 0;    ///< elements of the bias: O (batch norm's shift: C), or 0
  /// The dims whose elements have rows of their own. Most have one for each output channel; no dim
  /// where groups of channels share the weight, whole (a norm of heads, whose scale is one head's).
  PerDim<bool> loops = kChannels;
  std::int64_t channels_a_row = 1;  ///< neighbouring output channels that have one (a head's)

  constexpr std::int64_t total() const { return weight + bias; }
  /// The dims whose cuts replicate parameters, and over which their gradients are summed.
  constexpr PerDim<bool> replicated() const {
    PerDim<bool> dims;
    for (Dim dim : kDims) dims[dim] = !loops[dim];
    return dims;
  }
  /// How many rows a tensor of these extents has: elements of the dims that are carried.
  constexpr std::int64_t rows(const Extents& extents) const {
    std::int64_t count = 1;
    for (Dim dim : kDims) count *= loops[dim] ? extents[dim] : 1;
    return count / channels_a_row;
  }
  bool operator==(const Parameters&) const = default;
};

/// How many elements of the box a sum over these dims is of.
constexpr std::int64_t elements_over(const PerDim<bool>& over, const Box& box) {
  std::int64_t count = 1;
  for (Dim dim : kDims) count *= over[dim] ? box[dim].size() : 1;
  return count;
}

/// How the parts that several shards made of one thing become one.
enum class Combination : std::uint8_t {
  /// Values add up: gradients of parameters, batch norm's backward sums.
  sum,
  /// Pairs (mean, sum of squared distances from it), each of a known count of elements.
  moments,
  /// Pairs (maximum, sum of exp(x - maximum)).
  log_sum_exp
};

/// The dims over which the layer's shards must combine partial statistics before any can finish
/// (a batch norm: n, d, h, w; a softmax: c), and how many values per statistic group.
struct Statistics {
  PerDim<bool> over;                          ///< shards that differ only in these dims exchange
  Combination forward_by = Combination::sum;  ///< how they combine; backward they add up
  std::int64_t forward_values = 0;            ///< fp32 values each shard contributes, forward
  std::int64_t backward_values = 0;           ///< and backward
  bool operator==(const Statistics&) const = default;

  /// The fp32 values that each shard contributes in the phase, forward or backward statistics.
  constexpr std::int64_t values(Phase phase) const {
    return phase == Phase::forward_statistics ? forward_values : backward_values;
  }
  constexpr Bytes bytes(Phase phase) const { return Bytes{4 * values(phase)}; }
  /// Whether the backward sums are the gradients of the parameters, too: they go over the same.
  constexpr bool give_parameter_gradients() const {
    return backward_values > 0 && over == kAllButChannels;
  }
  /// Whether the backward sums go over channels, so that they weigh each by its parameters.
  constexpr bool weigh_by_parameters() const { return backward_values > 0 && over[Dim::c]; }
};

/// Implementations of an attention. But for `unfused` they meet keys block by block and keep a
/// number for each query (Dao et al., "FlashAttention", 2022). `fused` is the one that a profile's
/// rows are of; the others are faster or slower than it, by the profile (Profile::attention).
enum class AttentionKernel : std::uint8_t {
  fused,
  flash1,  ///< FlashAttention 1, and its twin of Triton
  flash2,
  flash3,
  cudnn,
  memory_efficient,  ///< xFormers' kernels of CUTLASS
  unfused            ///< writes the matrix of all queries and keys, and keeps it
};
inline constexpr std::array<std::string_view, 7> kAttentionKernelNames = {
    "fused", "flash1", "flash2", "flash3", "cudnn", "memory-efficient", "unfused"};
constexpr std::string_view name(AttentionKernel kernel) {
  return kAttentionKernelNames[static_cast<std::size_t>(kernel)];
}

/// How the kernels of an update pass over a parameter: at once, or an operation at a time over many
/// tensors (PyTorch's foreach) or over one (its for-loop).
enum class UpdateKernel : std::uint8_t { fused, foreach, for_loop };
inline constexpr std::array<std::string_view, 3> kUpdateKernelNames = {"fused", "foreach",
                                                                       "for-loop"};

/// What turns queries and keys by their rotary positions: the attention itself, a kernel before it,
/// or an operation at a time.
enum class RotaryKernel : std::uint8_t { within, fused, eager };
inline constexpr std::array<std::string_view, 3> kRotaryKernelNames = {"within", "fused", "eager"};

/// How the kernels of a device work, where it decides what they keep, move and take.
struct KernelTraits {
  AttentionKernel attention = AttentionKernel::fused;
  /// A dropout keeps a byte for each element; else its backward pass draws the same again.
  bool keeps_masks = false;
  /// Tensors lie with their channels outermost (NCHW), as frameworks have them unless told
  /// otherwise. Matrix units read channels innermost (NHWC), so libraries convert around each
  /// convolution on them: its input and its output, or their gradients, in each of its three phases
  /// ("Tensor Transformations" of cuDNN's developer guide).
  bool channels_outermost = false;
  /// Matrix units run at the clocks of a short burst, as kernels are measured; else no faster than
  /// the device's power allows for seconds, where its profile says how fast that is.
  bool burst_clocks = false;
  /// The share of that rate that is left where the device may draw less than its kind.
  double sustained_share = 1;
  RotaryKernel rotary = RotaryKernel::within;
  UpdateKernel update = UpdateKernel::fused;
  /// What passes over the gradients before an update: one that scales them to a norm, which another
  /// finds; one that sets them to zero for the next step; one that takes off a loss's scale.
  bool clips_gradients = false, zeroes_gradients = false, unscales_gradients = false;

  constexpr bool fused_attention() const { return attention != AttentionKernel::unfused; }
  /// Updates wait for a number that all gradients decide: their norm, or whether one is infinite.
  constexpr bool updates_wait() const { return clips_gradients || unscales_gradients; }
  bool operator==(const KernelTraits&) const = default;
};

/// What a shard's forward pass keeps for its backward, beside inputs and output.
struct Saved {
  std::int64_t values = 0;    ///< fp32 values that lie plain
  bool each_element = false;  ///< four bytes for each element of the output
  std::int64_t elements = 0;  ///< of the tensors' type: an unfused attention's matrices
  std::int64_t masks = 0;     ///< bytes of masks
};

/// Of which shard.
struct SavedContext {
  const Box& output;    ///< of the shard
  InputExtents inputs;  ///< of the layer, whole
  DType dtype = DType::fp32;
  KernelTraits kernels = {};
};

/// What an op is. Each page has one, kTraits.
struct OpTraits {
  /// Has no parameters, and output element i depends on input element i alone.
  bool elementwise = false;
  /// The search cuts it as its producer, as it does elementwise ones: its sums follow that cut.
  bool follows_producer = false;
  /// The end of a network, from which gradients begin.
  bool loss = false;
  /// Reads the same of each input, so that one which stands twice is read once.
  bool reads_all_alike = false;
  /// The inputs behind the first say where its elements go, and get no gradient.
  bool gradient_of_first_alone = false;
  /// A layer of this op that reads what one before it reads is served by that one's reading where
  /// it is cut as that one (first_reader()).
  bool shares_reading = false;
  /// The weight's leading dim is the term of the sum, not the output channel.
  bool terms_lead = false;
  /// The weight is a factor for each channel, and begins at 1.
  bool scales_channels = false;
  /// Its products may be in a type of products alone (DType).
  bool casts = false;
  /// Its word in summaries of a strategy; none where a layer of it only goes along.
  std::string_view summary = {};
};

/// Which tensors of the forward pass any backward phase reads, beside the gradient.
struct BackwardReads {
  bool inputs = false, output = false;
  bool inputs_for_parameters = false;  ///< inputs for the gradient of the parameters alone
  bool parameters = false;             ///< the parameters, for their own gradient, too
};

}  // namespace strata
