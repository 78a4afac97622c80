// Dropout: any cut drops the same elements, each with the chance that was asked for.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "exec/runtime/dropout_mask.h"
#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

TEST(Dropout, DropsTheSameWhateverTheCut) {
  each_seed(100, [](Random& random) {
    const Extents e = pick_extents(random);
    const double probability = 0.1 * static_cast<double>(pick(random, 0, 9));
    const LayerCase layer(Dropout{probability}, {e});
    const Values x = Values::random(e, random), dy = Values::random(e, random);
    const auto step = static_cast<std::uint64_t>(pick(random, 0, 3));
    for (const Box& box : pick_cut(random, e)) {
      Shard shard(layer, box);
      shard.give({x});
      shard.give_gradient(dy);
      shard.step.step = step;
      if (pick(random, 0, 1) == 0) shard.work_in_place();
      const DropoutMask mask(shard.spec().seed, layer.layer, step, probability);
      Values y(e), dx(e);
      each_element(whole(e), [&](const Element& at) {
        if (!mask.keeps(static_cast<std::int64_t>(index(e, at)))) return;
        y[at] = x[at] / (1 - probability);
        dx[at] = dy[at] / (1 - probability);
      });
      shard.run(Phase::forward);
      EXPECT_LT(distance(shard.output(), y), 1e-6);
      EXPECT_TRUE(shard.output().unused_are_zero());
      shard.run(Phase::backward_data);
      EXPECT_LT(distance(shard.input_gradient(0), dx), 1e-6);
      EXPECT_TRUE(shard.input_gradient(0).unused_are_zero());
    }
  });
}

TEST(Dropout, PassesAllOnWithoutTraining) {
  const Extents e{{2, 5, 1, 3, 3}};
  const LayerCase layer(Dropout{0.5}, {e});
  Random random(1);
  const Values x = Values::random(e, random);
  Shard shard(layer, whole(e), false);
  shard.give({x});
  shard.run(Phase::forward);
  EXPECT_EQ(distance(shard.output(), x), 0);
  EXPECT_TRUE(shard.output().unused_are_zero());
}

/// Kept of the first `count` elements.
std::int64_t kept(const DropoutMask& mask, std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += mask.keeps(i) ? 1 : 0;
  return sum;
}

TEST(DropoutMask, KeepsItsShare) {
  constexpr std::int64_t kCount = 100000;
  for (double probability : {0.0, 0.2, 0.5, 0.9}) {
    const double mean = kCount * (1 - probability);
    const double deviation = std::sqrt(mean * probability);
    EXPECT_NEAR(static_cast<double>(kept(DropoutMask(1, LayerId(2), 3, probability), kCount)), mean,
                5 * deviation);
  }
}

// Two independent halves agree in half of all elements.
TEST(DropoutMask, DrawsAnewForEverySeedLayerAndStep) {
  const DropoutMask one(1, LayerId(2), 3, 0.5);
  for (const DropoutMask& other :
       {DropoutMask(2, LayerId(2), 3, 0.5), DropoutMask(1, LayerId(3), 3, 0.5),
        DropoutMask(1, LayerId(2), 4, 0.5)}) {
    int equal = 0;
    for (std::int64_t i = 0; i < 10000; ++i) equal += one.keeps(i) == other.keeps(i) ? 1 : 0;
    EXPECT_NEAR(equal, 5000, 5 * 50);
  }
}

}  // namespace
}  // namespace strata::cpu
