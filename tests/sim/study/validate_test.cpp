// Predictions beside runs, on devices whose times are foretold: a phase takes 1 ms, and step k of a
// run 10 + k ms (fake_runner.h).

#include "sim/study/validate/validate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/counter_random.h"
#include "sim/base/error.h"
#include "sim/search/asked_strategy.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata {
namespace {

using strata::testing::FakeGpus;
using strata::testing::MeasuringRunner;
using strata::testing::PacedRunner;

ValidateRequest request(int devices) {
  ValidateRequest request;
  request.models = {"lenet5"};
  request.devices = "cpu:" + std::to_string(devices);
  request.training.batch = 4;
  request.rounds = 3;
  return request;
}

TEST(Validate, KeepsWhatAGpusRunTellsOfPlainLoops) {
  MeasuringRunner runner;
  EXPECT_EQ(validate(runner, request(1)).cases[0].plain_loops, std::nullopt);
  runner.loops = PlainLoops{3, "no engine"};
  EXPECT_EQ(validate(runner, request(1)).cases[0].plain_loops, (PlainLoops{3, "no engine"}));
}

TEST(Validate, MeasuresTheSteadyStateOfEachTurn) {
  MeasuringRunner runner;
  const ValidateReport report = validate(runner, request(1));
  ASSERT_EQ(report.cases.size(), 4u);
  for (const ValidateCase& c : report.cases) {
    // Steps 0 to 5 warm up; of each six that follow, the third to fifth count: 18, 19, 20, 24, 25,
    // 26, 30, 31 and 32 ms, with quartiles 20 and 30.
    EXPECT_NEAR(c.measured.value, 0.025, 1e-12);
    EXPECT_NEAR(c.spread.value, 0.005, 1e-12);
    EXPECT_EQ(c.samples, 9u);
    // One device does one task after another.
    EXPECT_NEAR(c.predicted.value, 1e-3 * static_cast<double>(c.plan.size()), 1e-9);
    EXPECT_EQ(c.predicted, c.predicted_timeline.step_seconds());
    EXPECT_NEAR(c.profile.value, c.predicted.value, 1e-9);
    // Turns of 19, 25 and 31 ms: the one in the middle is shown.
    EXPECT_NEAR(c.relative_error(), c.predicted / c.measured - 1, 1e-12);
    EXPECT_NEAR(c.measured_timeline.step_seconds().value, 0.0255, 1e-12);
    EXPECT_EQ(c.error.pairs, 3u);
    EXPECT_EQ(c.verdict, Judgement::too_few);
    // A phase is predicted to take 1 ms; what the runner says of one is measured.
    ASSERT_FALSE(c.errors.empty());
    for (const ErrorRow& row : c.errors) {
      EXPECT_NEAR(row.predicted.duration.value, 1e-3 * static_cast<double>(row.tasks), 1e-12);
      EXPECT_NE(row.measured.duration, row.predicted.duration);
    }
    EXPECT_EQ(c.measured_timeline.steps(), 6u);
    EXPECT_TRUE(c.moved_as_planned);
  }
  // All strategies are the same on one device.
  EXPECT_EQ(runner.starts.size(), 1u);
}

// Of the six steps that warm up, the third to fifth are played; of each six that follow, the first
// to fifth are, in 1 ms, and the last takes 10 + k ms, and has tasks whose times are known.
TEST(Validate, ComparesWithPlayedSteps) {
  MeasuringRunner runner;
  ValidateRequest asked = request(1);
  asked.recorded = true;
  const ValidateReport report = validate(runner, asked);
  ASSERT_EQ(report.cases.size(), 4u);
  for (const ValidateCase& c : report.cases) {
    EXPECT_NEAR(c.measured.value, 1e-3, 1e-12);
    EXPECT_EQ(c.samples, 9u);
    EXPECT_EQ(c.measured_timeline.steps(), 1u);
    const std::size_t shown = std::lround(c.measured_timeline.makespan().value * 1e3) - 10;
    EXPECT_EQ(shown % 6, 5u);
    for (const Span& span : c.measured_timeline.step(0)) {
      EXPECT_EQ(span.start, Seconds{});
      EXPECT_EQ(span.end, c.measured_timeline.makespan());
    }
  }
  ASSERT_EQ(runner.starts.size(), 1u);
  EXPECT_TRUE(runner.starts.front().recorded);
  EXPECT_EQ(runner.recorded, runner.measured.size());
}

// One strategy on one device: each turn has a sweep, six steps and a sweep, after two sweeps over
// all shapes; the first turn warms up.
ValidateReport one_case(PacedRunner& runner, std::size_t rounds) {
  ValidateRequest asked = request(1);
  asked.strategies = {"data"};
  asked.rounds = rounds;
  return validate(runner, asked);
}

TEST(Validate, SlowMinutesCancel) {
  PacedRunner runner;
  std::size_t calls = 0;
  runner.machine.pace = [&calls] { return 1 + static_cast<double>((calls++ + 6) / 8 % 5); };
  const ValidateCase c = one_case(runner, 9).cases.front();
  EXPECT_NEAR(c.relative_error(), 0, 1e-9);
  EXPECT_NEAR(c.error.low, 0, 1e-9);
  EXPECT_NEAR(c.error.high, 0, 1e-9);
  EXPECT_EQ(c.verdict, Judgement::holds);
  // The profile knows of no slow minute.
  EXPECT_NEAR(c.profile.value, 1e-3 * static_cast<double>(c.plan.size()), 1e-9);
  EXPECT_GT(c.predicted, c.profile * 1.5);
}

TEST(Validate, NoiseIsWidthAndNoError) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  const CounterRandom random(kSeed, "paces");
  PacedRunner runner;
  std::uint64_t calls = 0;
  runner.machine.pace = [&] { return std::exp(0.4 * random.normal(calls++)); };
  const ValidateReport report = one_case(runner, 9);
  const ValidateCase& c = report.cases.front();
  EXPECT_LT(c.error.low, 0);
  EXPECT_GT(c.error.high, 0);
  EXPECT_GT(c.error.half_width(), 0.05);
  EXPECT_EQ(c.verdict, Judgement::too_noisy);
  EXPECT_EQ(report.judged_cases(), 0u);
  ASSERT_TRUE(report.to_judge());
  EXPECT_GT(report.to_judge()->rounds, 9u);
}

