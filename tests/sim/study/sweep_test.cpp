// Scenarios answered into stores, with runs on devices that compute nothing (fake_runner.h).

#include "sim/study/sweep/sweep.h"

#include <gmock/gmock.h>

#include "sim/measure/machine_turn.h"
#include "sim/text/file.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/sim/measure/fake_runner.h"

namespace strata {
namespace {

using strata::testing::FakeRunner;
using strata::testing::Folder;
using ::testing::HasSubstr;

SweepRequest sweep_of(const Folder& folder, const std::string& text) {
  SweepRequest request;
  request.scenario = parse_scenario(text, folder.file("s.toml"));
  request.store = folder.file("s.db");
  request.threads = 1;
  request.invocation = {"0.1.0", "strata sweep s.toml", "box", "2026-11-21T08:00:00Z"};
  return request;
}

std::string error_of(const SweepRequest& request) {
  FakeRunner runner;
  try {
    count_sweep(runner, request);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

/// Looks whose turn it is while it is asked for a run.
struct LookingRunner : FakeRunner {
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    turns.push_back(MachineTurn::is_taken());
    return FakeRunner::start(devices, graph, plan, options);
  }
  std::vector<bool> turns;
};

TEST(Sweep, RunsTakeTheirTurnAndSayWhatEq1Says) {
  const Folder folder("sweep_runs");
  LookingRunner runner;
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
job = "run"
model = "lenet5"
devices = ["cpu:1", "cpu:2"]
strategy = "data"
steps = 3
profile = ")" + source_path("tests/sim/measure/toy_cpu.toml") +
                                                    "\"\n");
  EXPECT_EQ(sweep(runner, request).done, 2U);
  EXPECT_EQ(runner.turns, (std::vector<bool>{true, true}));
  // On one device nothing is sent and nothing overlaps: both predictions sum the same tasks.
  const QueryResult rows = Store(request.store, OpenMode::read)
                               .query(
                                   "SELECT step_seconds, eq1_seconds FROM runs "
                                   "ORDER BY devices");
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_NEAR(std::get<double>(rows.rows[0][1]), std::get<double>(rows.rows[0][0]), 1e-9);
  EXPECT_GT(std::get<double>(rows.rows[1][1]), 0);
}

// A name that is searched for, like a search, has no figures where nothing fits.
TEST(Sweep, WhereNothingFitsARowSaysSo) {
  const Folder folder("sweep_nothing_fits");
  FakeRunner runner;
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
job = "predict"
model = "lenet5"
cluster = "p100-1x2"
strategy = ["data", "optimal", "eq1"]
memory_limit = "1 KiB"

[[sweep]]
job = "solve"
model = "lenet5"
cluster = "p100-1x2"
memory_limit = "1 KiB"
)");
  const SweepCount swept = sweep(runner, request);
  EXPECT_EQ(swept.done, 1U);
  const QueryResult rows = Store(request.store, OpenMode::read)
                               .query("SELECT error FROM result WHERE step_seconds IS NULL");
  ASSERT_EQ(rows.rows.size(), 3U);
  for (const auto& row : rows.rows) {
    const std::string error = std::get<std::string>(row[0]);
    EXPECT_THAT(error, HasSubstr("no strategy within memory_limit 1024 (1.02 kB), proved:"));
    EXPECT_THAT(error, HasSubstr("; the nearest of those that were tried is "));
  }
}

// Both predictions are of the same rounds, in which one device does one task after another.
TEST(Sweep, Eq1OfARunCountsItsRounds) {
  const Folder folder("sweep_rounds");
  FakeRunner runner;
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
job = "run"
model = "lenet5"
devices = "cpu:1"
strategy = "data"
batch = 8
micro_batch = 2
steps = 3
profile = ")" + source_path("tests/sim/measure/toy_cpu.toml") +
                                                    "\"\n");
  EXPECT_EQ(sweep(runner, request).done, 1U);
  const QueryResult rows =
      Store(request.store, OpenMode::read).query("SELECT step_seconds, eq1_seconds FROM runs");
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_NEAR(std::get<double>(rows.rows[0][1]), std::get<double>(rows.rows[0][0]), 1e-9);
}

TEST(Sweep, ASearchThatFindsNothingHasNoAnswer) {
  const Folder folder("sweep_solves");
  FakeRunner runner;
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
job = "solve"
model = "lenet5"
cluster = "p100-1x2"
memory_limit = ["1 KiB", "8 GiB"]
)");
  const SweepCount count = sweep(runner, request);
  EXPECT_EQ(count.done, 1U);
  EXPECT_EQ(count.failed, 1U);
  EXPECT_EQ(count.unanswered, 1U);
  const QueryResult rows = Store(request.store, OpenMode::read).query("SELECT error FROM failures");
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_THAT(
      std::get<std::string>(rows.rows[0][0]),
      HasSubstr("lenet5 on p100-1x2: no strategy within memory_limit 1024 (1.02 kB), proved"));
}

// One case that outlasts the clock is a row without an answer; the others have theirs.
TEST(Sweep, ACaseThatOutlastsTheClockLeavesTheOthersTheirAnswers) {
  const Folder folder("sweep_outlasts");
  FakeRunner runner;
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
model = "lenet5"
cluster = "p100-1x2"
strategy = "data"
[sweep.set]
"link.*.bandwidth" = ["1e-9 B/s", "1x"]
)");
  const SweepCount count = sweep(runner, request);
  EXPECT_EQ(count.done, 1U);
  EXPECT_EQ(count.failed, 1U);
  const QueryResult rows = Store(request.store, OpenMode::read)
                               .query("SELECT error, step_seconds FROM results WHERE NOT done");
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_THAT(std::get<std::string>(rows.rows[0][0]), HasSubstr("where the clock ends"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rows.rows[0][1]));
}

TEST(Sweep, SaysAllThatIsWrongAtItsLine) {
  const Folder folder("sweep_wrong");
  const SweepRequest request = sweep_of(folder, R"([[sweep]]
model = ["lenet5",
         "lenet6"]
cluster = ["p100-1x2", "p100-1x1"]
strategy = ["data", "none.json"]
[sweep.set]
"link.intra.bandwidth" = ["2x",
                          "fast"]
"device.*.speed" = -1
[[report]]
title = "Speeds"
sql = "SELECT speed FROM cases"
[[report]]
title = "More"
kind = "bars"
x = "strategy"
y = "steps"
sql = "SELECT strategy, step_seconds FROM cases"
)");
  const std::string error = error_of(request);
  const std::string file = folder.file("s.toml");
  EXPECT_THAT(error, HasSubstr(file + ":3: 'model' = \"lenet6\": unknown model"));
  EXPECT_THAT(error, HasSubstr(file + ":4: 'cluster' = \"p100-1x1\": 'link.intra.bandwidth' = "
                                      "\"2x\": cluster p100-1x1 has no link 'intra'"));
  EXPECT_THAT(error, HasSubstr(file + ":5: 'strategy' = \"none.json\": "));
  EXPECT_THAT(error, HasSubstr(file + ":8: 'link.intra.bandwidth' = \"fast\": "));
  EXPECT_THAT(error, HasSubstr(file + ":9: 'device.*.speed' = \"-1\": "));
  EXPECT_THAT(error, HasSubstr(file + ":12: report 'Speeds': query: no such column: speed"));
  EXPECT_THAT(error, HasSubstr(file + ":18: report 'More': the query has no column 'steps'; it "
                                      "has: strategy, step_seconds"));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 6);
  EXPECT_FALSE(std::filesystem::exists(request.store));
}

}  // namespace
}  // namespace strata
