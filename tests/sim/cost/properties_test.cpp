// What holds for every shape and every shipped kind: the cost is no less than a launch, nothing
// runs above its peak, and a larger shard costs no less.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cost/roofline.h"

namespace strata {
namespace {

using Random = std::mt19937_64;

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

struct Shard {
  Op op;
  Extents output;
  std::vector<Extents> inputs;
  Parameters parameters;
  DType dtype;

  ShardWork work() const { return {&op, output, inputs, parameters, dtype}; }
};

// The shard of `op` with this output, inside the tensor (no padding).
Shard shard(const Op& op, const Extents& output, std::int64_t in, DType dtype) {
  Shard s{op, output, {output}, {}, dtype};
  if (const auto* conv = std::get_if<Convolution>(&op)) {
    const bool depthwise = conv->groups > 1;
    s.inputs[0][Dim::c] = depthwise ? output[Dim::c] : in;
    s.parameters = {output[Dim::c] * (depthwise ? 1 : in), output[Dim::c]};
    for (Dim dim : {Dim::h, Dim::w}) {
      const Window& w = conv->windows[dim];
      s.inputs[0][dim] = (output[dim] - 1) * w.stride + w.kernel;
      s.parameters.weight *= w.kernel;
    }
  } else if (std::holds_alternative<FullyConnected>(op)) {
    s.output = {{output[Dim::n], output[Dim::c], 1, 1, 1}};
    s.inputs[0] = {{output[Dim::n], in, 1, output[Dim::h], output[Dim::w]}};
    s.parameters.weight = output[Dim::c] * in * output[Dim::h] * output[Dim::w];
  }
  return s;
}

Op random_op(Random& random) {
  Convolution conv;
  conv.out_channels = 4096;
  conv.windows.h = {draw(random, 1, 7), draw(random, 1, 3), 0, 0, 1};
  conv.windows.w = random() % 2 ? conv.windows.h : Window{draw(random, 1, 7), 1, 0, 0, 1};
  switch (random() % 4) {
    case 0:
      return FullyConnected{4096, false};
    case 1:
      if (random() % 2) return LayerNorm{};
      return BatchNorm{};
    case 2:
      conv.groups = conv.out_channels;
      return conv;
    default:
      return conv;
  }
}

Extents random_extents(Random& random) {
  return {{draw(random, 1, 64), draw(random, 1, 600), 1, draw(random, 1, 60), draw(random, 1, 60)}};
}

// Operations that any algorithm must execute: Winograd's fewer where it applies.
double least_operations(const PhaseWork& work) {
  return work.direct.flops().value / (work.winograd.count > 0 ? work.winograd_gain : 1);
}

// What holds of the roofline: measured kernels read from caches, and of two shapes the larger may
// have the better kernel.
Profile without_tables(const std::string& kind) {
  Profile profile = load_profile(kind);
  profile.tables.clear();
  return profile;
}

TEST(CostProperties, NothingRunsAboveItsPeakOrUnderItsLaunch) {
  const std::uint64_t seed = 20261121;
  Random random(seed);
  for (const std::string& kind : shipped_profiles()) {
    const Profile profile = without_tables(kind);
    const auto costs = make_cost_model(profile);
    for (int i = 0; i < 3000; ++i) {
      const auto dtype = static_cast<DType>(random() % kDTypeNames.size());
      const auto stored_peak =
          profile.peaks[static_cast<std::size_t>(stored(dtype))].value_or(*profile.peaks[0]);
      const auto peak = profile.peaks[static_cast<std::size_t>(dtype)].value_or(stored_peak);
      const Shard s = shard(random_op(random), random_extents(random), draw(random, 1, 600), dtype);
      for (int p = 0; p < kKernelPhases; ++p) {
        const PhaseWork work = phase_work(s.work(), static_cast<Phase>(p));
        const Seconds time = costs->compute(s.work(), static_cast<Phase>(p)).seconds;
        if (!work.any) {
          ASSERT_EQ(time, Seconds{});
          continue;
        }
        const Seconds busy = time - profile.efficiency.launch.value;
        ASSERT_GE(busy.value, 0) << "seed " << seed << " case " << i;
        ASSERT_GE(busy.value * (1 + 1e-12), least_operations(work) / peak.value.value);
        ASSERT_GE(busy.value * (1 + 1e-12), (work.bytes / profile.bandwidth.value).value);
      }
    }
  }
}

TEST(CostProperties, ALargerShardCostsNoLess) {
  const std::uint64_t seed = 7;
  Random random(seed);
  for (const std::string& kind : shipped_profiles()) {
    const auto costs = make_cost_model(without_tables(kind));
    for (int i = 0; i < 3000; ++i) {
      const Op op = random_op(random);
      const Extents small = random_extents(random);
      const std::int64_t in = draw(random, 1, 600);
      Extents large = small;
      large.values[random() % 5] += draw(random, 1, 40);
      large[Dim::d] = 1;
      const Shard a = shard(op, small, in, DType::fp32), b = shard(op, large, in, DType::fp32);
      for (int p = 0; p < kKernelPhases; ++p) {
        const auto phase = static_cast<Phase>(p);
        ASSERT_GE(costs->compute(b.work(), phase).seconds.value * (1 + 1e-12),
                  costs->compute(a.work(), phase).seconds.value)
            << "seed " << seed << " case " << i << " " << name(op) << " " << name(phase);
      }
    }
  }
}

// VGG's second layer at 32 samples: half the height is half the time and some overhead.
TEST(CostProperties, HalfTheHeightIsAboutHalfTheTime) {
  Convolution conv;
  conv.out_channels = 64;
  conv.windows.h = conv.windows.w = {3, 1, 1, 1, 1};
  const auto costs = make_cost_model(load_profile("p100"));
  const Shard whole = shard(conv, {{32, 64, 1, 224, 224}}, 64, DType::fp32);
  const Shard half = shard(conv, {{32, 64, 1, 112, 224}}, 64, DType::fp32);
  for (Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    const double share =
        costs->compute(half.work(), phase).seconds / costs->compute(whole.work(), phase).seconds;
    EXPECT_GT(share, 0.5) << name(phase);
    EXPECT_LT(share, 0.53) << name(phase);
  }
}

}  // namespace
}  // namespace strata
