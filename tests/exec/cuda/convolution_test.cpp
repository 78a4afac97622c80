// Convolutions of odd shapes and fully-connected layers on inputs of every layout, against the
// referee in double precision, whole and cut in random parts. On the host products are plain loops:
// what is tested is what surrounds them, and the loops themselves.

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/shards/drawn_convolution.h"

namespace strata::cuda {
namespace {

class Convolutions : public testing::TestWithParam<std::tuple<int, Precision>> {};

TEST_P(Convolutions, OfOddShapesAgreeWithTheReference) {
  HostGpus site(std::get<Precision>(GetParam()));
  each_seed(seeds_of_products(60), [&](Random& random) {
    host::draw_orders_from(random());
    shards::expect_convolution_as_reference(site, std::get<int>(GetParam()), random);
  });
}

INSTANTIATE_TEST_SUITE_P(Rank, Convolutions,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::ValuesIn(precisions_of_products())));

class FullyConnectedLayers : public testing::TestWithParam<Precision> {};

TEST_P(FullyConnectedLayers, AgreeWithTheReference) {
  HostGpus site(GetParam());
  each_seed(seeds_of_products(60), [&](Random& random) {
    host::draw_orders_from(random());
    const FullyConnected op{pick(random, 1, 40), pick(random, 0, 1) == 0};
    Extents input{{pick(random, 1, 20), pick(random, 1, 30), 1, 1, 1}};
    for (Dim dim : kSpatialDims) input[dim] = pick(random, 0, 1) == 0 ? 1 : pick(random, 1, 4);
    const DrawnLayer drawn(site, input, op, random);
    Cut cut;
    for (Dim dim : {Dim::n, Dim::c}) {
      const std::int64_t most = std::min<std::int64_t>(drawn.dy.extents[dim], 3);
      cut.degrees[dim] = static_cast<std::int32_t>(pick(random, 1, most));
    }
    expect_as_reference(site, drawn, cut);
  });
}

INSTANTIATE_TEST_SUITE_P(Precision, FullyConnectedLayers,
                         testing::ValuesIn(precisions_of_products()));

}  // namespace
}  // namespace strata::cuda
