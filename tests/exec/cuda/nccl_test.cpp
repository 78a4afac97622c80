#include "exec/cuda/peers/nccl.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata::cuda {
namespace {

class NcclTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      nccl_ = std::make_unique<Nccl>();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.message();
    }
  }

  std::unique_ptr<Nccl> nccl_;
};

TEST_F(NcclTest, IsTheVersionOfItsHeader) {
  int version = 0;
  EXPECT_EQ(nccl_->version(&version), ncclSuccess);
  EXPECT_EQ(version / 10000, NCCL_MAJOR);
  EXPECT_GE(version, NCCL_VERSION(2, 19, 0));
}

TEST_F(NcclTest, FailuresSayWhatWasDoneAndWhy) {
  EXPECT_NO_THROW(nccl_->check(ncclSuccess, "summing"));
  try {
    nccl_->check(ncclInvalidUsage, "summing");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.message(), testing::MatchesRegex("NCCL 2\\.[0-9]+\\.[0-9]+: summing: .+"));
  }
}

// Groups open and close without a GPU.
TEST_F(NcclTest, AGroupThatWasLeftIsClosed) {
  { const NcclGroup left(*nccl_); }
  NcclGroup group(*nccl_);
  EXPECT_NO_THROW(group.end("nothing"));
}

}  // namespace
}  // namespace strata::cuda
