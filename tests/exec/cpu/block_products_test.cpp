// Products of block matrices, and attentions of one head, in every instruction set that this
// machine has, against plain loops in double precision.

#include "exec/cpu/block_products.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cpu/tensors.h"

namespace strata::cpu {
namespace {

/// A matrix in blocks of columns whose places beyond the columns are zero.
struct Matrix {
  Matrix(std::int64_t of_rows, std::int64_t of_columns, std::int64_t of_lanes)
      : rows(of_rows),
        columns(of_columns),
        lanes(of_lanes),
        blocks((columns + lanes - 1) / lanes),
        values(static_cast<std::size_t>(blocks * rows * lanes)) {}
  Matrix(std::int64_t of_rows, std::int64_t of_columns, std::int64_t of_lanes, Random& random)
      : Matrix(of_rows, of_columns, of_lanes) {
    std::uniform_real_distribution<float> draw(-1, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) at(r, c) = draw(random);
    }
  }

  float& at(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>((c / lanes * rows + r) * lanes + c % lanes)];
  }
  double operator()(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>((c / lanes * rows + r) * lanes + c % lanes)];
  }
  BlockMatrix<float> view() { return {values.data(), lanes, rows * lanes}; }
  ConstBlockMatrix read() const { return {values.data(), lanes, rows * lanes}; }
  Matrix transposed() const {
    Matrix to(columns, rows, lanes);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) to.at(c, r) = static_cast<float>((*this)(r, c));
    }
    return to;
  }

  std::int64_t rows, columns, lanes, blocks;
  std::vector<float> values;
};

/// The largest difference to wanted(row, column).
template <class Wanted>
double apart(const Matrix& got, const Wanted& wanted) {
  double most = 0;
  for (std::int64_t r = 0; r < got.rows; ++r) {
    for (std::int64_t c = 0; c < got.columns; ++c) {
      const double d = std::abs(got(r, c) - wanted(r, c));
      most = std::isnan(d) ? HUGE_VAL : std::max(most, d);
    }
  }
  return most;
}

class Products : public testing::TestWithParam<const BlockProducts*> {
 protected:
  const BlockProducts& products_ = *GetParam();
  std::int64_t lanes_ = products_.lanes;
};
INSTANTIATE_TEST_SUITE_P(Sets, Products, testing::ValuesIn(all_block_products()),
                         [](const auto& set) { return std::string(set.param->name); });

TEST_P(Products, AreThoseOfPlainLoops) {
  each_seed(60, [&](Random& random) {
    const std::int64_t rows = pick(random, 1, 40), depth = pick(random, 1, 70);
    const std::int64_t columns = pick(random, 1, 70);
    const bool adds = pick(random, 0, 1) == 1;
    const Matrix a(rows, depth, lanes_, random), b(depth, columns, lanes_, random);
    const Matrix before(rows, columns, lanes_, random);
    Matrix c = before;
    products_.product({rows, depth, columns}, a.read(), b.read(), c.view(), adds);
    EXPECT_LT(apart(c,
                    [&](std::int64_t i, std::int64_t j) {
                      double sum = adds ? before(i, j) : 0;
                      for (std::int64_t k = 0; k < depth; ++k) sum += a(i, k) * b(k, j);
                      return sum;
                    }),
              1e-5);
  });
}

