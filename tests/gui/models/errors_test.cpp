// A prediction beside a measurement, on two fake cores whose tasks all take a step's time.

#include <QAbstractItemModelTester>

#include <gmock/gmock.h>

#include "gui/models/measured/error_recording.h"
#include "gui/models/measured/real_run.h"
#include "sim/base/error.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

RealRun run_of_lenet(const std::string& strategy = "model") {
  RealRun run;
  run.document = document_of("lenet5", "p100-4x4", strategy);
  run.rounds = 1;
  return run;
}

class ErrorsTest : public ::testing::Test {
 protected:
  RealOutcome outcome(const RealRun& run) {
    return run_for_real(runner_, run, nullptr, [](const MeasureProgress&) {});
  }
  MeasuredPtr measure(const RealRun& run) { return outcome(run).measured; }

  testing::MeasuringRunner runner_;
};

TEST_F(ErrorsTest, RunsTheStrategyOnTheDevicesThatWereNamed) {
  const MeasuredPtr measured = measure(run_of_lenet());
  EXPECT_EQ(measured->devices, "cpu:2");
  EXPECT_EQ(measured->cluster.device_count(), 2);
  EXPECT_EQ(measured->graph.batch(), 8);
  EXPECT_EQ(measured->comparison.tasks.size(), measured->plan.size());
  EXPECT_EQ(command_of(run_of_lenet()),
            "strata validate lenet5 --devices cpu:2 --only --strategies model --batch-per-device 4 "
            "--rounds 1");
  RealRun run = run_of_lenet();
  run.document.input.training.sync = {SyncAlgorithm::tree, {}};
  EXPECT_THAT(command_of(run), HasSubstr(" --batch-per-device 4 --sync tree --bucket 0 --rounds"));
}

// Two rounds that warm up come before those that were asked for; then their steps are simulated.
TEST_F(ErrorsTest, RoundsAreCountedAsTheyWereAskedFor) {
  RealRun run = run_of_lenet();
  run.rounds = 3;
  std::vector<std::string> told;
  run_for_real(runner_, run, nullptr,
               [&](const MeasureProgress& at) { told.push_back(round_text(at, run)); });
  EXPECT_THAT(told, ElementsAre("warm-up 1 of 2", "warm-up 2 of 2", "round 1 of 3", "round 2 of 3",
                                "round 3 of 3", "simulating round 1 of 3",
                                "simulating round 2 of 3", "simulating round 3 of 3"));
}

TEST_F(ErrorsTest, ToldAreTheMediansOfAllRounds) {
  RealRun run = run_of_lenet();
  run.rounds = 3;
  const RealOutcome all = outcome(run);
  EXPECT_GT(all.predicted, Seconds{0});
  EXPECT_GT(all.step, Seconds{0});
  EXPECT_GE(all.spread, Seconds{0});
  EXPECT_EQ(all.steps % run.rounds, 0);
  EXPECT_GT(all.steps, 0);
}

// A quarter of the sweeps and more is much, and so is a device more than there are cores.
TEST_F(ErrorsTest, DoubtsWhatABusyMachineMeasures) {
  RealOutcome run = outcome(run_of_lenet());
  run.disturbance = {1, 5};
  EXPECT_TRUE(doubts(run, 2).empty());
  run.disturbance = {1, 4};
  EXPECT_THAT(doubts(run, 2), ElementsAre(HasSubstr("in 1 of 4 sweeps")));
  EXPECT_THAT(doubts(run, 1), ElementsAre(HasSubstr("cpu:2 on 1 cores"), HasSubstr("sweeps")));
}

TEST_F(ErrorsTest, RefusesWhatDoesNotFit) {
  RealRun run = run_of_lenet();
  run.devices = "two cores";
  EXPECT_THAT([&] { measure(run); },
              ThrowsMessage<InputError>("no devices 'two cores'; allowed: cpu:N"));
  run = run_of_lenet();
  run.document.strategy.configs.assign(13, config_on_first_devices(kWhole));
  run.document.strategy.configs[1].devices = {DeviceId(5)};
  EXPECT_THAT([&] { measure(run); },
              ThrowsMessage<InputError>(HasSubstr("uses device 6; cpu:2 has 2")));
}

TEST_F(ErrorsTest, TheErrorIsRelativeToWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(relative_error({3}, {2}), 0.5);
  EXPECT_DOUBLE_EQ(relative_error({1}, {2}), -0.5);
  EXPECT_EQ(relative_error({0}, {0}), 0);
  EXPECT_EQ(relative_error({1}, {0}), 1);
}

