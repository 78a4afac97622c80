// Parts combined, against what the elements behind all of them give at once.

#include "exec/cpu/combine.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/cpu/tensors.h"

namespace strata::cpu {
namespace {

using Elements = std::vector<double>;

Elements random_elements(Random& random) {
  std::normal_distribution<double> draw(100, 3);
  Elements x(static_cast<std::size_t>(pick(random, 1, 20)));
  for (double& value : x) value = draw(random);
  return x;
}

std::array<double, 2> moments(const Elements& x) {
  double mean = 0, distances = 0;
  for (double value : x) mean += value / static_cast<double>(x.size());
  for (double value : x) distances += (value - mean) * (value - mean);
  return {mean, distances};
}

std::array<double, 2> log_sum_exp(const Elements& x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double value : x) sum += std::exp(value - most);
  return {most, sum};
}

/// Splits elements over parts, and combines what each part makes of its own.
template <class Make>
void check_pairs(Random& random, Combination how, Make make) {
  const std::size_t pairs = 3;
  const auto parts = static_cast<std::size_t>(pick(random, 1, 5));
  std::vector<std::int64_t> counts;
  std::vector<std::vector<float>> values(parts);
  std::vector<Elements> all(pairs);
  for (auto& part : values) {
    const std::size_t count = random_elements(random).size();
    counts.push_back(static_cast<std::int64_t>(count));
    for (Elements& together : all) {
      Elements own(count);
      for (double& x : own) x = random_elements(random).front();
      together.insert(together.end(), own.begin(), own.end());
      for (double value : make(own)) part.push_back(static_cast<float>(value));
    }
  }
  std::vector<const float*> pointers;
  pointers.reserve(parts);
  for (const auto& part : values) pointers.push_back(part.data());
  float* const to = values[static_cast<std::size_t>(pick(random, 0, counts.size() - 1))].data();
  const float untouched = to[0];
  combine(how, to, pointers, counts, 2, 6);
  EXPECT_EQ(to[0], untouched);
  for (std::size_t k = 1; k < pairs; ++k) {
    const auto wanted = make(all[k]);
    EXPECT_NEAR(to[2 * k], wanted[0], 1e-5 * std::abs(wanted[0]));
    EXPECT_NEAR(to[2 * k + 1], wanted[1], 1e-4 * std::abs(wanted[1]) + 1e-3);
  }
}

TEST(Combine, Moments) {
  each_seed(50, [](Random& random) { check_pairs(random, Combination::moments, moments); });
}

TEST(Combine, Exponentials) {
  each_seed(50, [](Random& random) { check_pairs(random, Combination::log_sum_exp, log_sum_exp); });
}

TEST(Combine, NothingWeighsNothing) {
  const float none = -std::numeric_limits<float>::infinity();
  const std::vector<float> a{none, 0, none, 0}, b{3, 2, none, 0};
  std::vector<float> to(4);
  combine(Combination::log_sum_exp, to.data(), std::vector{a.data(), b.data()}, {}, 0, 4);
  EXPECT_THAT(to, testing::ElementsAre(3, 2, none, 0));
}

TEST(Combine, SumsARangeInPlace) {
  std::vector<float> a(5000), b(5000), c(5000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i), b[i] = 2, c[i] = 0.5F;
  }
  combine(Combination::sum, b.data(), std::vector<const float*>{a.data(), b.data(), c.data()}, {},
          10, 4990);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(b[i], i < 10 || i >= 4990 ? 2 : static_cast<float>(i) + 2.5F) << i;
  }
}

}  // namespace
}  // namespace strata::cpu
