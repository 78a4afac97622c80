// The products that stream a weight matrix, for each instruction set of this machine, and shards of
// fully-connected layers on inputs of every layout, against the referee in double precision.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/thin_product.h"
#include "tests/exec/cpu/cpu_site.h"

namespace strata::cpu {
namespace {

/// Single precision, over a few thousand terms.
constexpr double kTolerance = 1e-5;

/// A row-major matrix whose rows lie apart, what is between them NaN.
struct Matrix {
  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t gap)
      : stride(columns + gap),
        values(static_cast<std::size_t>(rows * stride), std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t r = 0; r < rows; ++r) std::fill_n(&at(r, 0), columns, 0.0F);
    columns_ = columns, rows_ = rows;
  }
  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t gap, Random& random)
      : Matrix(rows, columns, gap) {
    std::uniform_real_distribution<float> draw(-1, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) at(r, c) = draw(random);
    }
  }

  float& at(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>(r * stride + c)];
  }
  Rows<float> rows() { return {values.data(), stride}; }
  ConstRows constant() { return {values.data(), stride}; }

  /// Every element is `first` + the sum over k of f(row, column, k), and no gap is written.
  template <class F>
  void expect(Matrix first, std::int64_t terms, F f) {
    double off = 0;
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < stride; ++c) {
        if (c >= columns_) {
          EXPECT_TRUE(std::isnan(at(r, c)));
          continue;
        }
        double sum = first.at(r, c);
        for (std::int64_t k = 0; k < terms; ++k) sum += f(r, c, k);
        const double d = std::abs(at(r, c) - sum);
        off = std::isnan(d) ? HUGE_VAL : std::max(off, d);
      }
    }
    EXPECT_LE(off, kTolerance * std::sqrt(static_cast<double>(terms)));
  }

  std::int64_t stride, columns_ = 0, rows_ = 0;
  std::vector<float> values;
};

// All tails of a tile, and extents on both sides of where a block ends.
TEST(ThinProducts, EqualPlainLoopsForAnySizeAndInstructionSet) {
  each_seed(60, [](Random& random) {
    const std::int64_t most = pick(random, 0, 9) == 0 ? 3000 : 150;
    const ThinExtents e{pick(random, 1, 70), pick(random, 1, most), pick(random, 1, 40)};
    SCOPED_TRACE(testing::Message() << e.samples << ' ' << e.inputs << ' ' << e.outputs);
    Matrix x(e.samples, e.inputs, 3, random), w(e.outputs, e.inputs, 0, random);
    Matrix dy(e.samples, e.outputs, 5, random);
    const Matrix y0(e.samples, e.outputs, 2, random), dx0(e.samples, e.inputs, 1, random);
    for (const ThinProducts* products : all_thin_products()) {
      SCOPED_TRACE(products->name);
      Matrix y = y0, dx = dx0;
      products->forward(e, x.constant(), w.constant(), y.rows());
      y.expect(y0, e.inputs,
               [&](auto n, auto o, auto i) { return double{x.at(n, i)} * w.at(o, i); });
      products->backward_data(e, dy.constant(), w.constant(), dx.rows());
      dx.expect(dx0, e.outputs,
                [&](auto n, auto i, auto o) { return double{dy.at(n, o)} * w.at(o, i); });
    }
  });
}

Extents draw_input(Random& random) {
  Extents e{{pick(random, 1, 20), pick(random, 1, 30), 1, 1, 1}};
  if (pick(random, 0, 1) == 0) return e;
  for (Dim dim : kSpatialDims) e[dim] = pick(random, 1, 4);
  return e;
}

TEST(FullyConnectedShards, AgreeWithTheReference) {
  each_seed(150, [](Random& random) {
    const FullyConnected op{pick(random, 1, 40), pick(random, 0, 1) == 0};
    const Extents input = draw_input(random);
    CpuSite site;
    const DrawnLayer drawn(site, input, op, random);
    Cut cut;
    for (Dim dim : {Dim::n, Dim::c}) {
      const std::int64_t most = std::min<std::int64_t>(drawn.dy.extents[dim], 3);
      cut.degrees[dim] = static_cast<std::int32_t>(pick(random, 1, most));
    }
    SCOPED_TRACE(testing::Message()
                 << volume(input) / input[Dim::n] << " features to " << op.out_features << ", cut "
                 << cut.degrees[Dim::n] << ' ' << cut.degrees[Dim::c]);
    expect_as_reference(site, drawn, cut);
  });
}

}  // namespace
}  // namespace strata::cpu
