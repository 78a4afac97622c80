// What a profile says of the GPU that it was measured on.

#include "exec/cuda/device/gpu_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/cuda/products/library_versions.h"

namespace strata::cuda {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(GpuState, SaysClocksPowerAndWhatHoldsThemBack) {
  EXPECT_EQ(describe({1980, 3201, 412'400, 0}),
            "SM 1980 MHz, memory 3201 MHz, 412 W, clocks held back by: nothing");
  EXPECT_EQ(describe({1755, 3201, 699'600, 0x24}),
            "SM 1755 MHz, memory 3201 MHz, 700 W, clocks held back by: power, temperature");
}

// An idle GPU's clock is low, and that is nobody's fault (bit 1).
TEST(GpuState, DoesNotBlameIdleness) {
  EXPECT_EQ(describe({345, {}, {}, 0x1}), "SM 345 MHz, clocks held back by: nothing");
}

TEST(GpuState, SaysNoMoreThanItWasTold) {
  EXPECT_EQ(describe({{}, {}, 80'000, {}}), "80 W");
  EXPECT_EQ(describe({}), "nothing is told of it");
}

// On a machine without a GPU, the reason; on one with it, clocks.
TEST(GpuState, IsAskedOfTheMachine) {
  EXPECT_THAT(state_of_gpu(0), ::testing::AnyOf(HasSubstr("not known ("), HasSubstr("MHz")));
}

TEST(LibraryVersions, AreThoseThatAreFound) {
  const std::string versions = library_versions();
  EXPECT_THAT(versions, ContainsRegex("(cuDNN [0-9]+\\.[0-9]+\\.[0-9]+|no cuDNN), "));
  EXPECT_THAT(versions, ContainsRegex("(cuBLAS [0-9]+\\.[0-9]+\\.[0-9]+|no cuBLAS), "));
  EXPECT_THAT(versions, ContainsRegex("(NCCL [0-9]+\\.[0-9]+\\.[0-9]+|no NCCL)$"));
}

}  // namespace
}  // namespace strata::cuda
