// What a study makes of a run, on devices that compute nothing (fake_runner.h).

#include "sim/train/run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/case/rounds.h"
#include "sim/graph/zoo.h"
#include "sim/importers/npy/npy.h"
#include "sim/measure/host_memory.h"
#include "sim/train/evaluate.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/sim/measure/fake_runner.h"

namespace strata {
namespace {

using strata::testing::FakeRunner;
using strata::testing::Folder;

RunRequest request(std::size_t steps) {
  RunRequest request;
  request.input.model = "lenet5";
  request.devices = "cpu:2";
  request.strategy = "data";
  request.input.training.batch = 4;
  request.steps = steps;
  request.learning_rate = 0.5;
  return request;
}

// LeNet's pictures, all zero, with these labels.
void write_samples(const Folder& folder, const std::vector<std::int64_t>& labels) {
  const auto samples = static_cast<std::int64_t>(labels.size());
  const std::vector<float> values(labels.size() * 32 * 32);
  write_npy(folder.file("input.npy"), std::vector<std::int64_t>{samples, 1, 32, 32}, values);
  write_npy(folder.file("labels.npy"), std::vector<std::int64_t>{samples}, labels);
}

TEST(StepTimes, AreOrderStatistics) {
  const auto seconds = [](std::vector<double> values) {
    std::vector<Seconds> times;
    for (double value : values) times.push_back({value});
    return times;
  };
  const StepTimes ten = step_times(seconds({10, 1, 9, 2, 8, 3, 7, 4, 6, 5}));
  EXPECT_EQ(ten.median, Seconds{5.5});
  EXPECT_EQ(ten.min, Seconds{1});
  EXPECT_EQ(ten.p90, Seconds{9});
  EXPECT_EQ(ten.count, 10u);
  const StepTimes three = step_times(seconds({3, 1, 2}));
  EXPECT_EQ(three.median, Seconds{2});
  EXPECT_EQ(three.p90, Seconds{3});
  EXPECT_EQ(step_times(seconds({4})).p90, Seconds{4});
}

TEST(RelativeDifference, IsDistanceOverLength) {
  using Values = std::vector<float>;
  EXPECT_EQ(relative_difference(Values{0, 0}, Values{0, 0}), 0);
  EXPECT_DOUBLE_EQ(relative_difference(Values{3, 4}, Values{3, 0}), 4.0 / 5);
  EXPECT_DOUBLE_EQ(relative_difference(Values{0, 0}, Values{3, 4}), 1);
  EXPECT_TRUE(std::isnan(relative_difference(Values{NAN}, Values{1})));
}

// Of a network whose layers 1 and 3 have gradients of these lengths, after steps of this loss.
Trained trained(const Graph& graph, float first, float third, double loss) {
  Trained result;
  result.trained.losses = {loss};
  result.gradients.resize(graph.size());
  result.gradients[1] = {first, first};
  result.gradients[3] = {third};
  result.weights.resize(graph.size());
  return result;
}

Check compared(const Trained& cut, const Trained& one, std::optional<double> tolerance = {}) {
  static const Graph graph = build_zoo("lenet5", 1);
  const NetworkWeights weights(graph.size());
  const TrainAlone alone = [&](const NetworkWeights&, std::string_view) { return one; };
  return compare(graph, cut, weights, {tolerance}, alone);
}

// 1e-7 of the other's length is rounding, though it is all that there is; a hundredth of it is not.
TEST(Check, ComparesGradientsThatAreZeroByTheLengthOfOthers) {
  const Graph graph = build_zoo("lenet5", 1);
  const auto check_of = [&](float cut, float one) {
    return compared(trained(graph, 1, cut, 1), trained(graph, 1, one, 1), 1e-4);
  };
  EXPECT_TRUE(check_of(1e-7F, -1e-7F).near());
  EXPECT_FALSE(check_of(1e-5F, -1e-5F).near());
  EXPECT_FALSE(check_of(1e-2F, 0.99e-2F).near());
  EXPECT_TRUE(check_of(0.5F, 0.5F).near());
  EXPECT_NEAR(check_of(1e-3F, 0).differences.gradients.value, 0.1, 1e-6);  // of 1e-2
  EXPECT_NEAR(check_of(0.5F, 0.25F).differences.gradients.value, 0.5, 1e-6);
  EXPECT_FALSE(check_of(NAN, 0.25F).near());
}

TEST(Check, AllowsGradientsWhatTheSoftmaxRoundsWhereTheLossIsSmall) {
  const Graph graph = build_zoo("lenet5", 1);
  const auto check_of = [&](double loss, std::optional<double> tolerance = {}) {
    return compared(trained(graph, 1, 1, loss), trained(graph, 0.999F, 0.999F, loss), tolerance);
  };
  EXPECT_FALSE(check_of(1).near());
  EXPECT_FALSE(check_of(1e-3).near());
  const Check small = check_of(1e-5);
  EXPECT_TRUE(small.near());
  EXPECT_FALSE(small.rounding);
  EXPECT_NEAR(small.allowed().gradients, 8 * 0x1p-24 / 1e-5, 1e-12);
  EXPECT_EQ(small.allowed().weights, 1e-4);
  EXPECT_DOUBLE_EQ(check_of(0).allowed().gradients, 0.1);
  EXPECT_FALSE(check_of(1e-5, 1e-4).near());  // who asks for a tolerance gets that
}

TEST(LossDifference, IsAbsoluteWhereLossesAreSmall) {
  EXPECT_EQ(loss_difference(0, 0), 0);
  EXPECT_DOUBLE_EQ(loss_difference(1e-9, 0), 1e-9);
  EXPECT_DOUBLE_EQ(loss_difference(0.25, 0.5), 0.25);
  EXPECT_DOUBLE_EQ(loss_difference(5, 4), 0.25);
  EXPECT_TRUE(std::isnan(loss_difference(NAN, 1)));
}

TEST(Run, TimesStepsAfterTheWarmupAndKeepsEveryLoss) {
  const Folder folder("times");
  write_samples(folder, {0, 1, 2, 3, 4, 5, 6});
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.data = folder.path();
  const RunReport report = run(runner, asked);
  // Steps 1 and 2 take 11 and 12 ms; samples 0-3, 4-6 and 0, 1-4.
  EXPECT_DOUBLE_EQ(report.trained.times.median.value, 0.0115);
  EXPECT_DOUBLE_EQ(report.trained.times.min.value, 0.011);
  EXPECT_EQ(report.trained.times.count, 2u);
  EXPECT_EQ(report.trained.losses, (std::vector<double>{1.5, 3.75, 2.5}));
  EXPECT_EQ(runner.batches, (std::vector<std::uint64_t>{0, 4, 1}));
  EXPECT_DOUBLE_EQ(report.throughput(), 4 / 0.0115);
  // 61,706 parameters of 4 bytes, 2 (r - 1) times; nothing else moves under data parallelism.
  EXPECT_EQ(report.trained.moved_per_step, (Communication{{0}, {2 * 4 * 61706}, {7}}));
  const NetworkWeights before = initial_weights(report.graph, 0);
  EXPECT_FLOAT_EQ(report.weights[1][0], before[1][0] - 3 * 0.5F);
  EXPECT_FALSE(report.test || report.check || report.predicted);
}

TEST(Run, ComputesTheSameWhateverThePiecesAndTheWarmup) {
  FakeRunner runner;
  const RunReport report = run(runner, request(500));
  RunRequest other = request(500);
  other.warmup = 400;
  const RunReport warm = run(runner, other);
  EXPECT_EQ(report.trained.losses.size(), 500u);
  EXPECT_GT(runner.pieces.size(), 4u);
  EXPECT_EQ(std::accumulate(runner.pieces.begin(), runner.pieces.end(), std::size_t{0}), 1000u);
  EXPECT_EQ(warm.weights, report.weights);
  EXPECT_EQ(warm.trained.losses, report.trained.losses);
  // Step k takes 10 + k ms: the first timed one is step 400, or the one after it where a piece
  // begins with it.
  EXPECT_GE(warm.trained.times.min.value, 0.410 - 1e-9);
  EXPECT_LE(warm.trained.times.min.value, 0.411 + 1e-9);
}

TEST(Run, TimesStepsOfARecordingAlone) {
  for (std::size_t steps : {4, 5, 6, 10, 500}) {
    FakeRunner runner;
    RunRequest asked = request(steps);
    asked.recorded = true;
    const RunReport report = run(runner, asked);
    EXPECT_NEAR(report.trained.times.min.value, 0.001, 1e-9) << steps;
    EXPECT_NEAR(report.trained.times.p90.value, 0.001, 1e-9) << steps;
    EXPECT_TRUE(report.doubts.empty()) << steps;
  }
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.recorded = true;
  const RunReport report = run(runner, asked);
  EXPECT_DOUBLE_EQ(report.trained.times.median.value, 0.0115);
  EXPECT_THAT(report.doubts, ::testing::ElementsAre(::testing::HasSubstr("`steps` 4 is enough")));
}

TEST(Run, TimesASingleStepFromItsStart) {
  FakeRunner runner;
  RunRequest asked = request(1);
  asked.warmup = 0;
  const RunReport report = run(runner, asked);
  EXPECT_DOUBLE_EQ(report.trained.times.median.value, 0.010);
}

TEST(Run, SaysWhereItDiffersFromOneDevice) {
  FakeRunner runner;
  RunRequest asked = request(4);
  asked.check = true;
  const RunReport same = run(runner, asked);
  ASSERT_TRUE(same.check);
  EXPECT_TRUE(same.check->verdict() == CheckVerdict::passed);
  EXPECT_FALSE(same.check->rounding);  // nobody had to ask
  EXPECT_EQ(same.check->layers.skipped, "these devices do not show their tensors");
  runner.wrong_layer = "fc2";
  const Check wrong = *run(runner, asked).check;
  EXPECT_EQ(wrong.verdict(), CheckVerdict::failed);
  EXPECT_EQ(wrong.differences.weights.layer, "fc2");
  EXPECT_NEAR(wrong.differences.weights.value, 1.0 / 3, 1e-6);  // 1.5 times as long
  EXPECT_EQ(wrong.differences.gradients.value, 0);
  ASSERT_TRUE(wrong.rounding);  // of these devices: what weights were apart, they stay
  EXPECT_LT(wrong.rounding->weights.value, 1e-6);
}

// One device moves itself by `moved`; the cut is as far from it as that.
Check skipped_check(double moved) {
  Check check;
  check.tolerance = 1e-4;
  check.differences = {0, {moved, "conv1"}, {0, ""}};
  check.rounding = check.differences;
  check.layers.skipped = "several processes";
  return check;
}

TEST(Check, CannotSayWhereLayersAreSkippedAndNearlyAnythingIsAllowed) {
  EXPECT_EQ(skipped_check(0.06).verdict(), CheckVerdict::passed);  // 8 times that: 0.48
  Check check = skipped_check(0.07);
  EXPECT_EQ(check.verdict(), CheckVerdict::cannot_say);
  EXPECT_EQ(name(check.verdict()), "cannot be said");
  std::swap(check.differences.gradients, check.differences.weights);
  std::swap(check.rounding->gradients, check.rounding->weights);
  EXPECT_EQ(check.verdict(), CheckVerdict::cannot_say);

  Check compared = check;  // layers tell
  compared.layers.skipped.clear();
  EXPECT_EQ(compared.verdict(), CheckVerdict::passed);
  compared.layers.beyond.emplace_back();
  EXPECT_EQ(compared.verdict(), CheckVerdict::failed);

  Check far = check;  // beyond even that
  far.differences.loss = 1;
  EXPECT_EQ(far.verdict(), CheckVerdict::failed);

  Check strict = check;  // who asks for a tolerance gets that
  strict.strict = true;
  strict.tolerance = 0.9;
  EXPECT_EQ(strict.verdict(), CheckVerdict::passed);
  strict.tolerance = 1e-4;
  EXPECT_EQ(strict.verdict(), CheckVerdict::failed);
}

TEST(Run, TellsHowFarTheCheckIs) {
  FakeRunner runner;
  RunRequest asked = request(2);
  asked.check = true;
  std::vector<std::string> told;
  run(runner, asked, nullptr, [&](const RunProgress& p) {
    told.push_back(std::string(p.stage) + " " + std::to_string(p.steps) + "/" +
                   std::to_string(p.of));
  });
  EXPECT_EQ(told.back(), "layer by layer 0/2");  // and then finds that they show nothing
}

TEST(Run, NoticesBytesThatThePlanDoesNotHave) {
  FakeRunner runner;
  runner.lost = {4};
  try {
    run(runner, request(3));
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_EQ(error.message(),
              "3 steps moved 0 bytes of activations and 1480932 of parameters between devices; the "
              "plan says 0 and 1480944");
  }
}

TEST(Run, TestsEverySampleOnce) {
  for (std::int64_t samples : {1, 3, 4, 9, 12}) {
    const Folder folder("test");
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < samples; ++i) labels.push_back(i % 3);
    write_samples(folder, labels);
    FakeRunner runner;
    RunRequest asked = request(2);
    asked.test_data = folder.path();
    const RunReport report = run(runner, asked);
    ASSERT_TRUE(report.test);
    const auto zeros = static_cast<double>(std::count(labels.begin(), labels.end(), 0));
    const auto sum = static_cast<double>(std::accumulate(labels.begin(), labels.end(), 0));
    const auto count = static_cast<double>(samples);
    EXPECT_DOUBLE_EQ(report.test->accuracy, zeros / count);
    EXPECT_NEAR(report.test->loss, sum / count, 1e-12);
    EXPECT_EQ(report.test->samples, samples);
    for (std::size_t i = 1; i < runner.starts.size(); ++i) {
      EXPECT_FALSE(runner.starts[i].training);
      EXPECT_EQ(runner.starts[i].learning_rate, 0);
    }
  }
}

TEST(Run, KeepsWhatWasDoneBeforeItWasCalledOff) {
  FakeRunner runner;
  runner.cancel_after = 5;
  RunRequest asked = request(20);
  asked.check = true;
  const RunReport report = run(runner, asked);
  EXPECT_TRUE(report.trained.stopped);
  EXPECT_EQ(report.trained.losses.size(), 3u);  // the first piece
  EXPECT_TRUE(report.weights.empty());
  EXPECT_FALSE(report.check);
  runner.cancel_after = 1;
  EXPECT_THROW(run(runner, asked), Cancelled);
}

TEST(Run, RefusesWhatMemoryCannotHold) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.memory = Bytes{1000};
  try {
    run(runner, asked);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_TRUE(error.message().starts_with("not enough memory: lenet5 on cpu:2 needs about "));
    EXPECT_TRUE(error.message().ends_with(" 1.00 kB is free; a smaller `batch` needs less"))
        << error.message();
  }
  EXPECT_TRUE(runner.pieces.empty());
  ASSERT_TRUE(available_memory());
  EXPECT_GT(*available_memory(), Bytes{1 << 20});
}