TEST(Validate, AModelThatIsWrongIsOffWhateverThePace) {
  PacedRunner runner;
  runner.wrong = 1.25;
  std::size_t calls = 0;
  runner.machine.pace = [&calls] { return 1 + static_cast<double>((calls++ + 6) / 8 % 3); };
  const ValidateReport report = one_case(runner, 6);
  EXPECT_NEAR(report.cases.front().relative_error(), -0.2, 1e-9);
  EXPECT_EQ(report.verdict(), Judgement::off);
  EXPECT_FALSE(report.to_judge());
}

// Where a device waits for another, it goes on as late as it did in the sweep, where it waited
// about as long; alone it never waits.
TEST(Validate, WhoWaitsGoesOnLate) {
  const auto predicted = [](int devices, std::vector<Wait> waits) {
    MeasuringRunner runner;
    runner.machine.waits = std::move(waits);
    runner.machine.slower = 0.5;
    ValidateRequest asked = request(devices);
    asked.each_count = false;
    asked.strategies = {"data"};
    return validate(runner, asked).cases.front().predicted;
  };
  const std::vector<Wait> late(20, {{}, {0.01}});
  EXPECT_EQ(predicted(1, late), predicted(1, {}));
  EXPECT_GT(predicted(2, late), predicted(2, {}));
  // Waits of an hour are late, and none here is so long.
  std::vector<Wait> hours(20, {{}, {}});
  hours.insert(hours.end(), 20, {{3600}, {0.01}});
  for (std::size_t i = 0; i < 20; ++i) hours[i].waited = {1 + static_cast<double>(i)};
  EXPECT_EQ(predicted(2, hours), predicted(2, {}));
}

