// Norms and softmaxes over the channels of a place, in every instruction set that this machine has,
// against plain loops in double precision.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/loops.h"
#include "tests/exec/cpu/tensors.h"

namespace strata::cpu {
namespace {

/// One sample in channel blocks, with zeros for the last one's unused places.
struct Sample {
  Sample(const ChannelBlocks& blocks, std::int64_t of_lanes, Random& random, double around = 0)
      : of(blocks),
        lanes(of_lanes),
        values(static_cast<std::size_t>((of.channels + lanes - 1) / lanes * of.stride)) {
    std::uniform_real_distribution<double> draw(around - 2, around + 2);
    for (std::int64_t p = 0; p < of.places; ++p) {
      for (std::int64_t c = 0; c < of.channels; ++c) at(p, c) = static_cast<float>(draw(random));
    }
  }
  float& at(std::int64_t p, std::int64_t c) {
    return values[static_cast<std::size_t>(c / lanes * of.stride + p * lanes + c % lanes)];
  }
  double operator()(std::int64_t p, std::int64_t c) const {
    return values[static_cast<std::size_t>(c / lanes * of.stride + p * lanes + c % lanes)];
  }
  /// The sum of term(c) over the channels.
  template <class Term>
  double sum(const Term& term) const {
    double all = 0;
    for (std::int64_t c = 0; c < of.channels; ++c) all += term(c);
    return all;
  }

