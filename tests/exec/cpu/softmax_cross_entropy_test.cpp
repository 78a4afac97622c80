// The loss over random cuts: shards of a row exchange its maximum and sum, and agree with the whole
// batch's in double precision.

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/combine.h"
#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

struct WholeBatch {
  WholeBatch(const Values& x, const std::vector<std::int64_t>& labels)
      : p(x.extents()), dx(x.extents()) {
    const std::int64_t batch = x.extents()[Dim::n], classes = x.extents()[Dim::c];
    for (std::int64_t n = 0; n < batch; ++n) {
      const std::int64_t label = labels[static_cast<std::size_t>(n)];
      double sum = 0, most = x[{n, 0, 0, 0, 0}];
      for (std::int64_t c = 0; c < classes; ++c) {
        sum += std::exp(x[{n, c, 0, 0, 0}]);
        most = std::max(most, x[{n, c, 0, 0, 0}]);
      }
      for (std::int64_t c = 0; c < classes; ++c) {
        const Element at{n, c, 0, 0, 0};
        p[at] = std::exp(x[at]) / sum;
        dx[at] = (p[at] - (c == label ? 1 : 0)) / static_cast<double>(batch);
      }
      loss -= std::log(p[{n, label, 0, 0, 0}]) / static_cast<double>(batch);
      correct += x[{n, label, 0, 0, 0}] == most ? 1 : 0;
    }
  }

  Values p, dx;
  double loss = 0;
  std::int64_t correct = 0;
};

/// Every shard gets what all shards of its rows give.
void exchange(std::vector<Shard>& shards) {
  std::vector<std::vector<float>> before;
  before.reserve(shards.size());
  for (const Shard& shard : shards) before.push_back(shard.statistics);
  for (Shard& shard : shards) {
    std::vector<const float*> parts;
    for (std::size_t k = 0; k < shards.size(); ++k) {
      if (shards[k].box()[Dim::n] == shard.box()[Dim::n]) parts.push_back(before[k].data());
    }
    combine(Combination::log_sum_exp, shard.statistics.data(), parts, {}, 0,
            static_cast<std::int64_t>(shard.statistics.size()));
  }
}

void check_a_cut(Random& random) {
  const Extents e{{pick(random, 1, 6), pick(random, 2, 40), 1, 1, 1}};
  const LayerCase layer(SoftmaxCrossEntropy{}, {e});
  const Values x = Values::random(e, random, -20, 20);
  std::vector<std::int64_t> labels;
  for (std::int64_t n = 0; n < e[Dim::n]; ++n) labels.push_back(pick(random, 0, e[Dim::c] - 1));
  const WholeBatch wanted(x, labels);

  std::vector<Shard> shards;
  for (const Box& box : pick_cut(random, e)) shards.emplace_back(layer, box);
  for (Shard& shard : shards) {
    shard.give({x});
    shard.step.labels = labels;
    shard.run(Phase::forward_statistics);
  }
  exchange(shards);
  LossPart all;
  for (Shard& shard : shards) {
    shard.run(Phase::forward);
    shard.run(Phase::backward_data);
    all.loss += shard.loss.loss, all.correct += shard.loss.correct;
    EXPECT_LT(distance(shard.output(), wanted.p), 1e-5);
    EXPECT_LT(distance(shard.input_gradient(0), wanted.dx), 1e-5);
    EXPECT_TRUE(shard.output().unused_are_zero());
    EXPECT_TRUE(shard.input_gradient(0).unused_are_zero());
  }
  EXPECT_NEAR(all.loss, wanted.loss, 1e-5 * (1 + wanted.loss));
  EXPECT_EQ(all.correct, wanted.correct);
}

TEST(SoftmaxCrossEntropy, AgreesWithTheWholeBatchWhateverTheCut) {
  each_seed(200, check_a_cut);
}

}  // namespace
}  // namespace strata::cpu