// The clock goes on by a second at each look, of which a round takes a few.
TEST(Validate, TakesAsManyRoundsAsTheTimeHasRoomFor) {
  const auto pairs = [](double seconds) {
    PacedRunner runner;
    ValidateRequest asked = request(1);
    asked.strategies = {"data"};
    asked.seconds = Seconds{seconds};
    double now = 0;
    asked.now = [&now] { return Seconds{now++}; };
    return validate(runner, asked).cases.front().error.pairs;
  };
  EXPECT_EQ(pairs(0.5), 1u);
  EXPECT_GT(pairs(60), 5u);
  EXPECT_LT(pairs(60), 60u);
}

TEST(Validate, GoesThroughModelsAndNumbersOfDevices) {
  MeasuringRunner runner;
  ValidateRequest asked = request(2);
  asked.models = {"lenet5", "textcnn"};
  asked.strategies = {"data"};
  std::vector<std::string> told;
  const ValidateReport report = validate(runner, asked, nullptr, [&](const MeasureProgress& p) {
    if (p.round == 0) told.push_back(p.what);
  });
  EXPECT_EQ(told, (std::vector<std::string>{"lenet5 on cpu:1", "lenet5 on cpu:1, simulated",
                                            "lenet5 on cpu:2", "lenet5 on cpu:2, simulated",
                                            "textcnn on cpu:1", "textcnn on cpu:1, simulated",
                                            "textcnn on cpu:2", "textcnn on cpu:2, simulated"}));
  ASSERT_EQ(report.cases.size(), 4u);
  EXPECT_EQ(report.cases[1].devices, 2);
  EXPECT_EQ(report.cases[2].model, "textcnn");
  EXPECT_EQ(report.profile.kind, "cpu");
  EXPECT_EQ(report.disturbance, (Disturbance{20, 40}));  // 1 of 2 rounds, 4 of 8 beside turns
  asked.each_count = false;
  EXPECT_EQ(validate(runner, asked).cases.size(), 2u);
}

// Each number of devices that share a GPU is a kind of its own, measured by itself.
TEST(Validate, MeasuresEachNumberOfDevicesOnAGpu) {
  FakeGpus runner;
  ValidateRequest asked = request(1);
  asked.devices = "gpus:0/3";
  asked.strategies = {"data"};
  std::vector<std::string> told;
  const ValidateReport report = validate(runner, asked, nullptr, [&](const MeasureProgress& p) {
    if (p.round == 0) told.push_back(p.what);
  });
  EXPECT_EQ(told,
            (std::vector<std::string>{"lenet5 on gpus:1", "lenet5 on gpus:1, simulated",
                                      "lenet5 on gpus:0/2", "lenet5 on gpus:0/2, simulated",
                                      "lenet5 on gpus:0/3", "lenet5 on gpus:0/3, simulated"}));
  ASSERT_EQ(report.cases.size(), 3u);
  EXPECT_EQ(report.cases[1].devices, 2);
  EXPECT_EQ(report.cases[1].cluster[DeviceId(0)].kind, "f9/2");
  EXPECT_EQ(report.profile.kind, "f9/3");
}

TEST(Validate, MeasuresTheUpdatesOfItsOptimizer) {
  MeasuringRunner runner;
  ValidateRequest asked = request(1);
  asked.training.optimizer = Optimizer::adam;
  std::size_t updates = 0;
  for (const MeasuredCost& row : validate(runner, asked).profile.measured) {
    if (row.key.phase != Phase::update) continue;
    EXPECT_EQ(row.key.optimizer, Optimizer::adam);
    ++updates;
  }
  EXPECT_GT(updates, 0u);
  ASSERT_FALSE(runner.starts.empty());
  for (std::size_t i = 0; i < runner.starts.size(); ++i) {
    EXPECT_EQ(runner.optimizers[i], Optimizer::adam);
    EXPECT_LE(runner.starts[i].learning_rate, 1e-5F);
  }
}

