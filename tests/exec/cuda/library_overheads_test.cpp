// With plans of the library's own and runs that are made up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/cuda/fake_cublas.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/overheads.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

class LibraryOverheads : public Plans {};

TEST_F(LibraryOverheads, AskPlanAndRunEachDirectionTwice) {
  reset_fake_runs();
  const auto seat = seat_with_fake_runs(Precision::bf16);
  use_cublas(*seat, made_up_cublas(*seat));
  const nlohmann::ordered_json json = library_overheads(*seat);
  EXPECT_EQ(fake_runs().asked, 3U);
  EXPECT_THAT(fake_runs().runs, testing::ElementsAre(2U, 2U, 2U));
  const auto& convolutions = json["cudnn"]["convolutions"];
  ASSERT_EQ(convolutions.size(), 3U);
  EXPECT_EQ(convolutions[2]["product"],
            "weights bf16 n32 c256-256 g1 h14-14 k3 s1 d1 p1,1 w14-14 "
            "k3 s1 d1 p1,1");
  for (const auto& one : convolutions) {
    EXPECT_GT(one["engines"].get<int>(), 0);
    EXPECT_GT(one["heuristics_seconds"].get<double>(), 0);
    EXPECT_GT(one["plan_seconds"].get<double>(), 0);
    EXPECT_GE(one["second_run_seconds"].get<double>(), 0);
  }
  EXPECT_GE(json["cublas"]["first_run_seconds"].get<double>(), 0);
}

}  // namespace
}  // namespace strata::cuda
