// That cuDNN has plans, without a GPU, for the first convolutions of a network and for shapes that
// networks have seldom.

#include "tests/exec/cuda/plans.h"

#include <algorithm>

namespace strata::cuda {
namespace {

TEST_F(Plans, OfAlexNet) {
  std::vector<AskedConvolution> all = convolutions_of("alexnet");
  all.resize(std::min<std::size_t>(all.size(), 6));
  expect_plans(all);
}

// In 3-D, strided over uneven paddings, in groups.
TEST_F(Plans, OfOddShapes) {
  const ConvolutionAxis thin{Dim::d, 5, 3, 3, 2, 1, 1, 1}, wide{Dim::h, 14, 13, 4, 1, 1, 0, 2};
  const ConvolutionAxis loose{Dim::w, 15, 7, 3, 2, 1, 0, 0}, cut{Dim::w, 16, 7, 3, 2, 1, 0, -1};
  const ConvolutionGroups one{1, 16, 24, 16, 24, 0}, four{4, 4, 6, 4, 6, 0};
  const ConvolutionGroups each{24, 1, 1, 1, 1, 0};
  expect_plans({{"3-D", {2, 16, 24, {thin, wide, loose}, one, false}},
                {"unread columns", {2, 16, 24, {wide, cut}, one, false}},
                {"groups", {2, 16, 24, {wide, cut}, four, false}},
                {"depthwise", {2, 24, 24, {wide, cut}, each, false}}});
}

}  // namespace
}  // namespace strata::cuda