TEST(Validate, MeasuresAndRunsInTheTypeAsked) {
  FakeGpus runner;
  ValidateRequest asked = request(1);
  asked.devices = "gpus:2";
  asked.training.dtype = DType::bf16;
  const ValidateReport report = validate(runner, asked);
  for (DType dtype : runner.measured) EXPECT_EQ(dtype, DType::bf16);
  for (const MeasuredCost& row : report.profile.measured) EXPECT_EQ(row.key.dtype, DType::bf16);
  for (const ValidateCase& c : report.cases) {
    EXPECT_EQ(c.plan.dtype(), DType::bf16);
    EXPECT_TRUE(c.moved_as_planned);
  }
}

// A GPU's memory is lent to whose turn it is, so strategies need not all fit at once.
TEST(Validate, StrategiesShareTheMemoryOfGpus) {
  FakeGpus runner;
  ValidateRequest asked = request(2);
  asked.devices = "gpus:2";
  asked.each_count = false;
  const auto fits = [&](const std::vector<AskedStrategy>& strategies, std::int64_t bytes) {
    asked.strategies = strategies;
    runner.memory = Bytes{bytes};
    try {
      validate(runner, asked);
      return true;
    } catch (const EnvironmentError& error) {
      EXPECT_TRUE(error.message().starts_with("not enough memory")) << error.message();
      return false;
    }
  };
  EXPECT_FALSE(fits({"data"}, 1000));
  std::int64_t least = 1000;
  while (!fits({"data"}, least)) least += least / 10;
  EXPECT_TRUE(fits({"data", "model", "owt"}, 2 * least));  // which is less than all at once
}

TEST(Validate, SeesBytesThatAreNotThePlans) {
  MeasuringRunner runner;
  runner.lost = {8};
  ValidateRequest asked = request(2);
  asked.each_count = false;
  asked.strategies = {"data"};
  const ValidateReport report = validate(runner, asked);
  EXPECT_FALSE(report.cases.front().moved_as_planned);
}

TEST(Validate, TakesAStrategyItself) {
  MeasuringRunner runner;
  ValidateRequest asked = request(2);
  asked.each_count = false;
  const Strategy data = data_parallel(load_model("lenet5", 4), 2);
  const Strategy mine("mine", {data.configs().begin(), data.configs().end()});
  asked.strategies = {mine, "data"};
  const ValidateReport report = validate(runner, asked);
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(report.cases[0].strategy, "mine");
  EXPECT_EQ(report.cases[0].planned, report.cases[1].planned);
  asked.strategies = {Strategy("short", {})};
  EXPECT_THROW(validate(runner, asked), InputError);
}

// Also of what was searched for: two devices' micro-batches of 4 would not divide a batch of 4.
TEST(Validate, TakesRoundsOfEachStrategy) {
  MeasuringRunner runner;
  ValidateRequest asked = request(2);
  asked.each_count = false;
  for (const std::int64_t micro_batch : {4, 2}) {
    asked.training.micro_batch = micro_batch;
    asked.strategies = {"model", "optimal"};
    if (micro_batch == 2) asked.strategies.emplace_back("data");
    const ValidateReport report = validate(runner, asked);
    ASSERT_EQ(report.cases.size(), asked.strategies.size());
    for (const ValidateCase& c : report.cases) {
      EXPECT_EQ(c.batch, 4) << c.strategy;
      EXPECT_EQ(c.graph.batch() * c.plan.rounds(), 4) << c.strategy;
    }
    EXPECT_EQ(report.cases.front().graph.batch(), micro_batch);
    // Of data parallelism, the last at micro-batches of 2, one round.
    if (micro_batch == 2) {
      EXPECT_EQ(report.cases.back().graph.batch(), 4);
    }
  }
}

TEST(Validate, RefusesBeforeItMeasures) {
  MeasuringRunner runner;
  ValidateRequest twice = request(1);
  twice.models = {"lenet5", "lenet5"};
  EXPECT_THROW(validate(runner, twice), InputError);
  ValidateRequest unknown = request(1);
  unknown.strategies = {"data", "fast"};
  EXPECT_THROW(validate(runner, unknown), InputError);
  ValidateRequest never = request(1);
  never.rounds = 0;
  EXPECT_THROW(validate(runner, never), InputError);
  EXPECT_TRUE(runner.starts.empty());
}

