#pragma once

// What the tests of cuDNN's plans share: convolutions as the zoo's networks ask for them, and plans
// finalised offline for the properties of an H200.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/products/cudnn_graph.h"

namespace strata::cuda {

/// As one of a zoo's networks asks for it.
struct AskedConvolution {
  std::string where;  ///< "conv1 of alexnet"
  ConvolutionShape shape;
};

/// Of a batch of 32: whole, and by turns the first and the last shard of a cut, where padding is on
/// one side. Each shape once.
std::vector<AskedConvolution> convolutions_of(std::string_view network);

/// As its driver describes one.
Gpu h200();

/// Skips where cuDNN is not found, or can't plan without a GPU.
class Plans : public testing::Test {
 protected:
  void SetUp() override;

  /// In each direction, in fp32 and bf16; what does for fp32 does for tf32, too.
  void expect_plans(const std::vector<AskedConvolution>& all) const;

 private:
  std::optional<ConvolutionPlan> plan(const ConvolutionShape& shape, Direction direction,
                                      Precision precision) const;

  std::unique_ptr<Cudnn> cudnn_;
  std::unique_ptr<PlanTarget> target_;
};

}  // namespace strata::cuda
