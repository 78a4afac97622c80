// Boxes on the move, against loops over elements by global coordinates. Values are small integers,
// which bf16 holds, and so do their sums.

#include "exec/cuda/tensor/move.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/exec/cuda/gpu_array.h"
#include "tests/exec/shards/random.h"

namespace strata::cuda {
namespace {

using shards::each_seed;
using shards::pick;
using shards::Random;

reference::Tensor draw_tensor(const Extents& extents, Random& random) {
  reference::Tensor tensor(extents);
  for (double& value : tensor.values) value = static_cast<double>(pick(random, -12, 12));
  return tensor;
}

/// A box that two others hold, of a tensor; channels are often whole packs.
struct Boxes {
  explicit Boxes(Random& random) {
    const std::int64_t unit = pick(random, 0, 1) == 0 ? 1 : 8;
    whole = {{pick(random, 1, 3), unit * pick(random, 1, 5), pick(random, 1, 2), pick(random, 1, 6),
              pick(random, 1, 6)}};
    for (Dim dim : kDims) {
      const std::int64_t by = dim == Dim::c ? unit : 1, parts = whole[dim] / by;
      const std::int64_t begin = pick(random, 0, parts - 1), end = pick(random, begin + 1, parts);
      common[dim] = {begin * by, end * by};
      for (Box* box : {&from, &to}) {
        (*box)[dim] = {pick(random, 0, begin) * by, pick(random, end, parts) * by};
      }
    }
    if (pick(random, 0, 9) == 0) from = to = common;
  }

  Extents whole;
  Box common, from, to;
};

template <class T>
class Move : public testing::Test {
 protected:
  static constexpr Type kType = sizeof(T) == 4 ? Type::fp32 : Type::bf16;
  using Array = GpuArray<T>;
  Stream stream_{0};

