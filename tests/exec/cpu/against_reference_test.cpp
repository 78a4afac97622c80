// Each op's kernel against the referee in double precision: the layer whole as one shard, and cut
// in random parts of all dims.

#include <string>

#include <gtest/gtest.h>

#include "tests/exec/cpu/cpu_site.h"

namespace strata::cpu {
namespace {

using reference::OpCase;
using shards::ops_that;

std::string title_of(const testing::TestParamInfo<OpCase>& op) {
  return reference::title(op.param);
}

class Kernels : public testing::TestWithParam<OpCase> {
 protected:
  /// `cut_of(drawn, random)`, several times, for each of several drawn layers.
  template <class CutOf>
  void expect_drawn(std::uint64_t seeds, int cuts, const CutOf& cut_of) {
    CpuSite site;
    each_drawn(site, GetParam(), seeds, [&](const DrawnOp& drawn, Random& random) {
      for (int k = 0; k < cuts; ++k) expect_as_reference(site, drawn, cut_of(drawn, random));
    });
  }
};

class AgainstReference : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, AgainstReference, testing::ValuesIn(reference::all_ops()), title_of);

TEST_P(AgainstReference, Whole) {
  expect_drawn(20, 1, [](const DrawnOp&, Random&) { return Cut{}; });
}

TEST_P(AgainstReference, CutInParts) {
  expect_drawn(20, 3, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.layer(), random)};
  });
}

class Adding : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, Adding, testing::ValuesIn(ops_that(shards::has_parameters)), title_of);

TEST_P(Adding, GradientsToWhatLiesThere) {
  const bool inputs = shards::adds_inputs(GetParam());
  expect_drawn(20, 2, [inputs](const DrawnOp& drawn, Random& random) {
    return Cut{.degrees = draw_degrees(drawn.layer(), random),
               .adds_inputs = inputs,
               .adds_parameters = true};
  });
}

class OverWindows : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, OverWindows, testing::ValuesIn(ops_that(shards::has_windows)),
                         title_of);

// A device may hold more of an input than a shard needs: rows that a stride
// never meets.
TEST_P(OverWindows, WithMoreOfTheInputThanItNeeds) {
  expect_drawn(10, 1, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.output(), random), false, pick(random, 1, 3)};
  });
}

class InPlace : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, InPlace, testing::ValuesIn(ops_that(shards::works_in_place)),
                         title_of);

TEST_P(InPlace, OutputOverInputAndGradientOverGradient) {
  expect_drawn(10, 1, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.output(), random), true};
  });
}

}  // namespace
}  // namespace strata::cpu