TEST_F(ErrorsTest, BothRecordingsShowOneStepTaskByTask) {
  const MeasuredPtr measured = measure(run_of_lenet());
  const ErrorRecordings both = record_errors(measured);
  for (const RecordingPtr& recording : {both.predicted, both.measured}) {
    for (std::size_t i = 0; i < measured->plan.size(); ++i) {
      const SlicePlace place = recording->place(static_cast<std::uint32_t>(i));
      ASSERT_EQ(place.valid(), measured->plan[TaskId(i)].kind != TaskKind::join);
      if (!place.valid()) continue;
      EXPECT_EQ(recording->styles[recording->at(place).style].shade, Shade::balance);
      EXPECT_GE(recording->at(place).begin, 0);
    }
  }
  const Span& first =
      measured->measured.span(measured_steps(measured->measured).shown().step, TaskId(0));
  EXPECT_NEAR(both.measured->at(both.measured->place(0)).length(), first.duration().value, 1e-12);
  EXPECT_THAT(both.measured->facts->lines(0).back(), HasSubstr("in the median"));
}

// What was ready in the step before the one that is shown was ready before time 0, and its wait is
// told in full.
TEST_F(ErrorsTest, AWaitThatBeganEarlierIsToldInFull) {
  const auto measured = std::make_shared<Measured>(*measure(run_of_lenet()));
  const std::size_t steps = measured->measured.steps(), last = 3;  // all take as long
  const std::size_t tasks = measured->plan.size();
  std::vector<Span> spans;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < tasks; ++i) {
      const double begin = static_cast<double>(step * tasks + i);
      spans.push_back({{begin}, {begin}, {begin + 1}});
    }
  }
  ASSERT_EQ(measured_steps(measured->measured).shown().step, last);
  spans[last * tasks].ready = Seconds{0};
  const double waited = spans[last * tasks].start.value;
  measured->measured = Timeline(tasks, std::move(spans));
  const ErrorRecordings both = record_errors(measured);
  const double shown = both.measured->at(both.measured->place(0)).begin;
  EXPECT_NEAR(both.measured->facts->ready(0).value(), shown - waited, 1e-9);
}

// Six steps of 10 ms, each task a part of it; in the step `slow` the first task takes 90 ms more.
Timeline steps_of_ten(std::size_t tasks, std::size_t slow) {
  std::vector<Span> spans;
  double at = 0;
  for (std::size_t step = 0; step < 6; ++step) {
    for (std::size_t i = 0; i < tasks; ++i) {
      const double took = 0.01 / static_cast<double>(tasks) + (step == slow && i == 0 ? 0.09 : 0);
      spans.push_back({{at}, {at}, {at + took}});
      at += took;
    }
  }
  return Timeline(tasks, std::move(spans));
}

// Of six steps the third to the fifth count. One in which something else ran takes ten times as
// long, and whichever it is, the picture, the colours and the table are of the others.
TEST_F(ErrorsTest, APreemptedStepStandsForNothing) {
  const auto measured = std::make_shared<Measured>(*measure(run_of_lenet()));
  const std::size_t tasks = measured->plan.size();
  for (const std::size_t slow : {2U, 3U, 4U}) {
    SCOPED_TRACE(slow);
    measured->measured = steps_of_ten(tasks, slow);
    const MeasuredSteps steps = measured_steps(measured->measured);
    ASSERT_EQ(steps.steps.size(), 3);
    EXPECT_NE(steps.shown().step, slow);
    EXPECT_NEAR(steps.shown().time.value, 0.01, 1e-9);
    for (const MeasuredStep& step : steps.steps) EXPECT_EQ(step.preempted, step.step == slow);
    const Comparison typical =
        compare_typical(measured->plan, measured->predicted, measured->measured);
    EXPECT_NEAR(typical.tasks[0].measured.duration.value, 0.01 / static_cast<double>(tasks), 1e-9);
    const ErrorRecordings both = record_errors(measured);
    EXPECT_LT(both.measured->end, 0.05);
  }
  EXPECT_THAT(
      text_of(measured_steps(measured->measured)),
      HasSubstr(" of 3, the median: 10 ms; steps 10 ms to 100 ms; preempted: step 3 (100 ms)"));
}

TEST_F(ErrorsTest, FewStepsStandForThemselves) {
  const auto steps = [](std::size_t count) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<double>(i);
      spans.push_back({{at}, {at}, {at + 1}});
    }
    return measured_steps(Timeline(1, std::move(spans)));
  };
  EXPECT_EQ(steps(1).shown().step, 0);
  EXPECT_EQ(text_of(steps(1)), "one step: 1 s");
  EXPECT_EQ(steps(2).shown().step, 1);
  EXPECT_EQ(steps(3).shown().step, 1);
  EXPECT_EQ(steps(4).shown().step, 2);
}