  /// What `move` makes of `to`, and what `change` makes of each element of the box.
  template <class MoveIt, class Change>
  void expect_changed(const MoveIt& move, const Change& change) {
    each_seed(100, [&](Random& random) {
      const Boxes boxes(random);
      const reference::Tensor values = draw_tensor(boxes.whole, random);
      reference::Tensor wanted = draw_tensor(boxes.whole, random);
      const Array from(stream_, laid_out<T>(values, boxes.from));
      const Array to(stream_, laid_out<T>(wanted, boxes.to));
      move(to.region(boxes.to), from.region(boxes.from), boxes.common);
      each_as_it_lies(boxes.common, [&](auto... at) {
        wanted.at(at...) = change(wanted.at(at...), values.at(at...));
      });
      EXPECT_EQ(as_floats(to.get()), as_floats(laid_out<T>(wanted, boxes.to)));
      EXPECT_EQ(as_floats(from.get()), as_floats(laid_out<T>(values, boxes.from)));
    });
  }
};

using ElementTypes = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Move, ElementTypes);

TYPED_TEST(Move, CopiesTheBoxAndNothingElse) {
  this->expect_changed([&](const Region& to, const Region& from,
                           const Box& box) { copy_box(to, from, box, this->kType, this->stream_); },
                       [](double, double from) { return from; });
}

TYPED_TEST(Move, AddsTheBoxAndNothingElse) {
  this->expect_changed([&](const Region& to, const Region& from,
                           const Box& box) { add_box(to, from, box, this->kType, this->stream_); },
                       [](double to, double from) { return to + from; });
}

TYPED_TEST(Move, AnEmptyBoxIsNothing) {
  copy_box({}, {}, Box{}, this->kType, this->stream_);
  add_box({}, {}, Box{}, this->kType, this->stream_);
  this->stream_.finish();
}

// More parts than one loop takes; the target may be one of them.
TYPED_TEST(Move, SumsAllParts) {
  using T = TypeParam;
  each_seed(50, [&](Random& random) {
    const Extents extents = {{2, pick(random, 1, 20), 1, 3, pick(random, 1, 5)}};
    const Box box = whole(extents);
    std::vector<GpuArray<T>> parts;
    std::vector<Region> regions;
    reference::Tensor sum(extents);
    for (std::int64_t k = pick(random, 1, 20); k > 0; --k) {
      const reference::Tensor values = draw_tensor(extents, random);
      for (std::int64_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
      parts.emplace_back(this->stream_, laid_out<T>(values, box));
      regions.push_back(parts.back().region(box));
    }
    const GpuArray<T> apart(this->stream_, laid_out<T>(sum, box));
    const GpuArray<T>& to = pick(random, 0, 1) == 0 ? apart : parts.front();
    sum_whole(to.region(box), regions, this->kType, this->stream_);
    EXPECT_EQ(as_floats(to.get()), as_floats(laid_out<T>(sum, box)));
  });
}

/// A box of a tensor, row-major.
std::vector<float> plain(const reference::Tensor& tensor, const Box& box) {
  const auto& [n, c, d, h, w] = box.values;
  std::vector<float> values;
  for (std::int64_t in = n.begin; in < n.end; ++in)
    for (std::int64_t ic = c.begin; ic < c.end; ++ic)
      for (std::int64_t id = d.begin; id < d.end; ++id)
        for (std::int64_t ih = h.begin; ih < h.end; ++ih)
          for (std::int64_t iw = w.begin; iw < w.end; ++iw) {
            values.push_back(static_cast<float>(tensor.at(in, ic, id, ih, iw)));
          }
  return values;
}

TYPED_TEST(Move, UnpacksFromPlainArrays) {
  using T = TypeParam;
  each_seed(100, [&](Random& random) {
    const Boxes b(random);
    const reference::Tensor values = draw_tensor(b.whole, random);
    reference::Tensor wanted = draw_tensor(b.whole, random);
    const GpuArray<float> from(this->stream_, plain(values, b.from));
    const GpuArray<T> to(this->stream_, laid_out<T>(wanted, b.to));
    unpack_box(to.region(b.to), from.data(), b.from, b.common, this->kType, this->stream_);
    each_as_it_lies(b.common, [&](auto... at) { wanted.at(at...) = values.at(at...); });
    EXPECT_EQ(as_floats(to.get()), as_floats(laid_out<T>(wanted, b.to)));
  });
}

TYPED_TEST(Move, PacksIntoPlainArrays) {
  using T = TypeParam;
  each_seed(100, [&](Random& random) {
    const Boxes b(random);
    const reference::Tensor values = draw_tensor(b.whole, random);
    reference::Tensor wanted = draw_tensor(b.whole, random);
    const GpuArray<T> from(this->stream_, laid_out<T>(values, b.from));
    const GpuArray<float> to(this->stream_, plain(wanted, b.to));
    pack_box(to.data(), b.to, from.region(b.from), b.common, this->kType, this->stream_);
    each_as_it_lies(b.common, [&](auto... at) { wanted.at(at...) = values.at(at...); });
    EXPECT_EQ(to.get(), plain(wanted, b.to));
  });
}

TEST(MoveValues, AddsThem) {
  Stream stream(0);
  const GpuArray<float> to(stream, {1, 2, 3}), from(stream, {10, 20, 30});
  add_values(to.data(), from.data(), 2, stream);
  EXPECT_EQ(to.get(), (std::vector<float>{11, 22, 3}));
}

/// Combines values [begin, end) of the parts into the first of them.
std::vector<float> combined(Combination how, const std::vector<std::vector<float>>& parts,
                            const std::vector<std::int64_t>& counts, std::int64_t begin,
                            std::int64_t end) {
  Stream stream(0);
  std::vector<GpuArray<float>> arrays;
  std::vector<const float*> pointers;
  for (const std::vector<float>& part : parts) {
    pointers.push_back(arrays.emplace_back(stream, part).data());
  }
  combine_values(how, arrays.front().data(), pointers, counts, begin, end, stream);
  return arrays.front().get();
}

TEST(Combine, SumsARange) {
  EXPECT_EQ(
      combined(Combination::sum, {{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}}, {}, 1, 3),
      (std::vector<float>{1, 222, 333, 4}));
}

// (1, 3) has the mean 2 and squares of 2; (4, 6, 8) the mean 6 and 8. All five: 22 / 5 = 4.4, and
// 3.4^2 + 1.4^2 + 0.4^2 + 1.6^2 + 3.6^2 = 29.2.
TEST(Combine, JoinsMoments) {
  const auto joined = combined(Combination::moments, {{9, 9, 2, 2}, {9, 9, 6, 8}}, {2, 3}, 2, 4);
  EXPECT_EQ(joined[0], 9);
  EXPECT_FLOAT_EQ(joined[2], 4.4F);
  EXPECT_FLOAT_EQ(joined[3], 29.2F);
}

// e^(x - 5) over (5, 4) and (2): 1 + e^-1 + e^-3; of parts relative to their own maxima.
TEST(Combine, JoinsExponentials) {
  const float first = 1 + std::exp(-1.0F);
  const auto joined = combined(Combination::log_sum_exp, {{2, 1}, {5, first}}, {}, 0, 2);
  EXPECT_EQ(joined[0], 5);
  EXPECT_FLOAT_EQ(joined[1], first + std::exp(-3.0F));
}

}  // namespace
}  // namespace strata::cuda
