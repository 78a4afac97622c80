// More positions than a backward pass works on at once.

#include <gtest/gtest.h>

#include "tests/exec/cuda/harness.h"

namespace strata::cuda {
namespace {

TEST(LocalResponseNorm, OfALargeTensorIsAsTheReference) {
  constexpr std::int64_t kElementsAtOnce = std::int64_t{1} << 20U;
  HostGpus site(Precision::fp32);
  Random random(1);
  const Extents extents{{1, 32, 1, 1, kElementsAtOnce / 32 + 3}};
  const DrawnLayer drawn(site, extents, LocalResponseNorm{3, 0.5, 0.75, 2}, random);
  expect_as_reference(site, drawn, {});
}

// Whoever is alone with itself, or has a window wider than all channels.
TEST(LocalResponseNorm, OfFewChannelsIsAsTheReference) {
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    HostGpus site(precision);
    for (std::int64_t channels : {1, 2, 3}) {
      for (std::int64_t size : {1, 2, 5, 8}) {
        Random random(1);
        const LocalResponseNorm op{size, 0.5, 0.6, 1};
        const DrawnLayer drawn(site, {{2, channels, 1, 2, 2}}, op, random);
        Cut cut;
        cut.degrees[Dim::c] = static_cast<std::int32_t>(channels);
        expect_as_reference(site, drawn, cut);
      }
    }
  }
}

}  // namespace
}  // namespace strata::cuda