TEST_P(Products, OfTransposesGoOverAllSamplesIntoPlainRows) {
  each_seed(60, [&](Random& random) {
    const std::int64_t rows = pick(random, 1, 40), depth = pick(random, 1, 30);
    const std::int64_t columns = pick(random, 1, 70), samples = pick(random, 1, 3);
    const bool adds = pick(random, 0, 1) == 1;
    std::vector<Matrix> a, b;
    std::vector<float> all_a, all_b;
    for (std::int64_t n = 0; n < samples; ++n) {
      a.emplace_back(depth, rows, lanes_, random);
      b.emplace_back(depth, columns, lanes_, random);
      all_a.insert(all_a.end(), a.back().values.begin(), a.back().values.end());
      all_b.insert(all_b.end(), b.back().values.begin(), b.back().values.end());
    }
    constexpr std::int64_t kBetween = 3;  // of each row, not to be touched
    const std::int64_t row = columns + kBetween;
    std::vector<float> c(static_cast<std::size_t>(rows * row), 0.25F);
    products_.transposed_product(
        {rows, depth, columns}, samples, {all_a.data(), lanes_, depth * lanes_},
        static_cast<std::int64_t>(a[0].values.size()), {all_b.data(), lanes_, depth * lanes_},
        static_cast<std::int64_t>(b[0].values.size()), {c.data(), row, lanes_}, adds);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < row; ++j) {
        double sum = adds || j >= columns ? 0.25 : 0;
        for (std::int64_t n = 0; n < samples && j < columns; ++n) {
          const auto at = static_cast<std::size_t>(n);
          for (std::int64_t k = 0; k < depth; ++k) sum += a[at](k, i) * b[at](k, j);
        }
        ASSERT_NEAR(c[static_cast<std::size_t>(i * row + j)], sum, 2e-5) << i << ", " << j;
      }
    }
  });
}

TEST_P(Products, TransposeRowsIntoABlock) {
  each_seed(20, [&](Random& random) {
    const std::int64_t rows = pick(random, 1, lanes_), columns = pick(random, 1, 50);
    const std::int64_t row = columns + 2;
    std::vector<float> from(static_cast<std::size_t>(rows * row));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
    std::vector<float> to(static_cast<std::size_t>(columns * lanes_), -1);
    products_.transpose(from.data(), row, rows, columns, to.data());
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = 0; r < lanes_; ++r) {
        const float wanted = r < rows ? from[static_cast<std::size_t>(r * row + c)] : 0;
        ASSERT_EQ(to[static_cast<std::size_t>(c * lanes_ + r)], wanted);
      }
    }
  });
}

TEST_P(Products, DividePlainRowsIntoBlocks) {
  each_seed(20, [&](Random& random) {
    const std::int64_t rows = pick(random, 1, 20), columns = pick(random, 1, 50);
    const std::int64_t row = columns + 2;
    std::vector<float> from(static_cast<std::size_t>(rows * row));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
    Matrix to(rows, columns, lanes_);
    std::fill(to.values.begin(), to.values.end(), -1.0F);
    products_.divide(from.data(), row, rows, columns, to.values.data());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < to.blocks * lanes_; ++c) {
        const float wanted = c < columns ? from[static_cast<std::size_t>(r * row + c)] : 0;
        ASSERT_EQ(to.at(r, c), wanted);
      }
    }
  });
}

/// softmax(q k^T) of one query, over the keys that it sees.
std::vector<double> softmax(const AttentionHead& head, const Matrix& q, const Matrix& k,
                            std::int64_t i, double& log_sum) {
  std::vector<double> row(static_cast<std::size_t>(head.keys));
  double sum = 0;
  for (std::int64_t j = 0; j < head.keys; ++j) {
    const std::int64_t last = i + head.last_key;
    if (head.causal && (j > last || (head.window > 0 && j <= last - head.window))) continue;
    double score = 0;
    for (std::int64_t c = 0; c < q.columns; ++c) score += q(i, c) * k(j, c);
    sum += row[static_cast<std::size_t>(j)] = std::exp(score);
  }
  for (double& value : row) value /= sum;
  log_sum = std::log(sum);
  return row;
}

struct DrawnHead {
  DrawnHead(std::int64_t lanes, Random& random) {
    shape.queries = pick(random, 1, 150);
    shape.causal = pick(random, 0, 2) > 0;
    // Causal queries stand at the end of their keys.
    shape.keys = shape.causal ? shape.queries + pick(random, 0, 200) : pick(random, 1, 600);
    shape.last_key = shape.keys - shape.queries;
    shape.window = shape.causal && pick(random, 0, 1) == 1 ? pick(random, 1, 100) : 0;
    shape.channels = lanes * pick(random, 1, 3);
    shape.value_channels = lanes * pick(random, 1, 3);
  }
  AttentionHead shape;
};

