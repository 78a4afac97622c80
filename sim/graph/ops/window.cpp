#include "sim/graph/ops/window.h"

#include <algorithm>

#include "sim/base/ceil_div.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

std::int64_t span_of(const Window& window) {
  return window.dilation * (window.kernel - 1) + 1;
}

/// What the window's last position may move over: padded extent minus the window's span.
std::int64_t slack(const Window& window, std::int64_t extent, Dim dim) {
  const std::int64_t padded = extent + window.pad_begin + window.pad_end;
  if (span_of(window) <= padded) return padded - span_of(window);
  if (window.dilation == 1) {
    fail("kernel {} does not fit the padded {} {}", window.kernel, word(dim), padded);
  }
  fail("kernel {} with dilation {} spans {} and does not fit the padded {} {}", window.kernel,
       window.dilation, span_of(window), word(dim), padded);
}

/// The smallest element >= 0 that outputs [out.begin, out.end) of the window tap, where output o
/// taps o * stride - pad + j * dilation for j in [0, kernel); `none` if there is none.
std::int64_t first_tap(const Window& window, Interval out, std::int64_t pad, std::int64_t none) {
  const std::int64_t reach = (window.kernel - 1) * window.dilation;
  std::int64_t best = none;
  // The first output whose last tap is not in the padding.
  std::int64_t o = std::max(out.begin, ceil_div(pad - reach, window.stride));
  // Later outputs help only while they start before the best and meet a new residue of dilation.
  for (std::int64_t tries = 0; o < out.end && tries < window.dilation; ++o, ++tries) {
    const std::int64_t start = o * window.stride - pad;
    if (start >= best) break;
    const std::int64_t skipped = start >= 0 ? 0 : ceil_div(-start, window.dilation);
    best = std::min(best, start + skipped * window.dilation);
    if (best == 0) break;
  }
  return best;
}

}  // namespace

bool slides_over(Dim dim, int rank) {
  return dim == Dim::w || (dim == Dim::h && rank >= 2) || (dim == Dim::d && rank >= 3);
}

void check_window(const Window& window, Dim dim, int rank) {
  if (!slides_over(dim, rank) && window != Window{}) {
    fail("a window of rank {} can't slide over the {}", rank, word(dim));
  }
  check_range(fmt::format("{} kernel", word(dim)), window.kernel, 1, kMaxWindow);
  check_range(fmt::format("{} stride", word(dim)), window.stride, 1, kMaxWindow);
  check_range(fmt::format("{} dilation", word(dim)), window.dilation, 1, kMaxWindow);
  check_range(fmt::format("{} padding", word(dim)), window.pad_begin, 0, kMaxWindow);
  check_range(fmt::format("{} padding", word(dim)), window.pad_end, 0, kMaxWindow);
}

void check_pool_padding(const Window& window, Dim dim) {
  const std::int64_t most = span_of(window) / 2;
  for (std::int64_t pad : {window.pad_begin, window.pad_end}) {
    if (pad > most) {
      fail("{} padding {} is more than half of the pooling kernel {}", word(dim), pad,
           span_of(window));
    }
  }
}

std::int64_t convolved(const Window& window, std::int64_t extent, Dim dim) {
  return slack(window, extent, dim) / window.stride + 1;
}

std::int64_t pooled(const Window& window, bool ceil_mode, std::int64_t extent, Dim dim) {
  const std::int64_t room = slack(window, extent, dim);
  if (!ceil_mode) return room / window.stride + 1;
  const std::int64_t outputs = (room + window.stride - 1) / window.stride + 1;
  const bool starts_in_end_padding = (outputs - 1) * window.stride >= extent + window.pad_begin;
  return starts_in_end_padding ? outputs - 1 : outputs;
}

// The last tap is the first one of the mirrored window.
Interval tapped(const Window& window, Interval out, std::int64_t extent) {
  const std::int64_t begin = first_tap(window, out, window.pad_begin, extent);
  // Mirrored, element x is extent - 1 - x, and output o becomes -o: with outputs counted from the
  // last, o' = out.end - 1 - o, the first tap of o' = 0 stands at extent - 1 - (its last tap).
  const std::int64_t last =
      (out.end - 1) * window.stride - window.pad_begin + (window.kernel - 1) * window.dilation;
  const std::int64_t mirrored_pad = last - (extent - 1);
  const std::int64_t from_end = first_tap(window, {0, out.size()}, mirrored_pad, extent);
  return {begin, extent - from_end};
}

}  // namespace strata
