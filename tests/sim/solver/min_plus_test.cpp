// The elimination kernel against three plain loops, for every instruction set of this machine.

#include "sim/solver/min_plus.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace strata {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

//   (0 3)      (5 1)   (min(0+5, 3+2) min(0+1, 3+9))   (5 1)
//   (7 inf) o  (2 9) = (min(7+5, inf) min(7+1, inf)) = (12 8)
TEST(MinPlus, ByHand) {
  const std::vector<double> left{0, 3, 7, kInf}, right{5, 1, 2, 9};
  for (const MinPlusKernel* kernel : min_plus_kernels()) {
    std::vector<double> out(4);
    min_plus(left.data(), right.data(), 2, 2, 2, out.data(), *kernel);
    EXPECT_EQ(out, (std::vector<double>{5, 1, 12, 8})) << kernel->name;
  }
}

std::vector<double> random_matrix(std::mt19937& random, std::size_t size) {
  std::vector<double> matrix(size);
  for (double& entry : matrix) {
    entry = random() % 8 == 0 ? kInf : static_cast<double>(random() % 1000);
  }
  return matrix;
}

std::vector<double> plain_loops(const std::vector<double>& left, const std::vector<double>& right,
                                std::size_t rows, std::size_t inner, std::size_t columns) {
  std::vector<double> out(rows * columns, kInf);
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < columns; ++b) {
      for (std::size_t v = 0; v < inner; ++v) {
        double& least = out[a * columns + b];
        least = std::min(least, left[a * inner + v] + right[v * columns + b]);
      }
    }
  }
  return out;
}

// All tails of a tile, and depths on both sides of where the kernel starts over.
TEST(MinPlus, EqualsPlainLoopsForAnySizeAndInstructionSet) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t rows = 1 + random() % 20, columns = 1 + random() % 60;
    const std::size_t inner = round % 10 == 0 ? 250 + random() % 300 : 1 + random() % 30;
    const auto left = random_matrix(random, rows * inner);
    const auto right = random_matrix(random, inner * columns);
    const auto expected = plain_loops(left, right, rows, inner, columns);
    for (const MinPlusKernel* kernel : min_plus_kernels()) {
      std::vector<double> out(rows * columns, -1);
      min_plus(left.data(), right.data(), rows, inner, columns, out.data(), *kernel);
      ASSERT_EQ(out, expected) << kernel->name << ' ' << rows << ' ' << inner << ' ' << columns;
    }
  }
}

TEST(MinPlus, TheFastestIsOneOfThem) {
  EXPECT_EQ(&min_plus_kernel(), min_plus_kernels().back());
}

}  // namespace
}  // namespace strata