// Of three steps that count two were preempted: the third is what the machine does when left alone.
TEST_F(ErrorsTest, TheFastestStepSaysWhatWasPreempted) {
  std::vector<Span> spans;
  double end = 0;
  for (const double length : {1.0, 1.0, 1.0, 20.0, 30.0, 1.0}) {
    spans.push_back({{end}, {end}, {end + length}});
    end += length;
  }
  const MeasuredSteps steps = measured_steps(Timeline(1, std::move(spans)));
  ASSERT_EQ(steps.steps.size(), 3u);
  EXPECT_EQ(steps.shown().time, Seconds{1});
  EXPECT_THAT(text_of(steps), HasSubstr("preempted: step 2 (20 s), step 3 (30 s)"));
}

// Every task took at least 10 ms where a millisecond or less was predicted: all are far too fast.
TEST_F(ErrorsTest, ColoursAndResidualsSayHowWrongThePredictionWas) {
  const MeasuredPtr measured = measure(run_of_lenet());
  const ErrorRecordings both = record_errors(measured);
  std::size_t residuals = 0;
  for (const Lane& lane : both.measured->lanes) {
    residuals += lane.name().kind == LaneKind::residual;
    for (const Slice& slice : lane.slices()) {
      EXPECT_EQ(both.measured->styles[slice.style].value, 1) << lane.name().name;
      EXPECT_LE(slice.height, 1);
    }
  }
  EXPECT_EQ(residuals, 2);
  const auto none = labels_beyond(*both.measured, *measured, 1);
  const auto all = labels_beyond(*both.measured, *measured, 0.5);
  EXPECT_EQ(std::count(none.begin(), none.end(), true), 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), true), static_cast<std::ptrdiff_t>(all.size()));
}

// Predicted to take 3 and wait for 1, measured to take 2 and wait for 5: the sign of each tells.
TEST_F(ErrorsTest, DifferencesArePredictedLessMeasured) {
  ErrorRow row;
  row.predicted = {{3}, {1}};
  row.measured = {{2}, {5}};
  ErrorTable table;
  table.show(nullptr, {{row, {}, {}}});
  const auto number = [&](int column) {
    return table.index(0, column).data(Qt::UserRole).toDouble();
  };
  EXPECT_EQ(number(ErrorTable::kDifference), 1);
  EXPECT_EQ(number(ErrorTable::kError), 0.5);
  EXPECT_EQ(number(ErrorTable::kWaiting), -4);
  EXPECT_THAT(table.index(0, ErrorTable::kDifference).data().toString().toStdString(),
              StartsWith("+1 s"));
  EXPECT_THAT(table.index(0, ErrorTable::kWaiting).data().toString().toStdString(),
              StartsWith("-4 s"));
}

TEST_F(ErrorsTest, TheTableExplainsTheError) {
  const MeasuredPtr measured = measure(run_of_lenet());
  ErrorTable table;
  const QAbstractItemModelTester tester(&table,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  table.show(measured, explained_errors(*measured));
  ASSERT_EQ(table.rowCount(), static_cast<int>(measured->comparison.rows.size()));
  double share = 0;
  for (int row = 0; row < table.rowCount(); ++row) {
    share += table.index(row, ErrorTable::kShare).data(Qt::UserRole).toDouble();
    const Task& task = measured->plan[table.worst_task(row)];
    EXPECT_EQ(task.layer, table.row(row).of.layer);
    EXPECT_EQ(task.phase, table.row(row).of.phase);
    // All took longer than predicted, and every column says so by the same sign.
    for (const int column : {ErrorTable::kError, ErrorTable::kDifference}) {
      EXPECT_LT(table.index(row, column).data(Qt::UserRole).toDouble(), 0);
    }
    EXPECT_EQ(table.row_of(table.worst_task(row)), row);
    EXPECT_FALSE(table.index(row, ErrorTable::kTask).data().toString().isEmpty());
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(std::ranges::count(table.csv(), '\n'), table.rowCount() + 1);
  table.sort(ErrorTable::kShare, Qt::AscendingOrder);
  EXPECT_LE(table.row(0).share, table.row(1).share);
  for (int row = 0; row < table.rowCount(); ++row) {
    EXPECT_EQ(table.row_of(table.worst_task(row)), row);
  }
  for (const int section : {-1, int{ErrorTable::kColumns}}) {
    EXPECT_FALSE(table.headerData(section, Qt::Horizontal).isValid());
  }
  table.show(nullptr, {});
  EXPECT_EQ(table.rowCount(), 0);
}

}  // namespace
}  // namespace strata::gui
