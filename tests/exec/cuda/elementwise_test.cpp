// The loop over elements by itself: a functor of the test's own, so for the host's compiler alone.

#include "exec/cuda/tensor/elementwise.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cuda/gpu_array.h"

namespace strata::cuda {
namespace {

struct Twice {
  STRATA_ANYWHERE float operator()(const float (&x)[1]) const { return 2 * x[0]; }
};

// Whole packs, and less than one; nothing beyond the end.
TEST(Elementwise, DoesEveryElementOnce) {
  Stream stream(0);
  for (std::int64_t count = 0; count <= 20; ++count) {
    std::vector<Bf16> x, wanted;
    for (int i = 0; i < 24; ++i) {
      x.emplace_back(static_cast<float>(i));
      wanted.emplace_back(static_cast<float>(i < count ? 2 * i : i));
    }
    const GpuArray<Bf16> array(stream, x);
    elementwise<Bf16, 1>(stream, array.data(), {array.data()}, count, Twice());
    EXPECT_EQ(as_floats(array.get()), as_floats(wanted)) << count;
  }
}

}  // namespace
}  // namespace strata::cuda
