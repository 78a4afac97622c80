// What is said of a run on GPUs that this machine need not have: how many products plain loops do.

#include "cli/output/run_output.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/measure/fake_runner.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

const RunNames kNames{"cuda:0", "NVIDIA H200", {}};

RunRequest small_request() {
  RunRequest request;
  request.input.model = "lenet5", request.devices = "cpu:1", request.strategy = "data";
  request.input.training.batch = 4, request.steps = 8;
  return request;
}

RunReport run_with(const std::optional<PlainLoops>& loops) {
  strata::testing::FakeRunner runner;
  runner.loops = loops;
  return run(runner, small_request());
}

TEST(RunOutput, OfCoresTellsOfNoPlainLoops) {
  const RunReport report = run_with({});
  EXPECT_FALSE(run_json(kNames, report).contains("plain_loops"));
  EXPECT_THAT(run_text(kNames, report), Not(HasSubstr("plain loops")));
}

TEST(RunOutput, OfGpusSaysThatNoProductIsPlainLoops) {
  const RunReport report = run_with(PlainLoops{});
  EXPECT_EQ(run_json(kNames, report)["plain_loops"],
            (Json{{"products", 0}, {"first_status", nullptr}}));
  const std::string text = run_text(kNames, report);
  EXPECT_THAT(text, HasSubstr("plain loops\n"));
  EXPECT_THAT(text, Not(HasSubstr("the first:")));
}

TEST(RunOutput, OfGpusSaysHowManyProductsArePlainLoopsAndWhy) {
  const RunReport report = run_with(PlainLoops{3, "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"});
  EXPECT_EQ(run_json(kNames, report)["plain_loops"],
            (Json{{"products", 3}, {"first_status", "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"}}));
  EXPECT_THAT(
      run_text(kNames, report),
      HasSubstr("3 of the convolutions' products run in plain loops, which are slow: cuDNN has "
                "no engine for them; the first: CUDNN_STATUS_NOT_SUPPORTED (engine 7)\n"));
}

// A prediction beside steps of such times.
std::string predicted_beside(const StepTimes& times) {
  RunReport report = run_with({});
  report.predicted = report.trained.last;
  report.trained.times = times;
  return run_text(kNames, report);
}

TEST(RunOutput, ComparesAPredictionWithStepsThatSaySomething) {
  const Seconds predicted = run_with({}).trained.last.step_seconds();
  EXPECT_THAT(predicted_beside({predicted * 2, predicted, predicted * 3, predicted * 0.1, 6}),
              HasSubstr(" a step (-50.0% from the measured time)\n"));
  EXPECT_THAT(predicted_beside({predicted * 2, predicted, predicted * 3, predicted * 0.5, 6}),
              HasSubstr(" a step (the steps' times vary by 25%, too much to compare: see strata "
                        "validate)\n"));
  EXPECT_THAT(predicted_beside({predicted * 2, predicted, predicted * 3, {}, 5}),
              HasSubstr(" a step (with more steps it is compared with the measured time)\n"));
}

// Of pieces of 3 and 5 steps, the host's part is a tenth of 11 to 17 ms: the second piece's first
// step counts too, whose own time does not.
TEST(RunOutput, OfGpusSaysWhatTheHostTakes) {
  strata::testing::FakeRunner runner;
  runner.issues = true;
  const RunReport report = run(runner, small_request());
  const Json issue = run_json(kNames, report)["issue_seconds"];
  EXPECT_NEAR(issue["median"], 1.4e-3, 1e-12);
  EXPECT_NEAR(issue["min"], 1.1e-3, 1e-12);
  EXPECT_NEAR(issue["per_task"], 1.1e-3 / static_cast<double>(report.plan.size()), 1e-12);
  EXPECT_THAT(run_text(kNames, report), HasSubstr("host a step\n"));
  EXPECT_THAT(run_text(kNames, report), HasSubstr(" 1.1 ms\n"));
}

// Of a recording's: the second piece plays all but the last.
TEST(RunOutput, OfPlayedStepsTellsWhatPlayingTakes) {
  strata::testing::FakeRunner runner;
  runner.issues = true;
  RunRequest request = small_request();
  request.recorded = true;
  const Json issue = run_json(kNames, run(runner, request))["issue_seconds"];
  EXPECT_NEAR(issue["median"], 1e-4, 1e-12);
  EXPECT_NEAR(issue["min"], 1e-4, 1e-12);
}

TEST(RunOutput, SaysHowAStepIsTrainedInTheWordsOfAPrediction) {
  strata::testing::FakeRunner runner;
  RunRequest request = small_request();
  request.devices = "cpu:2", request.input.training.batch = 8,
  request.input.training.micro_batch = 2;
  request.input.training.schedule = "gpipe", request.input.training.optimizer = Optimizer::adam;
  request.input.training.sync.zero = Zero::state,
  request.input.training.recompute = Recompute::full;
  const RunReport report = run(runner, request);
  const RunNames names{"cpu:2", "fake", request.input.training};
  EXPECT_THAT(run_text(names, report),
              HasSubstr("batch 8, sync ring, ZeRO 1, adam, micro-batch 2, schedule gpipe, "
                        "recompute full, 8 steps\n"));
  const Json json = run_json(names, report);
  EXPECT_EQ(json["zero"], 1);
  EXPECT_EQ(json["optimizer"], "adam");
  EXPECT_EQ(json["recompute"], "full");
  EXPECT_EQ(json["rounds"], 2);
  EXPECT_EQ(json["schedule"], "gpipe");
}

TEST(RunOutput, OfAPlainStepSaysSo) {
  const RunReport report = run_with({});
  EXPECT_THAT(run_text(kNames, report), HasSubstr("batch 4, sync ring, 8 steps\n"));
  const Json json = run_json(kNames, report);
  EXPECT_EQ(json["zero"], 0);
  EXPECT_EQ(json["optimizer"], "sgd");
  EXPECT_EQ(json["recompute"], "none");
  EXPECT_EQ(json["rounds"], 1);
  EXPECT_EQ(json["schedule"], "");
}

TEST(RunOutput, OfCoresTellsOfNoHost) {
  const RunReport report = run_with({});
  EXPECT_FALSE(run_json(kNames, report).contains("issue_seconds"));
  EXPECT_THAT(run_text(kNames, report), Not(HasSubstr("host a step")));
}

}  // namespace
}  // namespace strata
