// That cuDNN has plans for every convolution of the zoo, without a GPU.

#include <cctype>
#include <string>

#include "sim/graph/zoo.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

class ZooPlans : public Plans, public testing::WithParamInterface<std::string> {};

TEST_P(ZooPlans, AreThereForEachConvolution) {
  expect_plans(convolutions_of(GetParam()));
}

std::vector<std::string> networks() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.emplace_back(entry.name);
  return names;
}

std::string title_of(const testing::TestParamInfo<std::string>& network) {
  std::string title = network.param;
  for (char& c : title) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return title;
}

INSTANTIATE_TEST_SUITE_P(Network, ZooPlans, testing::ValuesIn(networks()), title_of);

}  // namespace
}  // namespace strata::cuda
