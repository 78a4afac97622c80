#pragma once

// The inner loops of the kernels that are bound by memory, built once per instruction set; which
// set runs is decided at run time. Most work on one channel block of one sample: `places` (d, h, w,
// row-major) of B floats each, B being vector_block() or 1. Pointers need no alignment. Immutable
// tables; thread-safe.

#include <cstdint>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/op.h"

namespace strata::cpu {

/// One spatial dim of a pooling shard, in local coordinates.
struct PoolAxis {
  std::int64_t inputs, outputs;  ///< extents
  std::int64_t step;             ///< from tap to tap: the dilation
  const Interval* taps;          ///< of each output: begin, begin + step, ... < end
  const Interval* readers;       ///< of each input: the outputs that may tap it
  const float* share;            ///< of each output: 1 / its part of an average's divisor
};
struct PoolAxes {
  PoolAxis d, h, w;
};

/// What stays the same all over a channel of a batch norm; each array has a value per lane. Lanes
/// without a channel hold zeros.
struct NormLanes {
  const float* mean;
  const float* scale;   ///< gamma / standard deviation
  const float* shift;   ///< beta (forward)
  const float* offset;  ///< sum of dy / count (backward)
  const float* tilt;    ///< sum of dy (x - mean) / count / variance (backward)
};

/// All channel blocks of one sample: `stride` floats from one to the next.
struct ChannelBlocks {
  std::int64_t channels, places, stride;
};
/// What stays the same over the channels of a place, of each of the places.
struct PlaceNorms {
  const float* mean;
  const float* inverse;  ///< 1 / standard deviation
};

/// Loops over one channel block.
struct BlockLoops {
  /// Also the place of each maximum, or -1.
  void (*max_pool)(const PoolAxes& axes, const float* input, float* output, std::int32_t* at);
  /// Writes all of the input's gradient.
  void (*max_pool_gradient)(const PoolAxes& axes, const float* output_gradient,
                            const std::int32_t* at, float* input_gradient);
  void (*average_pool)(const PoolAxes& axes, const float* input, float* output);
  void (*average_pool_gradient)(const PoolAxes& axes, const float* output_gradient,
                                float* input_gradient);

  /// Per lane: sums[0] += x - near, sums[B] += (x - near)^2.
  void (*moments)(const float* x, std::int64_t places, const float* near, double* sums);
  /// Per lane: sums[0] += dy, sums[B] += dy (x - mean).
  void (*products)(const float* dy, const float* x, std::int64_t places, const float* mean,
                   double* sums);
  /// y = (x - mean) scale + shift
  void (*normalize)(const NormLanes& lanes, const float* x, std::int64_t places, float* y);
  /// dx = (dy - offset - (x - mean) tilt) scale
  void (*normalize_gradient)(const NormLanes& lanes, const float* dy, const float* x,
                             std::int64_t places, float* dx);

  // Norms and softmaxes of each place over its channels.
  /// sums[2p] = the sum of x - near[p], sums[2p + 1] = that of its square, over all blocks.
  void (*place_moments)(const ChannelBlocks& of, const float* x, const float* near, float* sums);
  /// sums[2p] = the sum of g = dy scale, sums[2p + 1] = that of g (x - mean) inverse, over all
  /// blocks, whose scales have values for unused places, too.
  void (*place_products)(const ChannelBlocks& of, const float* dy, const float* x,
                         const float* scale, const PlaceNorms& norms, float* sums);
  /// y = (x - mean) inverse scale + shift; scale and shift are of a lane.
  void (*normalize_places)(const PlaceNorms& norms, const float* scale, const float* shift,
                           const float* x, std::int64_t places, float* y);
  /// dx = (dy scale - sums[2p] share - (x - mean) inverse sums[2p + 1] share) inverse
  void (*normalize_places_gradient)(const PlaceNorms& norms, const float* scale, const float* sums,
                                    float share, const float* dy, const float* x,
                                    std::int64_t places, float* dx);
  /// Per lane: sums[0] += dy (x - mean) inverse, sums[B] += dy.
  void (*scale_products)(const PlaceNorms& norms, const float* dy, const float* x,
                         std::int64_t places, double* sums);
  /// pairs[2p] = the largest x, pairs[2p + 1] = the sum of exp(x - largest), over all blocks.
  void (*place_exponentials)(const ChannelBlocks& of, const float* x, float* pairs);
  /// y = exp(x - pairs[2p]) / pairs[2p + 1]
  void (*softmax)(const float* pairs, const float* x, std::int64_t places, float* y);
};

/// Activations, elementwise; `to` may be `from`, and `dx` may be `dy`. `kept` is the output, or the
/// input where the gradient needs that (silu, gelu, hard_swish, squared_relu).
struct ActivationLoops {
  void (*forward)(float* to, const float* from, std::int64_t count, float slope);
  void (*backward)(float* dx, const float* dy, const float* kept, std::int64_t count, float slope);
};

/// to[i] = kept[i] is 1 ? from[i] * scale : 0, where `to` may be `from`.
using MaskLoop = void (*)(float* to, const float* from, const std::uint8_t* kept,
                          std::int64_t count, float scale);

/// Across neighbouring channels that lie side by side.
struct NeighbourLoops {
  /// sums[i] = the sum of values[i] ... values[i + size - 1].
  void (*window_sums)(const float* values, std::int64_t count, std::int64_t size, float* sums);
  /// powers[i] = bases[i]^-0.75
  void (*three_quarters)(const float* bases, std::int64_t count, float* powers);
};

struct Loops {
  const char* name;
  BlockLoops blocks;   ///< of `lanes` channels
  BlockLoops singles;  ///< of one
  std::int64_t lanes;
  ActivationLoops activations[kActivationKinds];  ///< by ActivationKind
  MaskLoop mask;
  NeighbourLoops neighbours;
};

/// The fastest that this machine runs; its lanes are vector_block().
const Loops& loops();
/// All that this machine runs.
std::vector<const Loops*> all_loops();

}  // namespace strata::cpu
