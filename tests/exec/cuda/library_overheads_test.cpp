// With plans of the library's own and runs that are made up.

#include <cstddef>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exec/cuda/fake_cublas.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/overheads.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

// A plan may lie where one lay before, and is counted with it.
std::size_t runs_in_all() {
  const auto& runs = fake_runs().runs;
  return std::accumulate(runs.begin(), runs.end(), std::size_t{0});
}

class LibraryOverheads : public Plans, public testing::WithParamInterface<Precision> {};

TEST_P(LibraryOverheads, AskPlanAndRunEachDirectionTwice) {
  reset_fake_runs();
  const auto seat = seat_with_fake_runs(GetParam());
  use_cublas(*seat, made_up_cublas(*seat));
  const nlohmann::ordered_json json = library_overheads(*seat);
  EXPECT_EQ(fake_runs().asked, 3U);
  EXPECT_EQ(runs_in_all(), 6U);
  const auto& convolutions = json["cudnn"]["convolutions"];
  ASSERT_EQ(convolutions.size(), 3U);
  EXPECT_THAT(convolutions[2]["product"].get<std::string>(),
              testing::AllOf(
                  testing::StartsWith("weights "),
                  testing::EndsWith(" n32 c256-256 g1 h14-14 k3 s1 d1 p1,1 w14-14 k3 s1 d1 p1,1")));
  for (const auto& one : convolutions) {
    EXPECT_GT(one["engines"].get<int>(), 0);
    EXPECT_GT(one["heuristics_seconds"].get<double>(), 0);
    EXPECT_GT(one["plan_seconds"].get<double>(), 0);
    EXPECT_GE(one["second_run_seconds"].get<double>(), 0);
  }
  EXPECT_GE(json["cublas"]["first_run_seconds"].get<double>(), 0);
}

TEST_P(LibraryOverheads, AreOfTheFirstEngineThatIsNotRefused) {
  reset_fake_runs();
  fake_runs().refuses = [](std::size_t planned) { return planned == 0; };
  const auto seat = seat_with_fake_runs(GetParam());
  use_cublas(*seat, made_up_cublas(*seat));
  const nlohmann::ordered_json json = library_overheads(*seat);
  EXPECT_EQ(fake_runs().planned, 4U);
  EXPECT_EQ(runs_in_all(), 6U);
  EXPECT_TRUE(json["cudnn"]["convolutions"][0]["engine"].is_string());
}

TEST_P(LibraryOverheads, WithoutAnEngineHaveTheRest) {
  reset_fake_runs();
  fake_runs().refuses = [](std::size_t) { return true; };
  const auto seat = seat_with_fake_runs(GetParam());
  use_cublas(*seat, made_up_cublas(*seat));
  const nlohmann::ordered_json json = library_overheads(*seat);
  EXPECT_EQ(fake_runs().asked, 6U);
  EXPECT_TRUE(fake_runs().runs.empty());
  ASSERT_EQ(json["cudnn"]["convolutions"].size(), 3U);
  for (const auto& one : json["cudnn"]["convolutions"]) {
    EXPECT_TRUE(one["engine"].is_null());
    EXPECT_GT(one["engines"].get<int>(), 0);
    EXPECT_FALSE(one.contains("plan_seconds"));
  }
  EXPECT_GE(json["cublas"]["first_run_seconds"].get<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Precision, LibraryOverheads,
                         testing::Values(Precision::fp32, Precision::tf32, Precision::bf16));

}  // namespace
}  // namespace strata::cuda
