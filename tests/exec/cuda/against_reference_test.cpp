// Each op's kernel against the referee in double precision, on the host that stands for GPUs: the
// layer whole as one shard, and cut in random parts of all dims, each in an order of its own.

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

using Case = std::tuple<OpCase, Precision>;

std::string title_of(const testing::TestParamInfo<Case>& it) {
  const auto& [op, precision] = it.param;
  return reference::title(op) + (precision == Precision::fp32 ? "_fp32" : "_bf16");
}

auto cases_of(const std::vector<OpCase>& ops) {
  return testing::Combine(testing::ValuesIn(ops),
                          testing::Values(Precision::fp32, Precision::bf16));
}

class Kernels : public testing::TestWithParam<Case> {
 protected:
  const OpCase& op() const { return std::get<0>(GetParam()); }
  Precision precision() const { return std::get<1>(GetParam()); }
  bool has_products() const { return op().name.starts_with("conv"); }

  /// `cut_of(drawn, random)` for each of several drawn layers, in an order drawn for each.
  template <class CutOf>
  void expect_drawn(std::uint64_t seeds, const CutOf& cut_of) {
    HostGpus site(precision());
    if (has_products()) seeds = seeds_of_products(seeds);
    each_drawn(site, op(), seeds, [&](const DrawnOp& drawn, Random& random) {
      host::draw_orders_from(random());
      expect_as_reference(site, drawn, cut_of(drawn, random));
    });
  }
};

class AgainstReference : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, AgainstReference, cases_of(reference::all_ops()), title_of);

TEST_P(AgainstReference, Whole) {
  expect_drawn(10, [](const DrawnOp&, Random&) { return Cut{}; });
}

TEST_P(AgainstReference, CutInParts) {
  expect_drawn(30, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.layer(), random)};
  });
}

class Adding : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, Adding, cases_of(shards::ops_that(shards::has_parameters)), title_of);

TEST_P(Adding, GradientsToWhatLiesThere) {
  const bool inputs = shards::adds_inputs(op());
  expect_drawn(20, [inputs](const DrawnOp& drawn, Random& random) {
    return Cut{.degrees = draw_degrees(drawn.layer(), random),
               .adds_inputs = inputs,
               .adds_parameters = true};
  });
}

class OverWindows : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, OverWindows, cases_of(shards::ops_that(shards::has_windows)),
                         title_of);

// A device may hold more of an input than a shard needs: rows that a stride never meets.
TEST_P(OverWindows, WithMoreOfTheInputThanItNeeds) {
  expect_drawn(10, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.output(), random), false, pick(random, 1, 3)};
  });
}

class InPlace : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Op, InPlace, cases_of(shards::ops_that(shards::works_in_place)), title_of);

TEST_P(InPlace, OutputOverInputAndGradientOverGradient) {
  expect_drawn(10, [](const DrawnOp& drawn, Random& random) {
    return Cut{draw_degrees(drawn.output(), random), true};
  });
}

}  // namespace
}  // namespace strata::cuda
