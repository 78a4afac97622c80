// Layers that only move or mix channels (concat, add, flatten, local response norm), against loops
// over elements in global coordinates.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cpu/shards.h"

namespace strata::cpu {
namespace {

void run_both(Shard& shard, const std::vector<Values>& inputs, const Values& dy) {
  shard.give(inputs);
  shard.give_gradient(dy);
  shard.run(Phase::forward);
  shard.run(Phase::backward_data);
}

void expect(Held& got, const Values& wanted, double tolerance = 0) {
  EXPECT_LE(distance(got, wanted), tolerance);
  EXPECT_TRUE(got.unused_are_zero());
}

TEST(Concat, JoinsChannelsWhateverTheCut) {
  each_seed(200, [](Random& random) {
    Extents e = pick_extents(random);
    std::vector<Extents> extents;
    std::vector<Values> inputs;
    for (std::int64_t k = pick(random, 1, 4); k > 0; --k) {
      e[Dim::c] = pick(random, 1, 1 + 8 * pick(random, 0, 3));
      extents.push_back(e);
      inputs.push_back(Values::random(e, random));
    }
    const LayerCase layer(Concat{}, extents);
    const Values dy = Values::random(layer.output(), random);
    for (const Box& box : pick_cut(random, layer.output())) {
      Values y(layer.output());
      std::vector<Values> dx;
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < extents.size(); ++k) {
        dx.emplace_back(extents[k]);
        each_element(whole(extents[k]), [&](const Element& at) {
          Element moved = at;
          moved[1] += offset;
          y[moved] = inputs[k][at];
          dx[k][at] = dy[moved];
        });
        offset += extents[k][Dim::c];
      }
      Shard shard(layer, box);
      run_both(shard, inputs, dy);
      expect(shard.output(), y);
      for (std::size_t k = 0; k < extents.size(); ++k) {
        if (!empty(shard.input_gradient(k).box())) expect(shard.input_gradient(k), dx[k]);
      }
    }
  });
}

TEST(Add, GivesWhatIsReadTwiceBothGradients) {
  each_seed(100, [](Random& random) {
    const Extents e = pick_extents(random);
    const LayerCase layer(Add{}, {e, e}, {1, 0, 1});
    const Values a = Values::random(e, random), b = Values::random(e, random);
    const Values dy = Values::random(e, random);
    Values y(e), twice(e);
    each_element(whole(e), [&](const Element& at) {
      y[at] = a[at] + 2 * b[at];
      twice[at] = 2 * dy[at];
    });
    Shard shard(layer, pick_box(random, whole(e)));
    run_both(shard, {b, a, b}, dy);
    expect(shard.output(), y, 1e-6);
    expect(shard.input_gradient(0), twice, 1e-6);
    expect(shard.input_gradient(1), dy);
  });
}

TEST(Flatten, LinesUpRunsWhateverTheCut) {
  each_seed(200, [](Random& random) {
    const Extents e = pick_extents(random, pick(random, 1, 5));
    const LayerCase layer(Flatten{}, {e});
    const Values x = Values::random(e, random), dy = Values::random(layer.output(), random);
    Values y(layer.output()), dx(e);
    each_element(whole(e), [&](const Element& at) {
      Extents sample = e;
      sample[Dim::n] = 1;
      Element in_sample = at;
      in_sample[0] = 0;
      const Element flat = {at[0], static_cast<std::int64_t>(index(sample, in_sample)), 0, 0, 0};
      y[flat] = x[at];
      dx[at] = dy[flat];
    });
    for (const Box& box : pick_cut(random, layer.output())) {
      Shard shard(layer, box);
      run_both(shard, {x}, dy);
      expect(shard.output(), y);
      for (std::size_t k = 0; k < shard.input_regions(); ++k) expect(shard.input_gradient(k), dx);
    }
  });
}

TEST(Flatten, IsAViewWhereMemoryIsTheSame) {
  const Extents e{{2, 11, 1, 1, 1}};
  const LayerCase layer(Flatten{}, {e});
  Random random(0);
  const Values x = Values::random(e, random), dy = Values::random(e, random);
  Shard shard(layer, whole(e));
  shard.work_in_place();
  run_both(shard, {x}, dy);
  expect(shard.output(), x);
  expect(shard.input_gradient(0), dy);
}

/// Of the outputs in `box`, with the gradient that they alone give.
struct Normed {
  Normed(const LocalResponseNorm& op, const Values& x, const Values& dy, const Box& box)
      : y(x.extents()), dx(x.extents()) {
    const auto size = static_cast<double>(op.size);
    each_element(box, [&](const Element& o) {
      std::vector<Element> window;
      for (std::int64_t j = 0; j < op.size; ++j) {
        Element at = o;
        at[1] += j - (op.size - 1) / 2;
        if (at[1] >= 0 && at[1] < x.extents()[Dim::c]) window.push_back(at);
      }
      double s = op.k;
      for (const Element& at : window) s += op.alpha / size * x[at] * x[at];
      y[o] = x[o] * std::pow(s, -op.beta);
      dx[o] += dy[o] * std::pow(s, -op.beta);
      for (const Element& at : window) {
        dx[at] -= dy[o] * x[o] * op.beta * std::pow(s, -op.beta - 1) * op.alpha / size * 2 * x[at];
      }
    });
  }
  Values y, dx;
};

TEST(LocalResponseNorm, AgreesWhateverTheCut) {
  each_seed(200, [](Random& random) {
    const Extents e = pick_extents(random);
    const LocalResponseNorm op{pick(random, 1, 7), 0.5, pick(random, 0, 1) == 0 ? 0.75 : 0.6,
                               static_cast<double>(pick(random, 1, 2))};
    const LayerCase layer(op, {e});
    const Values x = Values::random(e, random), dy = Values::random(e, random);
    for (const Box& box : pick_cut(random, e)) {
      const Normed wanted(op, x, dy, box);
      Shard shard(layer, box);
      run_both(shard, {x}, dy);
      expect(shard.output(), wanted.y, 1e-5);
      expect(shard.input_gradient(0), wanted.dx, 1e-5);
    }
  });
}

}  // namespace
}  // namespace strata::cpu
