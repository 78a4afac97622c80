// What frameworks do otherwise than a case by itself.

#include "sim/study/case/framework.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata {
namespace {

CaseRequest request_as(Framework framework, const char* model, const char* cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  request.batch = 16;
  request.framework = framework;
  return request;
}

double step(const CaseRequest& request) {
  const Case input = load_case(request);
  return predict(input, data_parallel(input.graph, static_cast<int>(input.cluster.device_count())))
      .step_seconds()
      .value;
}

TEST(Frameworks, Of2017WaitForParameterServers) {
  const CaseRequest request = request_as(Framework::ddp_2017, "alexnet", "dgx1-p100");
  const Case input = load_case(request);
  EXPECT_EQ(input.sync, SyncAlgorithm::ps);
  EXPECT_EQ(input.runtime.overlap, Overlap::none);
  EXPECT_GT(step(request), step(request_as(Framework::none, "alexnet", "dgx1-p100")));
  CaseRequest tree = request;
  tree.sync.algorithm = SyncAlgorithm::tree;
  EXPECT_EQ(load_case(tree).sync.algorithm, SyncAlgorithm::tree);
  CaseRequest shared = request;
  shared.sync.zero = Zero::state;
  EXPECT_THAT([&] { load_case(shared); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("`zero` 1 shares")));
}

// A block of hidden size 32: 4 products of 32 x 32, 2 of 32 x 128, biases and norms.
TEST(Frameworks, FsdpGathersBlockByBlock) {
  CaseRequest request =
      request_as(Framework::fsdp, "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64", "a100-1x8");
  const Case input = load_case(request);
  constexpr std::int64_t kBlock = 4 * 32 * 32 + 2 * 32 * 128 + (4 * 32 + 128 + 32) + 4 * 32;
  EXPECT_EQ(input.sync.bucket, Bytes{4 * kBlock});
  EXPECT_EQ(input.sync.zero, Zero::parameters);
  EXPECT_EQ(kernels_of(input).optimizer, Optimizer::adam);
  EXPECT_DOUBLE_EQ(input.runtime.communication_share, 24.0 / 108);
  request.optimizer = Optimizer::momentum;
  EXPECT_EQ(kernels_of(load_case(request)).optimizer, Optimizer::momentum);
  request.sync.zero = Zero::gradients;
  request.sync.bucket = Bytes{1000};
  EXPECT_EQ(load_case(request).sync.zero, Zero::gradients);
  EXPECT_EQ(load_case(request).sync.bucket, Bytes{1000});
}

TEST(Frameworks, CommunicationSharesAreOfKindsThatAreKnown) {
  EXPECT_EQ(load_case(request_as(Framework::fsdp, "lenet5", "k80-1x2")).runtime.communication_share,
            0);
}

}  // namespace
}  // namespace strata
