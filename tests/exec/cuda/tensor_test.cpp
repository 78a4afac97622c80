// Bf16 against what rounding means, and coordinates against counting.

#include "exec/cuda/tensor/tensor.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/exec/shards/random.h"

namespace strata::cuda {
namespace {

using shards::each_seed;
using shards::pick;
using shards::Random;

/// The nearest multiple of what eight binary digits can tell apart here, the even one of two; the
/// smallest differ by 2^-133. What reaches 2^128 is infinite.
double rounded(double x) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1, std::max(exponent - 8, -133));
  const double near = std::nearbyint(x / step) * step;
  return std::abs(near) < std::ldexp(1, 128) ? near : std::copysign(HUGE_VAL, x);
}

void expect_rounded(std::uint32_t bits) {
  const auto x = std::bit_cast<float>(bits);
  const auto got = static_cast<float>(Bf16(x));
  if (std::isnan(x)) {
    EXPECT_TRUE(std::isnan(got)) << bits;
  } else {
    EXPECT_EQ(got, rounded(x)) << bits;
    EXPECT_EQ(std::signbit(got), std::signbit(x)) << bits;
  }
}

TEST(Bf16, RoundsToTheNearest) {
  Random random(1);
  for (std::uint32_t upper = 0; upper <= 0xFFFF; ++upper) {
    for (std::uint32_t lower : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      expect_rounded(upper << 16U | lower);
    }
    expect_rounded(upper << 16U | static_cast<std::uint32_t>(random() & 0xFFFFU));
  }
}

TEST(Bf16, HoldsWhatItHeld) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    Bf16 value;
    value.bits = static_cast<std::uint16_t>(bits);
    if (std::isnan(static_cast<float>(value))) continue;
    EXPECT_EQ(Bf16(static_cast<float>(value)).bits, bits);
  }
}

TEST(Places, CountFromTheChannelsOutwards) {
  const Places size{2, 3, 2, 4, 5};
  std::int64_t next = 0;
  for (std::int64_t n = 0; n < size.n; ++n)
    for (std::int64_t d = 0; d < size.d; ++d)
      for (std::int64_t h = 0; h < size.h; ++h)
        for (std::int64_t w = 0; w < size.w; ++w)
          for (std::int64_t c = 0; c < size.c; ++c) {
            EXPECT_EQ(size.place({n, d, h, w, c}), next++);
          }
  EXPECT_EQ(size.count(), next);
}

// Counts below and above 2^32.
TEST(Places, KnowTheCoordinatesOfAPlace) {
  each_seed(500, [](Random& random) {
    const std::int64_t most = pick(random, 0, 1) == 0 ? 9 : 2000;
    const auto draw = [&] { return pick(random, 1, most); };
    const Places size{draw(), draw(), draw(), draw(), draw()};
    for (std::int64_t place :
         {std::int64_t{0}, size.count() - 1, pick(random, 0, size.count() - 1)}) {
      const Places at = size.at(place);
      EXPECT_EQ(size.place(at), place);
      EXPECT_TRUE(at.d < size.d && at.h < size.h && at.w < size.w && at.c < size.c);
    }
  });
}

template <class T>
int width_for(std::initializer_list<std::int64_t> channels) {
  int found = 0;
  with_width<T>(channels, [&](auto width) { found = width; });
  return found;
}

TEST(Packs, FillSixteenBytesWhereAllChannelsLet) {
  EXPECT_EQ(width_for<float>({8, 4, 0}), 4);
  EXPECT_EQ(width_for<float>({8, 6}), 1);
  EXPECT_EQ(width_for<Bf16>({16, 8}), 8);
  EXPECT_EQ(width_for<Bf16>({16, 4}), 1);
}

}  // namespace
}  // namespace strata::cuda
