// Sliding windows. Padding is at the tensor's ends alone: a window is found in global coordinates,
// its taps before the tensor and beyond it are left out, and the rest is counted from where the
// shard's input begins.

#include <algorithm>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/kernels/pool.h"

namespace strata::cuda {
namespace {

/// Of the window that begins at `start`: its first tap within the tensor, and an end.
Interval taps_within(const Window& window, std::int64_t start, std::int64_t extent) {
  const std::int64_t before = std::max<std::int64_t>(-start, 0);
  const std::int64_t left_out = (before + window.dilation - 1) / window.dilation;
  const std::int64_t end = start + (window.kernel - 1) * window.dilation + 1;
  const Interval taps = {start + left_out * window.dilation, std::min(end, extent)};
  return taps.empty() ? Interval{} : taps;
}

// As PyTorch counts, where an average has no dilation: with the padding, but not what a window
// hangs over its end; or without any.
std::int64_t average_divisor(const Pooling& op, const Window& window, std::int64_t start,
                             Interval taps, std::int64_t extent) {
  if (!op.count_include_pad) return taps.size();
  return std::min(window.kernel, extent + window.pad_end - start);
}

PoolDim sliding_pool_dim(const Pooling& op, const ShardSpec& spec, Dim dim) {
  const Window& window = op.windows[dim];
  const std::int64_t extent = (*spec.graph)[(*spec).inputs[0]].output[dim];
  const Interval held = spec.inputs[0][0][dim];
  PoolDim result(window.dilation, held.size());
  for (std::int64_t o = spec.output[dim].begin; o < spec.output[dim].end; ++o) {
    const std::int64_t start = o * window.stride - window.pad_begin;
    const Interval taps = taps_within(window, start, extent);
    const std::int64_t divisor = average_divisor(op, window, start, taps, extent);
    const std::int64_t shift = taps.empty() ? 0 : held.begin;
    result.add({taps.begin - shift, taps.end - shift}, divisor);
  }
  return result;
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Pooling& op) {
  return make_pool(seat, op.mode,
                   {sliding_pool_dim(op, spec, Dim::d), sliding_pool_dim(op, spec, Dim::h),
                    sliding_pool_dim(op, spec, Dim::w)});
}

}  // namespace strata::cuda
