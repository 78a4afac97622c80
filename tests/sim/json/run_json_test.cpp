// The JSON of a run is tested with a Runner that plays GPUs, which this machine need not have.

#include "sim/json/run_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/sim/train/small_run.h"

namespace strata {
namespace {

using strata::testing::run_with;
using strata::testing::small_run;
using Json = nlohmann::ordered_json;

const RunNames kNames{"cuda:0", "NVIDIA H200", {}};

Json json_with(const std::optional<PlainLoops>& loops) {
  return run_json(kNames, run_with(loops));
}

TEST(RunJson, OfCoresHasNeitherPlainLoopsNorTheHostsTime) {
  const Json json = json_with({});
  EXPECT_FALSE(json.contains("plain_loops"));
  EXPECT_FALSE(json.contains("issue_seconds"));
}

TEST(RunJson, OfGpusHasTheProductsThatArePlainLoops) {
  EXPECT_EQ(json_with(PlainLoops{})["plain_loops"],
            (Json{{"products", 0}, {"first_status", nullptr}}));
  EXPECT_EQ(json_with(PlainLoops{3, "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"})["plain_loops"],
            (Json{{"products", 3}, {"first_status", "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"}}));
}

// Of pieces of 3 and 5 steps, the host's part is a tenth of 11 to 17 ms: the second piece's first
// step counts too, whose own time does not.
TEST(RunJson, OfGpusHasTheHostsTime) {
  strata::testing::FakeRunner runner;
  runner.issues = true;
  const RunReport report = run(runner, small_run());
  const Json issue = run_json(kNames, report)["issue_seconds"];
  EXPECT_NEAR(issue["median"], 1.4e-3, 1e-12);
  EXPECT_NEAR(issue["min"], 1.1e-3, 1e-12);
  EXPECT_NEAR(issue["per_task"], 1.1e-3 / static_cast<double>(report.plan.size()), 1e-12);
}

// The second piece plays all of a recording's steps but the last.
TEST(RunJson, OfPlayedStepsHasTheTimeThatPlayingTakes) {
  strata::testing::FakeRunner runner;
  runner.issues = true;
  RunRequest request = small_run();
  request.recorded = true;
  const Json issue = run_json(kNames, run(runner, request))["issue_seconds"];
  EXPECT_NEAR(issue["median"], 1e-4, 1e-12);
  EXPECT_NEAR(issue["min"], 1e-4, 1e-12);
}

TEST(RunJson, SaysHowAStepIsTrained) {
  strata::testing::FakeRunner runner;
  RunRequest request = small_run();
  request.devices = "cpu:2", request.input.training.batch = 8,
  request.input.training.micro_batch = 2;
  request.input.training.schedule = "gpipe", request.input.training.optimizer = Optimizer::adam;
  request.input.training.sync.zero = Zero::state,
  request.input.training.recompute = Recompute::full;
  const Json json = run_json({"cpu:2", "fake", request.input.training}, run(runner, request));
  EXPECT_EQ(json["zero"], 1);
  EXPECT_EQ(json["optimizer"], "adam");
  EXPECT_EQ(json["recompute"], "full");
  EXPECT_EQ(json["rounds"], 2);
  EXPECT_EQ(json["schedule"], "gpipe");
}

TEST(RunJson, SaysThatAStepIsPlain) {
  const Json json = json_with({});
  EXPECT_EQ(json["zero"], 0);
  EXPECT_EQ(json["optimizer"], "sgd");
  EXPECT_EQ(json["recompute"], "none");
  EXPECT_EQ(json["rounds"], 1);
  EXPECT_EQ(json["schedule"], "");
}

}  // namespace
}  // namespace strata
