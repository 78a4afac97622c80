// Layer norm where it is hard: a mean far from zero, and channels of many blocks that are cut, so
// that their moments are put together.

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/combine.h"
#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

constexpr double kNormEpsilon = 1e-3;

Values normalised(const Values& x) {
  const Extents& e = x.extents();
  Values y(e);
  Extents positions = e;
  positions[Dim::c] = 1;
  each_element(whole(positions), [&](Element at) {
    const std::int64_t channels = e[Dim::c];
    const auto each = [&](auto visit) {
      for (at[1] = 0; at[1] < channels; ++at[1]) visit();
    };
    double mean = 0, variance = 0;
    each([&] { mean += x[at] / static_cast<double>(channels); });
    each([&] { variance += (x[at] - mean) * (x[at] - mean) / static_cast<double>(channels); });
    each([&] { y[at] = (x[at] - mean) / std::sqrt(variance + kNormEpsilon); });
  });
  return y;
}

// Every shard gets the moments of all channels of its positions.
void exchange_moments(std::vector<Shard>& shards) {
  std::vector<std::vector<float>> parts;
  for (const Shard& shard : shards) parts.push_back(shard.statistics);
  std::vector<const float*> values;
  std::vector<std::int64_t> counts;
  for (std::size_t k = 0; k < shards.size(); ++k) {
    values.push_back(parts[k].data());
    counts.push_back(shards[k].box()[Dim::c].size());
  }
  for (Shard& shard : shards) {
    combine(Combination::moments, shard.statistics.data(), values, counts, 0,
            static_cast<std::int64_t>(shard.statistics.size()));
  }
}

void check_normalised(Random& random) {
  const Extents e{{pick(random, 1, 2), pick(random, 2, 700), 1, pick(random, 1, 3), 2}};
  const LayerCase layer(LayerNorm{kNormEpsilon, false}, {e});
  const auto mean = static_cast<double>(pick(random, -100, 100));
  const Values x = Values::random(e, random, mean - 2, mean + 2);
  Degrees degrees;
  degrees[Dim::c] =
      static_cast<std::int32_t>(pick(random, 1, std::min<std::int64_t>(3, e[Dim::c])));
  const Partition partition(e, degrees);
  std::vector<Shard> shards;
  for (std::int64_t k = 0; k < partition.shard_count(); ++k) {
    shards.emplace_back(layer, partition.box(k));
    shards.back().give({x});
    shards.back().run(Phase::forward_statistics);
  }
  exchange_moments(shards);
  const Values wanted = normalised(x);
  for (Shard& shard : shards) {
    shard.run(Phase::forward);
    EXPECT_LT(distance(shard.output(), wanted), 1e-4);
    EXPECT_TRUE(shard.output().unused_are_zero());
  }
}

TEST(LayerNorm, KeepsTheDigitsOfADeviationFarFromZeroWhateverTheCut) {
  each_seed(50, check_normalised);
}

TEST(LayerNorm, UpdatesByPlainDescent) {
  const LayerCase layer(LayerNorm{}, {Extents{{2, 3, 1, 2, 2}}});
  Shard shard(layer, whole(layer.output()));
  shard.give({Values(layer.output())});
  shard.parameters() = {1, 2, 3, 4, 5, 6};
  shard.parameter_gradients = {1, 1, 1, 2, 2, 2};
  shard.step.learning_rate = 0.5F;
  shard.run(Phase::update);
  EXPECT_EQ(shard.parameters(), (std::vector<float>{0.5F, 1.5F, 2.5F, 3, 4, 5}));
}

}  // namespace
}  // namespace strata::cpu
