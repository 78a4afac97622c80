#include "tests/exec/shards/drawn_convolution.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/exec/shards/drawn_layer.h"

namespace strata::shards {
namespace {

/// A convolution, and what it reads.
struct Layout {
  int rank = 2;
  Extents input;
  Convolution op;
};

std::vector<Dim> slid_dims(int rank) {
  if (rank == 1) return {Dim::w};
  return rank == 2 ? std::vector{Dim::h, Dim::w} : std::vector{Dim::d, Dim::h, Dim::w};
}

Window draw_window(Random& random, std::int64_t extent) {
  Window window;
  window.kernel = pick(random, 1, 4);
  window.dilation = pick(random, 0, 2) == 0 ? pick(random, 2, 3) : 1;
  window.stride = pick(random, 1, 3);
  const std::int64_t reach = (window.kernel - 1) * window.dilation;
  // Sometimes beyond the window, so that outputs lie in the padding alone.
  const std::int64_t most = pick(random, 0, 4) == 0 ? reach + 2 : reach / 2;
  window.pad_begin = pick(random, 0, most);
  window.pad_end = pick(random, 0, most);
  const std::int64_t lacks = reach + 1 - extent - window.pad_begin - window.pad_end;
  window.pad_end += std::max<std::int64_t>(0, lacks);
  return window;
}

/// Channels of a group: few, as in images and narrow groups, or around whole blocks.
std::int64_t draw_channels(Random& random) {
  return pick(random, 0, 1) == 0 ? pick(random, 1, 7) : 8 * pick(random, 1, 2);
}

Layout draw_layout(Random& random, int rank) {
  Layout it{rank, {{pick(random, 1, 3), 1, 1, 1, 1}}, {}};
  it.op.rank = rank;
  for (Dim dim : slid_dims(rank)) {
    it.input[dim] = pick(random, 1, 9);
    it.op.windows[dim] = draw_window(random, it.input[dim]);
  }
  it.op.groups = pick(random, 0, 1) == 0 ? 1 : pick(random, 2, 10);
  const bool depthwise = it.op.groups > 1 && pick(random, 0, 1) == 0;
  it.input[Dim::c] = it.op.groups * (depthwise ? 1 : draw_channels(random));
  it.op.out_channels = it.op.groups * (depthwise ? 1 : draw_channels(random));
  it.op.bias = pick(random, 0, 1) == 0;
  return it;
}

Degrees draw_cuts(Random& random, const Extents& output) {
  Degrees degrees = kWhole;
  for (Dim dim : kDims) {
    const std::int64_t most = std::min<std::int64_t>(output[dim], pick(random, 1, 3));
    degrees[dim] = static_cast<std::int32_t>(pick(random, 1, most));
  }
  return degrees;
}

std::string show(const Layout& it, const Cut& cut) {
  std::string text = "input";
  for (Dim dim : kDims) text += " " + std::to_string(it.input[dim]);
  text += ", " + std::to_string(it.op.out_channels) + " channels in " +
          std::to_string(it.op.groups) + " groups, cut";
  for (Dim dim : kDims) text += " " + std::to_string(cut.degrees[dim]);
  for (Dim dim : slid_dims(it.rank)) {
    const Window& w = it.op.windows[dim];
    text += "\n" + std::string(name(dim)) + ": kernel " + std::to_string(w.kernel) + " stride " +
            std::to_string(w.stride) + " padding " + std::to_string(w.pad_begin) + ", " +
            std::to_string(w.pad_end) + " dilation " + std::to_string(w.dilation);
  }
  return text;
}

}  // namespace

void expect_convolution_as_reference(Site& site, int rank, Random& random) {
  const Layout layout = draw_layout(random, rank);
  const DrawnLayer drawn(site, layout.input, layout.op, random);
  Cut cut;
  if (pick(random, 0, 2) != 0) cut.degrees = draw_cuts(random, drawn.dy.extents);
  if (pick(random, 0, 2) == 0) cut.wider = pick(random, 1, 3);
  SCOPED_TRACE(show(layout, cut));
  expect_as_reference(site, drawn, cut);
}

}  // namespace strata::shards
