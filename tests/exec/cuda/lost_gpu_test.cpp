// A test program goes on while its GPU works, and ends behind the test that lost it.

#include "tests/exec/cuda/lost_gpu.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace strata::cuda {
namespace {

void end_this_test(const std::string& why_lost) {
  EndWhenGpuIsLost listener([&] { return why_lost; });
  listener.OnTestEnd(*::testing::UnitTest::GetInstance()->current_test_info());
}

TEST(LostGpuDeathTest, EndsTheProcessBehindTheTestThatLostIt) {
  EXPECT_EXIT(
      end_this_test("an illegal address"), ::testing::ExitedWithCode(kGpuLost),
      "error: the GPU is lost after LostGpuDeathTest.EndsTheProcessBehindTheTestThatLostIt: "
      "an illegal address");
}

TEST(LostGpuDeathTest, LetsTheProcessGoOnWhileTheGpuWorks) {
  const auto go_on = [] {
    end_this_test("");
    std::_Exit(3);
  };
  EXPECT_EXIT(go_on(), ::testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace strata::cuda
