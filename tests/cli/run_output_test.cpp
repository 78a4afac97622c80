// What is said of a run on GPUs that this machine need not have: how many products plain loops do.

#include "cli/output/run_output.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/train/small_run.h"

namespace strata {
namespace {

using strata::testing::run_with;
using strata::testing::small_run;
using ::testing::HasSubstr;
using ::testing::Not;

const RunNames kNames{"cuda:0", "NVIDIA H200", {}};

TEST(RunOutput, OfCoresTellsOfNoPlainLoops) {
  const RunReport report = run_with({});
  EXPECT_THAT(run_text(kNames, report), Not(HasSubstr("plain loops")));
}

TEST(RunOutput, OfGpusSaysThatNoProductIsPlainLoops) {
  const RunReport report = run_with(PlainLoops{});
  const std::string text = run_text(kNames, report);
  EXPECT_THAT(text, HasSubstr("plain loops\n"));
  EXPECT_THAT(text, Not(HasSubstr("the first:")));
}

TEST(RunOutput, OfGpusSaysHowManyProductsArePlainLoopsAndWhy) {
  const RunReport report = run_with(PlainLoops{3, "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"});
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

TEST(RunOutput, OfGpusSaysWhatTheHostTakes) {
  strata::testing::FakeRunner runner;
  runner.issues = true;
  const std::string text = run_text(kNames, run(runner, small_run()));
  EXPECT_THAT(text, HasSubstr("host a step\n"));
  EXPECT_THAT(text, HasSubstr(" 1.1 ms\n"));
}

TEST(RunOutput, SaysHowAStepIsTrainedInTheWordsOfAPrediction) {
  strata::testing::FakeRunner runner;
  RunRequest request = small_run();
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
}

TEST(RunOutput, OfAPlainStepSaysSo) {
  const RunReport report = run_with({});
  EXPECT_THAT(run_text(kNames, report), HasSubstr("batch 4, sync ring, 8 steps\n"));
}

TEST(RunOutput, OfCoresTellsOfNoHost) {
  const RunReport report = run_with({});
  EXPECT_THAT(run_text(kNames, report), Not(HasSubstr("host a step")));
}

}  // namespace
}  // namespace strata
