// Pooling, sliding and adaptive, against loops over the taps of each output in global coordinates.

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

/// What one output element taps along one dim, and what that dim divides an average by.
struct Taps {
  std::vector<std::int64_t> at;
  std::int64_t divisor = 1;
};

/// Sliding: PyTorch's rule for the divisor. A tap in the padding is not listed.
Taps taps(const Window& window, bool count_include_pad, std::int64_t extent, std::int64_t output) {
  Taps result;
  std::int64_t within_padding = 0;
  for (std::int64_t j = 0; j < window.kernel; ++j) {
    const std::int64_t at = output * window.stride - window.pad_begin + j * window.dilation;
    within_padding += at < extent + window.pad_end ? 1 : 0;
    if (at >= 0 && at < extent) result.at.push_back(at);
  }
  result.divisor = count_include_pad ? within_padding : static_cast<std::int64_t>(result.at.size());
  return result;
}

Taps cell(std::int64_t extent, std::int64_t outputs, std::int64_t output) {
  Taps result;
  for (std::int64_t x = 0; x < extent; ++x) {
    if ((x + 1) * outputs > output * extent && x * outputs < (output + 1) * extent) {
      result.at.push_back(x);
    }
  }
  result.divisor = static_cast<std::int64_t>(result.at.size());
  return result;
}

struct Windowed {
  const LayerCase& layer;

  Taps along(Dim dim, std::int64_t output) const {
    const std::int64_t extent = layer.input(0)[dim];
    if (const auto* op = std::get_if<Pooling>(&(*layer).op)) {
      return taps(op->windows[dim], op->count_include_pad, extent, output);
    }
    return cell(extent, layer.output()[dim], output);
  }
  PoolMode mode() const {
    const auto* op = std::get_if<Pooling>(&(*layer).op);
    return op != nullptr ? op->mode : std::get<AdaptivePooling>((*layer).op).mode;
  }

  template <class Visit>
  static void each(const std::array<Taps, 3>& window, const Element& output, Visit visit) {
    Element at = output;
    for (std::int64_t d : window[0].at)
      for (std::int64_t h : window[1].at)
        for (std::int64_t w : window[2].at) {
          at[2] = d, at[3] = h, at[4] = w;
          visit(at);
        }
  }

  /// Both outputs and, of the outputs in `box` alone, the gradient of the inputs.
  void compute(const Values& x, const Values& dy, const Box& box, Values& y, Values& dx) const {
    each_element(box, [&](const Element& o) {
      const std::array<Taps, 3> window = {along(Dim::d, o[2]), along(Dim::h, o[3]),
                                          along(Dim::w, o[4])};
      const auto divisor =
          static_cast<double>(window[0].divisor * window[1].divisor * window[2].divisor);
      if (mode() == PoolMode::average) {
        each(window, o, [&](const Element& at) {
          y[o] += x[at] / divisor;
          dx[at] += dy[o] / divisor;
        });
        return;
      }
      double most = -std::numeric_limits<double>::infinity();
      Element where = o;
      each(window, o, [&](const Element& at) {
        if (x[at] > most) most = x[at], where = at;
      });
      y[o] = most;
      if (std::isfinite(most)) dx[where] += dy[o];
    });
  }
};

Windows pick_windows(Random& random, int rank, PoolMode mode, const Extents& in) {
  Windows windows;
  const Dim dims[] = {Dim::w, Dim::h, Dim::d};
  for (int k = 0; k < rank; ++k) {
    Window& window = windows[dims[k]];
    window.dilation = mode == PoolMode::max ? pick(random, 1, 2) : 1;
    const std::int64_t most = (in[dims[k]] - 1) / window.dilation + 1;
    window.kernel = pick(random, 1, std::min<std::int64_t>(4, most));
    window.stride = pick(random, 1, 3);
    const std::int64_t span = (window.kernel - 1) * window.dilation + 1;
    window.pad_begin = pick(random, 0, span / 2);
    window.pad_end = pick(random, 0, span / 2);
  }
  return windows;
}