// Layers need the cut, two of one device and all outputs at once: what has room for one alone is
// still run, and checked by what comes of it.
TEST(Run, LeavesOutLayersThatMemoryCannotHold) {
  RunRequest asked = request(3);
  asked.check = true;
  asked.memory = Bytes{1 << 10};
  std::optional<RunReport> report;
  while (!report) {
    FakeRunner runner;
    try {
      report = run(runner, asked);
    } catch (const EnvironmentError&) {
      asked.memory = Bytes{2 * asked.memory->value};
    }
  }
  EXPECT_THAT(report->check->layers.skipped, ::testing::StartsWith("that needs about "));
  EXPECT_EQ(report->check->layers.steps, 0u);
  EXPECT_EQ(report->check->verdict(), CheckVerdict::passed);
}

// Layers need, of the first device, the cut's share and all of two that are alone.
TEST(Run, LeavesOutLayersThatADeviceCannotHold) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.check = true;
  const RunReport report = run(runner, asked);
  const Cluster cluster = runner.cluster("cpu:2");
  const Plan alone = lower_to_run(
      {report.graph, cluster, asked.input.training.sync, asked.input.training.dtype, {}},
      on_one_device(report.graph));
  const Bytes needed =
      memory_by_device(report.plan, cluster)[0] + memory_by_device(alone, cluster)[0] * 2;
  runner.own = needed;
  EXPECT_EQ(run(runner, asked).check->layers.skipped, "these devices do not show their tensors");
  runner.own = Bytes{needed.value - 1};
  EXPECT_THAT(run(runner, asked).check->layers.skipped,
              ::testing::MatchesRegex("that needs about .* of a device's memory, it has .*"));
}

