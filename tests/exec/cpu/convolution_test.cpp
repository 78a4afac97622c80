// Convolutions of odd shapes against the referee in double precision, whole and cut in random
// parts, in every rank.

#include <gtest/gtest.h>

#include "tests/exec/cpu/cpu_site.h"
#include "tests/exec/shards/drawn_convolution.h"

namespace strata::cpu {
namespace {

class ConvolutionShards : public testing::TestWithParam<int> {};

TEST_P(ConvolutionShards, AgreeWithTheReference) {
  each_seed(120, [](Random& random) {
    CpuSite site;
    shards::expect_convolution_as_reference(site, GetParam(), random);
  });
}

INSTANTIATE_TEST_SUITE_P(Rank, ConvolutionShards, testing::Values(1, 2, 3));

}  // namespace
}  // namespace strata::cpu