Op pick_op(Random& random, const Extents& in) {
  const auto rank = static_cast<int>(pick(random, 1, 3));
  const PoolMode mode = pick(random, 0, 1) == 0 ? PoolMode::max : PoolMode::average;
  if (pick(random, 0, 3) == 0) {
    return AdaptivePooling{rank, mode, pick(random, 1, 3), pick(random, 1, 4), pick(random, 1, 4)};
  }
  return Pooling{rank, mode, pick_windows(random, rank, mode, in), pick(random, 0, 1) == 0,
                 pick(random, 0, 1) == 0};
}

TEST(Pooling, AgreesWithTheWholeWhateverTheCut) {
  each_seed(400, [](Random& random) {
    const Extents in = pick_extents(random, 9);
    const LayerCase layer(pick_op(random, in), {in});
    const Values x = Values::random(in, random), dy = Values::random(layer.output(), random);
    for (const Box& box : pick_cut(random, layer.output())) {
      Values y(layer.output()), dx(in);
      Windowed{layer}.compute(x, dy, box, y, dx);
      Shard shard(layer, box);
      shard.give({x});
      shard.give_gradient(dy);
      shard.run(Phase::forward);
      EXPECT_LT(distance(shard.output(), y), 1e-5);
      EXPECT_TRUE(shard.output().unused_are_zero());
      shard.run(Phase::backward_data);
      EXPECT_LT(distance(shard.input_gradient(0), dx), 1e-5);
      EXPECT_TRUE(shard.input_gradient(0).unused_are_zero());
    }
  });
}

// Of a height of 1, a window of rows -1 and 1 taps nothing, so the shard holds nothing of its
// input, whatever it would tap in the width.
TEST(Pooling, OfPaddingAloneReadsNothing) {
  Pooling op{2, PoolMode::max, {}, false, false};
  op.windows.h = {2, 1, 1, 1, 2};
  op.windows.w = {3, 1, 0, 0, 1};
  const LayerCase layer(op, {Extents{{2, 3, 1, 1, 5}}});
  Random random(1);
  Shard shard(layer, whole(layer.output()));
  shard.give({Values::random(layer.input(0), random)});
  shard.give_gradient(Values::random(layer.output(), random));
  shard.run(Phase::forward);
  each_element(shard.box(), [&](const Element& at) { EXPECT_EQ(shard.output()[at], -HUGE_VALF); });
  shard.run(Phase::backward_data);
}

/// y of one row [1, 2, 3, 4, 5] (width), a kernel of 3 by 2.
std::vector<float> pooled_row(Window window, bool ceil_mode, bool count_include_pad) {
  Pooling op{1, PoolMode::average, {}, ceil_mode, count_include_pad};
  op.windows.w = window;
  const LayerCase layer(op, {Extents{{1, 1, 1, 1, 5}}});
  Values x(layer.input(0));
  for (std::int64_t w = 0; w < 5; ++w) x[{0, 0, 0, 0, w}] = static_cast<double>(w + 1);
  Shard shard(layer, whole(layer.output()));
  shard.give({x});
  shard.run(Phase::forward);
  std::vector<float> y;
  each_element(shard.box(), [&](const Element& at) { y.push_back(shard.output()[at]); });
  return y;
}

TEST(Pooling, DividesAsPyTorchDoes) {
  // Windows [0 1 2], [2 3 4], [4 5 0]: the padding counts, or it does not.
  EXPECT_EQ(pooled_row({3, 2, 1, 1, 1}, false, true), (std::vector<float>{1, 3, 3}));
  EXPECT_EQ(pooled_row({3, 2, 1, 1, 1}, false, false), (std::vector<float>{1.5F, 3, 4.5F}));
  // Windows [1 2 3], [4 5 -]: what hangs over the end counts in neither.
  EXPECT_EQ(pooled_row({3, 3, 0, 0, 1}, true, true), (std::vector<float>{2, 4.5F}));
  EXPECT_EQ(pooled_row({3, 3, 0, 0, 1}, true, false), (std::vector<float>{2, 4.5F}));
}

}  // namespace
}  // namespace strata::cpu