  ChannelBlocks of;
  std::int64_t lanes;
  std::vector<float> values;
};

std::vector<float> drawn(std::int64_t count, double low, double high, Random& random) {
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(draw(random));
  return values;
}

class PlaceLoops : public testing::TestWithParam<const Loops*> {
 protected:
  /// trial(loops, lanes, channels and places, random) for blocks and for single channels.
  template <class Trial>
  void each_trial(const Trial& trial) {
    each_seed(30, [&](Random& random) {
      const bool single = pick(random, 0, 2) == 0;
      const std::int64_t lanes = single ? 1 : GetParam()->lanes;
      const std::int64_t places = pick(random, 1, 20);
      const ChannelBlocks of{pick(random, 1, 5 * lanes + 30), places, places * lanes};
      trial(single ? GetParam()->singles : GetParam()->blocks, lanes, of, random);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, PlaceLoops, testing::ValuesIn(all_loops()),
                         [](const auto& set) { return std::string(set.param->name); });

TEST_P(PlaceLoops, SumUpAllChannelsOfAPlace) {
  each_trial([](const BlockLoops& loops, std::int64_t lanes, const ChannelBlocks& of,
                Random& random) {
    const Sample x(of, lanes, random, 50), dy(of, lanes, random);
    const std::vector<float> near = drawn(of.places, 49, 51, random);
    const std::vector<float> inverse = drawn(of.places, 0.5, 2, random);
    const std::vector<float> scale = drawn(of.channels + lanes, -1, 1, random);
    std::vector<float> moments(static_cast<std::size_t>(2 * of.places)), products = moments;
    loops.place_moments(of, x.values.data(), near.data(), moments.data());
    loops.place_products(of, dy.values.data(), x.values.data(), scale.data(),
                         {near.data(), inverse.data()}, products.data());
    const double tolerance = 1e-5 * static_cast<double>(of.channels);
    for (std::int64_t p = 0; p < of.places; ++p) {
      const auto at = static_cast<std::size_t>(p);
      const auto off = [&](std::int64_t c) { return x(p, c) - static_cast<double>(near[at]); };
      const auto g = [&](std::int64_t c) {
        return dy(p, c) * static_cast<double>(scale[static_cast<std::size_t>(c)]);
      };
      EXPECT_NEAR(moments[2 * at], x.sum(off), tolerance);
      EXPECT_NEAR(moments[2 * at + 1], x.sum([&](auto c) { return off(c) * off(c); }), tolerance);
      EXPECT_NEAR(products[2 * at], x.sum(g), tolerance);
      EXPECT_NEAR(products[2 * at + 1],
                  x.sum([&](auto c) { return g(c) * off(c); }) * static_cast<double>(inverse[at]),
                  tolerance);
    }
  });
}

TEST_P(PlaceLoops, TakeExponentialsWithoutTheUnusedPlaces) {
  each_trial(
      [](const BlockLoops& loops, std::int64_t lanes, const ChannelBlocks& of, Random& random) {
        // All below zero, which unused places hold.
        const Sample x(of, lanes, random, -40);
        std::vector<float> pairs(static_cast<std::size_t>(2 * of.places));
        loops.place_exponentials(of, x.values.data(), pairs.data());
        std::vector<float> y(x.values.size());
        for (std::int64_t c = 0; c < of.channels; c += lanes) {
          const std::int64_t block = c / lanes * of.stride;
          loops.softmax(pairs.data(), x.values.data() + block, of.places, y.data() + block);
        }
        for (std::int64_t p = 0; p < of.places; ++p) {
          double most = x(p, 0);
          for (std::int64_t c = 0; c < of.channels; ++c) most = std::max(most, x(p, c));
          const double sum = x.sum([&](auto c) { return std::exp(x(p, c) - most); });
          EXPECT_EQ(pairs[static_cast<std::size_t>(2 * p)], most);
          EXPECT_NEAR(pairs[static_cast<std::size_t>(2 * p + 1)] / sum, 1, 1e-6);
          for (std::int64_t c = 0; c < of.channels; ++c) {
            const float got =
                y[static_cast<std::size_t>(c / lanes * of.stride + p * lanes + c % lanes)];
            EXPECT_NEAR(got / (std::exp(x(p, c) - most) / sum), 1, 2e-6);
          }
        }
      });
}

TEST_P(PlaceLoops, NormaliseABlockAndItsGradient) {
  each_trial([](const BlockLoops& loops, std::int64_t lanes, ChannelBlocks of, Random& random) {
    of.channels = lanes;
    const Sample x(of, lanes, random), dy(of, lanes, random);
    const std::vector<float> mean = drawn(of.places, -1, 1, random);
    const std::vector<float> inverse = drawn(of.places, 0.5, 2, random);
    const std::vector<float> scale = drawn(lanes, -1, 1, random);
    const std::vector<float> shift = drawn(lanes, -1, 1, random);
    const std::vector<float> sums = drawn(2 * of.places, -1, 1, random);
    std::vector<float> y(x.values.size()), dx = y;
    std::vector<double> products(static_cast<std::size_t>(2 * lanes));
    const PlaceNorms norms{mean.data(), inverse.data()};
    loops.normalize_places(norms, scale.data(), shift.data(), x.values.data(), of.places, y.data());
    loops.normalize_places_gradient(norms, scale.data(), sums.data(), 0.5F, dy.values.data(),
                                    x.values.data(), of.places, dx.data());
    loops.scale_products(norms, dy.values.data(), x.values.data(), of.places, products.data());
    for (std::int64_t c = 0; c < lanes; ++c) {
      double of_scale = 0, of_shift = 0;
      for (std::int64_t p = 0; p < of.places; ++p) {
        const auto at = static_cast<std::size_t>(p), lane = static_cast<std::size_t>(c);
        const double by = static_cast<double>(inverse[at]);
        const double hat = (x(p, c) - static_cast<double>(mean[at])) * by;
        const double wanted =
            hat * static_cast<double>(scale[lane]) + static_cast<double>(shift[lane]);
        const double gradient =
            (dy(p, c) * static_cast<double>(scale[lane]) - 0.5 * static_cast<double>(sums[2 * at]) -
             0.5 * hat * static_cast<double>(sums[2 * at + 1])) *
            by;
        EXPECT_NEAR(y[at * static_cast<std::size_t>(lanes) + lane], wanted, 1e-5);
        EXPECT_NEAR(dx[at * static_cast<std::size_t>(lanes) + lane], gradient, 2e-5);
        of_scale += dy(p, c) * hat, of_shift += dy(p, c);
      }
      EXPECT_NEAR(products[static_cast<std::size_t>(c)], of_scale, 1e-4);
      EXPECT_NEAR(products[static_cast<std::size_t>(lanes + c)], of_shift, 1e-4);
    }
  });
}

}  // namespace
}  // namespace strata::cpu
