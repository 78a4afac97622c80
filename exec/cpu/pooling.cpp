// Sliding windows. Padding is at the tensor's ends alone: a window is found in global coordinates,
// then clipped to the tensor, then counted from where the shard's input begins.

#include <algorithm>

#include "exec/cpu/kernels.h"
#include "exec/cpu/pool.h"

namespace strata::cpu {
namespace {

/// The taps at or after 0 and before `extent`, of a window that begins at `start`.
Interval clip(const Window& window, std::int64_t start, std::int64_t extent) {
  const std::int64_t end = start + (window.kernel - 1) * window.dilation + 1;
  const std::int64_t skipped = start >= 0 ? 0 : (-start + window.dilation - 1) / window.dilation;
  const Interval taps = {start + skipped * window.dilation, std::min(end, extent)};
  return taps.empty() ? Interval{} : taps;
}

/// As PyTorch counts: with the padding, but not what a window hangs over its end; or without any.
std::int64_t divisor(const Window& window, bool with_padding, std::int64_t start, Interval taps,
                     std::int64_t extent) {
  if (!with_padding) return taps.size();
  return std::min(start + window.kernel, extent + window.pad_end) - start;
}

PoolDim pool_dim(const Pooling& op, const ShardSpec& spec, Dim dim) {
  const Window& window = op.windows[dim];
  const std::int64_t extent = (*spec.graph)[(*spec).inputs[0]].output[dim];
  const Interval held = spec.inputs[0][0][dim];
  PoolDim result(window.dilation, held.size());
  for (std::int64_t o = spec.output[dim].begin; o < spec.output[dim].end; ++o) {
    const std::int64_t start = o * window.stride - window.pad_begin;
    const Interval taps = clip(window, start, extent);
    const Interval local =
        taps.empty() ? taps : Interval{taps.begin - held.begin, taps.end - held.begin};
    result.add(local, divisor(window, op.count_include_pad, start, taps, extent));
  }
  return result;
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Pooling& op) {
  return make_pool(op.mode, {pool_dim(op, spec, Dim::d), pool_dim(op, spec, Dim::h),
                             pool_dim(op, spec, Dim::w)});
}

}  // namespace strata::cpu