TEST(Run, KeepsTheTrainingWhenADeviceCannotFollowByLayer) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.check = true;
  runner.fail_run = 2;  // after the cut and the one device
  const RunReport report = run(runner, asked);
  EXPECT_EQ(report.trained.losses.size(), 3u);
  EXPECT_FALSE(report.trained.stopped);
  ASSERT_TRUE(report.check);
  EXPECT_EQ(report.check->layers.skipped, "cpu0: out of memory");
  EXPECT_EQ(report.check->verdict(), CheckVerdict::passed);
}

TEST(Run, KeepsTheTrainingWhenWhatFollowsIsCalledOff) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.check = true;
  runner.cancel_run = 1;  // the one device's that it is checked against
  const RunReport report = run(runner, asked);
  EXPECT_EQ(report.trained.losses.size(), 3u);
  EXPECT_TRUE(report.trained.stopped);
  EXPECT_FALSE(report.check);
}

TEST(Run, RefusesWeightsThatAreNoNumbers) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.learning_rate = 3e38;
  try {
    run(runner, asked);
    FAIL();
  } catch (const RunFailed& error) {
    EXPECT_EQ(error.message(),
              "step 2: layer conv1: its parameters are not finite after the update; a smaller `lr` "
              "may help");
  }
}

TEST(Run, PredictsAndSearchesWithAProfile) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.strategy = "optimal";
  asked.input.profiles = {source_path("tests/sim/measure/toy_cpu.toml")};
  const RunReport report = run(runner, asked);
  ASSERT_TRUE(report.predicted);
  EXPECT_GT(report.predicted->step_seconds(), Seconds{0});
  EXPECT_EQ(report.strategy.name(), "optimal");
}

// In the rounds of what was found, as predict has them: two devices' micro-batches of 4 would not
// divide a batch of 4.
TEST(Run, TakesRoundsOfTheStrategyThatItFound) {
  FakeRunner runner;
  RunRequest asked = request(3);
  asked.strategy = "optimal";
  asked.input.profiles = {source_path("tests/sim/measure/toy_cpu.toml")};
  for (const std::int64_t micro_batch : {4, 2, 1}) {
    asked.input.training.micro_batch = micro_batch;
    const RunReport report = run(runner, asked);
    const std::int64_t groups = data_parallel_groups(report.graph, report.strategy);
    EXPECT_EQ(report.plan.rounds() * groups * micro_batch, 4);
    EXPECT_EQ(report.graph.batch(), 4);
  }
}

}  // namespace
}  // namespace strata
