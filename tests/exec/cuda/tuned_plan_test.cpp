// How a plan is chosen among cuDNN's own for an H200, whose runs are made up: which statuses leave
// an engine out, which end it all, and what is timed.

#include "exec/cuda/products/tuned_plan.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Of each plan, untimed and timed.
constexpr std::size_t kWarmUps = 3, kRounds = 7;

ConvolutionShape shape_of(std::int64_t samples) {
  const ConvolutionAxis h{Dim::h, 14, 14, 3, 1, 1, 1, 1}, w{Dim::w, 14, 14, 3, 1, 1, 1, 1};
  return {samples, 16, 32, {h, w}, {1, 16, 32, 16, 32, 0}, false};
}

class TunedPlans : public Plans {
 protected:
  void SetUp() override {
    Plans::SetUp();
    reset_fake_runs();
    if (!IsSkipped()) seat_ = seat_with_fake_runs(Precision::bf16);
  }

  TunedPlan tune() { return tuned_plan(*seat_, shape_, Direction::forward); }

  /// The engine that is kept for it; empty where none is.
  std::string choice() {
    CudnnSeat& cudnn = cudnn_of(*seat_);
    return cudnn.choices().find(product_ + " on " + cudnn.title());
  }

  const ConvolutionShape shape_ = shape_of(8);
  const std::string product_ = show(shape_, Direction::forward, Precision::bf16);
  std::unique_ptr<Seat> seat_;
};

class StatusOfARun : public TunedPlans, public testing::WithParamInterface<cudnnStatus_t> {};
using StatusThatLeavesOut = StatusOfARun;
using StatusThatEnds = StatusOfARun;

TEST_P(StatusThatLeavesOut, LeavesTheProductToOtherEngines) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    return plan == 0 ? GetParam() : CUDNN_STATUS_SUCCESS;
  };
  EXPECT_TRUE(tune().plan);
  ASSERT_GT(fake_runs().runs.size(), 1);
  EXPECT_EQ(fake_runs().runs[0], 1);
  EXPECT_EQ(fake_runs().runs[1], fake_runs().runs.back());
  EXPECT_GT(fake_runs().runs[1], 1);
}

TEST_P(StatusThatLeavesOut, OfAllEnginesLeavesTheProductToPlainLoops) {
  fake_runs().run = [&](std::size_t, std::size_t) { return GetParam(); };
  const ConvolutionProduct product(*seat_, shape_, Direction::forward);
  EXPECT_GT(fake_runs().runs.size(), 1);
  EXPECT_THAT(fake_runs().runs, Each(1));
  EXPECT_EQ(product.workspace(), 0);
  const std::string status = Cudnn().error_string(GetParam());
  EXPECT_THAT(seat_->plain_loops(),
              ElementsAre(AllOf(StartsWith(status + " (engine "), EndsWith(") for " + product_))));
}

INSTANTIATE_TEST_SUITE_P(Status, StatusThatLeavesOut,
                         testing::Values(CUDNN_STATUS_NOT_SUPPORTED,
                                         CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT,
                                         CUDNN_STATUS_EXECUTION_FAILED,
                                         CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER,
                                         CUDNN_STATUS_EXECUTION_FAILED_CUDART));

TEST_P(StatusThatEnds, SaysWhichEngineAndWhat) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    return plan == 1 ? GetParam() : CUDNN_STATUS_SUCCESS;
  };
  try {
    tune();
    ADD_FAILURE() << "tuned";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.message(), HasSubstr("trying engine "));
    EXPECT_THAT(error.message(), HasSubstr(Cudnn().error_string(GetParam())));
  }
  EXPECT_TRUE(seat_->plain_loops().empty());
}

INSTANTIATE_TEST_SUITE_P(Status, StatusThatEnds,
                         testing::Values(CUDNN_STATUS_NOT_INITIALIZED,
                                         CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED,
                                         CUDNN_STATUS_BAD_PARAM,
                                         CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                                         CUDNN_STATUS_INTERNAL_ERROR,
                                         CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED));

// Work on the stream takes a microsecond a piece, by the clock of the host that stands for a GPU.

void put_pieces(Stream& stream, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) each(stream, 1, [](std::int64_t) {});
}

TEST_F(TunedPlans, AreTheFastest) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    put_pieces(seat_->stream(), plan == 2 ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  ASSERT_GT(fake_runs().runs.size(), 2);
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[2], kWarmUps + kRounds + 1);
}

// In the first rounds the stream goes on while the host still asks for runs: the slowest plan then
// seems to take no time, since its run was done before its end was marked.
TEST_F(TunedPlans, AreNotTimedWhileTheHostIsBehind) {
  std::size_t behind = 8;
  fake_runs().run = [&](std::size_t plan, std::size_t run) {
    const bool hurried = run >= kWarmUps && run < kWarmUps + behind;
    if (hurried) seat_->stream().finish();
    put_pieces(seat_->stream(), plan == 2 ? 2 : hurried ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + behind + kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[2], kWarmUps + behind + kRounds + 1);
}

TEST_F(TunedPlans, AreTheHeuristicsFirstAndNotKeptWhereTheHostIsAlwaysBehind) {
  fake_runs().run = [&](std::size_t plan, std::size_t run) {
    if (run >= kWarmUps) seat_->stream().finish();
    put_pieces(seat_->stream(), plan == 2 ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + 3 * kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[0], kWarmUps + 3 * kRounds + 1);
  EXPECT_EQ(choice(), "");
}

// The first tells most: what comes after may only follow from it.
TEST_F(TunedPlans, TellOfTheFirstStatusOfAll) {
  fake_runs().run = [](std::size_t plan, std::size_t) {
    return plan == 0 ? CUDNN_STATUS_EXECUTION_FAILED_CUDART : CUDNN_STATUS_NOT_SUPPORTED_PADDING;
  };
  const TunedPlan tuned = tune();
  EXPECT_FALSE(tuned.plan);
  EXPECT_THAT(tuned.refusal, StartsWith("CUDNN_STATUS_EXECUTION_FAILED_CUDART (engine "));
}

}  // namespace
}  // namespace strata::cuda
