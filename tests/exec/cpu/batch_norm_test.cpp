// Batch norm over random cuts: shards exchange statistics as the engine would, and agree with the
// whole batch's formulas in double precision.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/combine.h"
#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

constexpr double kEpsilon = 1e-3;

/// By channel.
using Channels = std::vector<double>;

/// The whole layer.
struct Referee {
  Values x, dy;
  Channels gamma, beta;
  Values y{}, dx{};
  Channels dgamma{}, dbeta{};

  void compute() {
    const Extents e = x.extents();
    const auto channels = static_cast<std::size_t>(e[Dim::c]);
    const double count = static_cast<double>(volume(e)) / static_cast<double>(channels);
    Channels mean(channels), variance(channels);
    dgamma.assign(channels, 0), dbeta.assign(channels, 0);
    y = Values(e), dx = Values(e);
    const auto all = [&](auto visit) {
      each_element(whole(e),
                   [&](const Element& at) { visit(at, static_cast<std::size_t>(at[1])); });
    };
    all([&](const Element& at, std::size_t c) { mean[c] += x[at] / count; });
    all([&](const Element& at, std::size_t c) {
      variance[c] += (x[at] - mean[c]) * (x[at] - mean[c]) / count;
    });
    const auto normal = [&](const Element& at, std::size_t c) {
      return (x[at] - mean[c]) / std::sqrt(variance[c] + kEpsilon);
    };
    all([&](const Element& at, std::size_t c) {
      y[at] = gamma[c] * normal(at, c) + beta[c];
      dgamma[c] += dy[at] * normal(at, c);
      dbeta[c] += dy[at];
    });
    all([&](const Element& at, std::size_t c) {
      dx[at] = gamma[c] / std::sqrt(variance[c] + kEpsilon) *
               (dy[at] - dbeta[c] / count - normal(at, c) * dgamma[c] / count);
    });
  }
};

/// Every shard of a cut, and what they exchange.
struct Shards {
  std::vector<Shard> all;

  void run(Phase phase) {
    for (Shard& shard : all) shard.run(phase);
  }
  void combine_statistics(Combination how) {
    const std::vector<Shard>& before = all;
    std::vector<std::vector<float>> parts;
    parts.reserve(before.size());
    for (const Shard& shard : before) parts.push_back(shard.statistics);
    for (Shard& shard : all) combine_for(shard, how, parts);
  }
  void combine_for(Shard& shard, Combination how, const std::vector<std::vector<float>>& parts) {
    std::vector<const float*> of_group;
    std::vector<std::int64_t> counts;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k].box()[Dim::c] != shard.box()[Dim::c]) continue;
      of_group.push_back(parts[k].data());
      counts.push_back(volume(all[k].box()) / all[k].box()[Dim::c].size());
    }
    combine(how, shard.statistics.data(), of_group, counts, 0,
            static_cast<std::int64_t>(shard.statistics.size()));
  }
};

Channels pick_channels(Random& random, std::int64_t count) {
  Channels values;
  for (std::int64_t k = 0; k < count; ++k) {
    values.push_back(static_cast<float>(0.1 * static_cast<double>(pick(random, -10, 20))));
  }
  return values;
}

/// gamma, then beta, of the shard's channels.
void give_parameters(Shard& shard, const Referee& referee) {
  const Interval channels = shard.box()[Dim::c];
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    const auto at = static_cast<std::size_t>(c - channels.begin);
    const auto held = static_cast<std::size_t>(channels.size());
    shard.parameters()[at] = static_cast<float>(referee.gamma[static_cast<std::size_t>(c)]);
    shard.parameters()[held + at] = static_cast<float>(referee.beta[static_cast<std::size_t>(c)]);
  }
}

/// The sum of what all shards found for channel c: of gamma, or of beta.
double gradient_of(const Shards& shards, std::int64_t c, bool of_beta) {
  double sum = 0;
  for (const Shard& shard : shards.all) {
    const Interval held = shard.box()[Dim::c];
    if (c < held.begin || c >= held.end) continue;
    const std::int64_t at = c - held.begin + (of_beta ? held.size() : 0);
    sum += shard.parameter_gradients[static_cast<std::size_t>(at)];
  }
  return sum;
}

Referee pick_referee(Random& random, const Extents& e) {
  // A mean far from 0: sums of squares around 0 would lose what varies.
  const auto mean = static_cast<double>(pick(random, -100, 100));
  Referee referee{Values::random(e, random, mean - 2, mean + 2), Values::random(e, random),
                  pick_channels(random, e[Dim::c]), pick_channels(random, e[Dim::c])};
  referee.compute();
  return referee;
}

void check(Random& random, const Extents& e) {
  const LayerCase layer(BatchNorm{kEpsilon}, {e});
  const Referee wanted = pick_referee(random, e);
  Shards shards;
  for (const Box& box : pick_cut(random, e)) shards.all.emplace_back(layer, box);
  for (Shard& shard : shards.all) {
    shard.give({wanted.x});
    shard.give_gradient(wanted.dy);
    give_parameters(shard, wanted);
  }
  shards.run(Phase::forward_statistics);
  shards.combine_statistics(Combination::moments);
  shards.run(Phase::forward);
  shards.run(Phase::backward_statistics);
  shards.combine_statistics(Combination::sum);
  shards.run(Phase::backward_data);
  for (Shard& shard : shards.all) {
    EXPECT_LT(distance(shard.output(), wanted.y), 2e-4);
    EXPECT_LT(distance(shard.input_gradient(0), wanted.dx), 2e-4);
    EXPECT_TRUE(shard.output().unused_are_zero());
    EXPECT_TRUE(shard.input_gradient(0).unused_are_zero());
  }
  for (std::int64_t c = 0; c < e[Dim::c]; ++c) {
    const auto at = static_cast<std::size_t>(c);
    EXPECT_NEAR(gradient_of(shards, c, false), wanted.dgamma[at], 2e-3);
    EXPECT_NEAR(gradient_of(shards, c, true), wanted.dbeta[at], 1e-3);
  }
}

TEST(BatchNorm, AgreesWithTheWholeBatchWhateverTheCut) {
  each_seed(100, [](Random& random) { check(random, pick_extents(random, 12)); });
}

TEST(BatchNorm, UpdatesByPlainDescent) {
  const LayerCase layer(BatchNorm{}, {Extents{{2, 3, 1, 2, 2}}});
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
