// Engines whose results are wrong, though their library says that they ran, are not chosen.

#include "exec/cuda/products/engine_check.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/direct_convolution.h"
#include "exec/cuda/products/tuned_plan.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::SizeIs;
using testing::StartsWith;

class ResultOfAnEngine : public Plans {
 protected:
  using Spoil = std::function<void(const ConvolutionMemory&)>;

  /// On a seat whose engines are checked, and of which the first does so to its result.
  void sit_down(Direction direction, Spoil spoil, Precision precision = Precision::bf16) {
    reset_fake_runs();
    fake_runs().compute = [this, direction, spoil](std::size_t plan,
                                                   const ConvolutionMemory& memory) {
      convolve_directly(shape_, direction, memory, seat_->type(), seat_->stream());
      if (plan == 0) spoil(memory);
    };
    seat_ = seat_with_fake_runs(precision);
  }
  TunedPlan tune(Direction direction) { return tuned_plan(*seat_, shape_, direction); }
  /// Whether the first engine was dropped, and the next that agrees was taken.
  void expect_first_dropped(Direction direction) {
    const TunedPlan tuned = tune(direction);
    ASSERT_TRUE(tuned.plan);
    ASSERT_THAT(fake_runs().runs, SizeIs(testing::Gt(1)));
    EXPECT_EQ(fake_runs().runs[0], kWarmUps);
    EXPECT_EQ(fake_runs().runs[1], kWarmUps + kRounds);
  }
  void clear_all(void* tensor, Direction direction) {
    clear(tensor, written_elements(shape_, direction) * size_of(seat_->type()), seat_->stream());
  }

  const ConvolutionShape shape_ = {1,
                                   4,
                                   4,
                                   {{Dim::h, 4, 3, 3, 1, 1, 1, 0}, {Dim::w, 5, 5, 3, 1, 1, 1, 1}},
                                   {1, 4, 4, 4, 4, 0},
                                   false};
  std::unique_ptr<Seat> seat_;
};

TEST_F(ResultOfAnEngine, OfZerosDropsIt) {
  for (Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    sit_down(
        Direction::weights,
        [&](const ConvolutionMemory& memory) { clear_all(memory.filter, Direction::weights); },
        precision);
    expect_first_dropped(Direction::weights);
  }
}

// As if it took no notice of the padding before the first row.
TEST_F(ResultOfAnEngine, OfAnotherConvolutionDropsIt) {
  for (Direction direction : {Direction::forward, Direction::data, Direction::weights}) {
    sit_down(direction, [&, direction](const ConvolutionMemory& memory) {
      ConvolutionShape other = shape_;
      std::swap(other.axes[0].pad_begin, other.axes[0].pad_end);
      convolve_directly(other, direction, memory, seat_->type(), seat_->stream());
    });
    expect_first_dropped(direction);
  }
}

TEST_F(ResultOfAnEngine, OfNoNumbersDropsIt) {
  sit_down(Direction::forward, [&](const ConvolutionMemory& memory) {
    each(seat_->stream(), 1, [to = static_cast<Bf16*>(memory.output)](std::int64_t) {
      to[7] = Bf16(std::numeric_limits<float>::quiet_NaN());
    });
  });
  expect_first_dropped(Direction::forward);
}

// What another engine left in the memory is not taken for its result.
TEST_F(ResultOfAnEngine, ThatWritesNothingDropsIt) {
  sit_down(Direction::forward, [](const ConvolutionMemory&) {});
  fake_runs().compute = [this](std::size_t plan, const ConvolutionMemory& memory) {
    if (plan == 1) return;
    convolve_directly(shape_, Direction::forward, memory, seat_->type(), seat_->stream());
  };
  EXPECT_TRUE(tune(Direction::forward).plan);
  ASSERT_THAT(fake_runs().runs, SizeIs(testing::Gt(1)));
  EXPECT_EQ(fake_runs().runs[0], kWarmUps + kRounds);
  EXPECT_EQ(fake_runs().runs[1], kWarmUps);
}

TEST_F(ResultOfAnEngine, OfAllEnginesLeavesTheProductToPlainLoops) {
  sit_down(Direction::forward, [](const ConvolutionMemory&) {});
  fake_runs().compute = [this](std::size_t, const ConvolutionMemory& memory) {
    clear_all(memory.output, Direction::forward);
  };
  const ConvolutionProduct product(*seat_, shape_, Direction::forward);
  EXPECT_EQ(product.workspace(), 0);
  EXPECT_THAT(seat_->plain_loops(),
              ElementsAre(AllOf(StartsWith("a result that is off by 1.0e+00 (engine "),
                                EndsWith(show(shape_, Direction::forward, Precision::bf16)))));
}

TEST(SampledElements, AreAllOfFewAndOneOfEachStretchOfMany) {
  const SampledElements few(5);
  for (std::int64_t k = 0; k < 5; ++k) EXPECT_EQ(few.element(k), k);
  const SampledElements many(3 * SampledElements::kMost);
  EXPECT_EQ(many.count, SampledElements::kMost);
  for (std::int64_t k = 0; k < many.count; ++k) EXPECT_EQ(many.element(k) / 3, k);
}

}  // namespace
}  // namespace strata::cuda
