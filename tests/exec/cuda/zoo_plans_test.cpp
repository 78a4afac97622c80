// That cuDNN has plans for every convolution of the zoo, without a GPU.

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/graph/zoo.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

class ZooPlans : public Plans {};

// Each shape once: networks of a family differ in few.
TEST_F(ZooPlans, AreThereForEachConvolution) {
  std::vector<AskedConvolution> all;
  for (const ZooEntry& network : convolutional_zoo()) {
    for (AskedConvolution& one : convolutions_of(network.name)) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const AskedConvolution& other) {
        return other.shape == one.shape;
      });
      if (!known) all.push_back(std::move(one));
    }
  }
  expect_plans(all);
}

}  // namespace
}  // namespace strata::cuda
