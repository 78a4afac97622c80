// Activations against their formulas in double precision, their gradients against central
// differences of those.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/loops.h"
#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

double value(const Activation& op, double x) {
  switch (op.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::relu6:
      return std::min(std::max(x, 0.0), 6.0);
    case ActivationKind::leaky_relu:
      return x > 0 ? x : op.slope * x;
    case ActivationKind::elu:
      return x > 0 ? x : op.slope * std::expm1(x);
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::silu:
      return x / (1 + std::exp(-x));
    case ActivationKind::gelu:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case ActivationKind::hard_swish:
      return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
    case ActivationKind::hard_sigmoid:
      return std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
    case ActivationKind::squared_relu:
      return std::pow(std::max(x, 0.0), 2);
    case ActivationKind::softcap:
      return op.slope * std::tanh(x / op.slope);
    case ActivationKind::scale:
      return op.slope * x;
  }
  return 0;
}

/// Of the formula; the kinks, where one does not exist, are not met by random numbers.
double derivative(const Activation& op, double x) {
  const double step = 1e-6;
  return (value(op, x + step) - value(op, x - step)) / (2 * step);
}

constexpr int kKinds = static_cast<int>(kActivationKinds);

Activation pick_activation(Random& random) {
  const auto kind = static_cast<ActivationKind>(pick(random, 0, kKinds - 1));
  const std::int64_t least = kind == ActivationKind::softcap ? 1 : -5;
  return {kind, 0.1 * static_cast<double>(pick(random, least, 15))};
}

TEST(Activation, AgreesWithItsFormula) {
  each_seed(300, [](Random& random) {
    const Activation op = pick_activation(random);
    const Extents e = pick_extents(random);
    const LayerCase layer(op, {e});
    const Values x = Values::random(e, random, -8, 8), dy = Values::random(e, random);
    Values y(e), dx(e);
    each_element(whole(e), [&](const Element& at) {
      y[at] = value(op, x[at]);
      dx[at] = dy[at] * derivative(op, x[at]);
    });
    Shard shard(layer, pick_box(random, whole(e)));
    shard.give({x});
    shard.give_gradient(dy);
    if (op.gradient_from_output() && pick(random, 0, 1) == 0) shard.work_in_place();
    shard.run(Phase::forward);
    EXPECT_LT(distance(shard.output(), y), 2e-6) << static_cast<int>(op.kind);
    EXPECT_TRUE(shard.output().unused_are_zero());
    shard.run(Phase::backward_data);
    EXPECT_LT(distance(shard.input_gradient(0), dx), 1e-5) << static_cast<int>(op.kind);
    EXPECT_TRUE(shard.input_gradient(0).unused_are_zero());
  });
}

// Every instruction set, counts that fill no register, far ends.
TEST(Activation, EveryLoopAgreesFarOut) {
  for (const Loops* set : all_loops()) {
    for (int kind = 0; kind < kKinds; ++kind) {
      const Activation op{static_cast<ActivationKind>(kind), 0.5};
      std::vector<float> x, y(37);
      for (int i = 0; i < 37; ++i) x.push_back(static_cast<float>(std::sinh(0.4 * (i - 18))));
      set->activations[kind].forward(y.data(), x.data(), 37, 0.5F);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = value(op, x[i]);
        EXPECT_NEAR(y[i], wanted, 2e-6 * (1 + std::abs(wanted)))
            << set->name << kind << " " << x[i];
      }
    }
  }
}

}  // namespace
}  // namespace strata::cpu