TEST(Validate, EndsWhenCalledOff) {
  MeasuringRunner runner;
  const std::atomic<bool> cancelled = true;
  EXPECT_THROW(validate(runner, request(1), &cancelled), Cancelled);
}

// On one device all four strategies are one run, of three turns.
TEST(Validate, SimulatesARunOnceAndEndsThereWhenCalledOff) {
  MeasuringRunner runner;
  std::atomic<bool> cancelled = false;
  std::vector<std::size_t> simulated;
  const auto note = [&](const MeasureProgress& p) {
    if (!p.what.ends_with(", simulated")) return;
    EXPECT_EQ(p.of, 3u);
    simulated.push_back(p.round);
  };
  EXPECT_EQ(validate(runner, request(1), &cancelled, note).cases.size(), 4u);
  EXPECT_EQ(simulated, (std::vector<std::size_t>{0, 1, 2}));
  simulated.clear();
  const auto call_off = [&](const MeasureProgress& p) {
    note(p);
    cancelled = !simulated.empty();
  };
  EXPECT_THROW(validate(runner, request(1), &cancelled, call_off), Cancelled);
  EXPECT_EQ(simulated, (std::vector<std::size_t>{0}));
}

/// When a round of a network on a number of devices begins, whose first two are before the turns.
ValidateReport called_off_at(const std::string& what, std::size_t round) {
  MeasuringRunner runner;
  std::atomic<bool> cancelled = false;
  return validate(runner, request(2), &cancelled, [&](const MeasureProgress& p) {
    cancelled = cancelled || (p.what == what && p.round == round);
  });
}

TEST(Validate, KeepsThePairsOfTurnsBeforeItWasCalledOff) {
  const ValidateReport all = called_off_at("nobody", 0);
  EXPECT_FALSE(all.stopped);
  const ValidateReport some = called_off_at("lenet5 on cpu:2", 2 + 1);
  EXPECT_TRUE(some.stopped);
  ASSERT_EQ(some.cases.size(), all.cases.size());
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    EXPECT_EQ(some.cases[i].strategy, all.cases[i].strategy);
    EXPECT_EQ(some.cases[i].turns.size(), all.cases[i].devices == 1 ? 3U : 1U);
  }
  EXPECT_EQ(some.profile.kind, all.profile.kind);
}

// On one device no profile is kept, for there are two.
TEST(Validate, KeepsTheCasesBeforeItWasCalledOff) {
  for (std::size_t round : {0U, 2U}) {
    const ValidateReport report = called_off_at("lenet5 on cpu:2", round);
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.cases.size(), 4U);
    EXPECT_EQ(report.cases.back().devices, 1);
    EXPECT_EQ(report.profile.kind, "");
  }
}

TEST(Validate, HasNothingToKeepBeforeTheFirstTurn) {
  for (std::size_t round : {0U, 2U})
    EXPECT_THROW(called_off_at("lenet5 on cpu:1", round), Cancelled);
}

TEST(Validate, RefusesStrategiesThatDoNotFitTogether) {
  MeasuringRunner runner;
  ValidateRequest asked = request(2);
  asked.each_count = false;
  asked.strategies = {"data", "model"};
  const auto fits = [&](std::int64_t bytes) {
    asked.memory = Bytes{bytes};
    try {
      validate(runner, asked);
      return true;
    } catch (const EnvironmentError& error) {
      EXPECT_TRUE(
          error.message().starts_with("not enough memory: the strategies of lenet5 on cpu:2"))
          << error.message();
      return false;
    }
  };
  EXPECT_FALSE(fits(1000));
  EXPECT_TRUE(runner.starts.empty());
  EXPECT_TRUE(fits(std::int64_t{1} << 40));
}

}  // namespace
}  // namespace strata
