#include "exec/runtime/pool_windows.h"

#include <algorithm>

namespace strata {
namespace {

/// In coordinates of the whole tensors.
struct PoolWindow {
  Interval taps;
  std::int64_t divisor;
};

/// Cell i of O takes [floor(i S / O), ceil((i+1) S / O)) of the whole extent S.
PoolWindow adaptive_window(std::int64_t cell, std::int64_t cells, std::int64_t extent) {
  const Interval taps = {cell * extent / cells, ((cell + 1) * extent + cells - 1) / cells};
  return {taps, taps.size()};
}

/// Padding is at the tensor's ends alone: the window is clipped to the tensor. An average counts as
/// PyTorch does: with the padding, but not what a window hangs over its end; or without any.
PoolWindow sliding_window(const Window& window, bool with_padding, std::int64_t output,
                          std::int64_t extent) {
  const std::int64_t start = output * window.stride - window.pad_begin;
  const std::int64_t end = start + (window.kernel - 1) * window.dilation + 1;
  const std::int64_t skipped = start >= 0 ? 0 : (-start + window.dilation - 1) / window.dilation;
  Interval taps = {start + skipped * window.dilation, std::min(end, extent)};
  if (taps.empty()) taps = {};
  if (!with_padding) return {taps, taps.size()};
  return {taps, std::min(window.kernel, extent + window.pad_end - start)};
}

/// A shard that needs nothing of its input holds nothing, and a window that taps nothing in one dim
/// may do so in another.
void add(PoolWindows& windows, const PoolWindow& window, Interval held) {
  Interval taps = window.taps;
  if (!taps.empty()) taps = {taps.begin - held.begin, taps.end - held.begin};
  const auto output = static_cast<std::int64_t>(windows.taps.size());
  for (std::int64_t input = taps.begin; input < std::min(taps.end, held.size());
       input += windows.step) {
    Interval& readers = windows.readers[static_cast<std::size_t>(input)];
    if (readers.empty()) readers.begin = output;
    readers.end = output + 1;
  }
  windows.taps.push_back(taps);
  windows.shares.push_back(window.divisor > 0 ? 1.0F / static_cast<float>(window.divisor) : 0.0F);
}

/// `window(dim, output, the input's whole extent)`; `step(dim)` is between its taps.
template <class Step, class WindowOf>
std::array<PoolWindows, 3> windows_of(const ShardSpec& spec, Step step, WindowOf window) {
  std::array<PoolWindows, 3> result;
  for (std::size_t k = 0; k < result.size(); ++k) {
    const Dim dim = kSpatialDims[k];
    const std::int64_t extent = (*spec.graph)[(*spec).inputs[0]].output[dim];
    const Interval held = spec.inputs[0][0][dim];
    result[k].step = step(dim);
    result[k].readers.resize(static_cast<std::size_t>(held.size()));
    for (std::int64_t o = spec.output[dim].begin; o < spec.output[dim].end; ++o) {
      add(result[k], window(dim, o, extent), held);
    }
  }
  return result;
}

}  // namespace

std::array<PoolWindows, 3> pool_windows(const ShardSpec& spec, const Pooling& op) {
  return windows_of(
      spec, [&](Dim dim) { return op.windows[dim].dilation; },
      [&](Dim dim, std::int64_t output, std::int64_t extent) {
        return sliding_window(op.windows[dim], op.count_include_pad, output, extent);
      });
}

std::array<PoolWindows, 3> pool_windows(const ShardSpec& spec, const AdaptivePooling&) {
  return windows_of(
      spec, [](Dim) { return 1; },
      [&](Dim dim, std::int64_t output, std::int64_t extent) {
        return adaptive_window(output, (*spec).output[dim], extent);
      });
}

}  // namespace strata