TEST_P(Products, AttendAsPlainLoopsDo) {
  each_seed(40, [&](Random& random) {
    AttentionHead head = DrawnHead(lanes_, random).shape;
    const Matrix q(head.queries, head.channels, lanes_, random);
    const Matrix k(head.keys, head.channels, lanes_, random);
    const Matrix v(head.keys, head.value_channels, lanes_, random);
    const Matrix dy(head.queries, head.value_channels, lanes_, random);
    const Matrix k_transposed = k.transposed(), v_transposed = v.transposed();
    std::vector<float> workspace(kAttentionWorkspace);
    head.q = q.values.data(), head.k = k.values.data(), head.v = v.values.data();
    head.k_transposed = k_transposed.values.data(), head.v_transposed = v_transposed.values.data();
    head.workspace = workspace.data();

    Matrix y(head.queries, head.value_channels, lanes_), dq(head.queries, head.channels, lanes_);
    Matrix dk(head.keys, head.channels, lanes_), dv(head.keys, head.value_channels, lanes_);
    std::vector<double> wanted_y(y.values.size()), of_q(dq.values.size()), of_k(dk.values.size()),
        of_v(dv.values.size());
    std::vector<float> log_sums(static_cast<std::size_t>(head.queries)), products = log_sums;
    const auto at = [&](std::int64_t r, std::int64_t c) {
      return static_cast<std::size_t>(r * head.channels + c);
    };
    const auto at_value = [&](std::int64_t r, std::int64_t c) {
      return static_cast<std::size_t>(r * head.value_channels + c);
    };
    products_.attend(head, y.values.data(), log_sums.data());
    for (std::int64_t i = 0; i < head.queries; ++i) {
      double log_sum = 0, mean = 0;
      const std::vector<double> p = softmax(head, q, k, i, log_sum);
      EXPECT_NEAR(log_sums[static_cast<std::size_t>(i)], log_sum, 1e-5);
      std::vector<double> dp(p.size());
      for (std::int64_t j = 0; j < head.keys; ++j) {
        const auto of = static_cast<std::size_t>(j);
        for (std::int64_t c = 0; c < head.value_channels; ++c) {
          wanted_y[at_value(i, c)] += p[of] * v(j, c);
          dp[of] += dy(i, c) * v(j, c);
          of_v[at_value(j, c)] += p[of] * dy(i, c);
        }
        mean += p[of] * dp[of];
      }
      products[static_cast<std::size_t>(i)] = static_cast<float>(mean);
      for (std::int64_t j = 0; j < head.keys; ++j) {
        const auto of = static_cast<std::size_t>(j);
        const double ds = p[of] * (dp[of] - mean);
        for (std::int64_t c = 0; c < head.channels; ++c) {
          of_q[at(i, c)] += ds * k(j, c);
          of_k[at(j, c)] += ds * q(i, c);
        }
      }
    }
    products_.attend_backward(head, {dy.values.data(), log_sums.data(), products.data(),
                                     dq.values.data(), dk.values.data(), dv.values.data()});
    const auto of = [](const std::vector<double>& wanted, const auto& place) {
      return [&](std::int64_t r, std::int64_t c) { return wanted[place(r, c)]; };
    };
    EXPECT_LT(apart(y, of(wanted_y, at_value)), 1e-5);
    EXPECT_LT(apart(dq, of(of_q, at)), 3e-5);
    EXPECT_LT(apart(dk, of(of_k, at)), 3e-5);
    EXPECT_LT(apart(dv, of(of_v, at_value)), 3e-5);
  });
}

}  // namespace
}  // namespace strata::cpu
