// What a search on real devices needs is measured once: of the devices nothing is here but fakes
// (measuring_runner.h), which count what they are asked for.

#include "sim/measure/search_costs.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/graph/zoo.h"
#include "sim/measure/calibrate.h"
#include "sim/measure/kept_costs.h"
#include "sim/profile/write_profile.h"
#include "sim/text/file.h"
#include "sim/train/run.h"
#include "tests/folder.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using strata::testing::Folder;
using strata::testing::MeasuringRunner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Counts rows and moves; with `stop_after`, asks for an end when so many parts were begun.
struct CountingRunner : MeasuringRunner {
  std::size_t rows = 0, moves = 0, parts = 0, stop_after = 0;
  std::atomic<bool> stop = false;

  std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                    MeasureList list) override {
    rows += list.shards.size();
    moves += list.moves.size();
    stop = ++parts == stop_after;
    return MeasuringRunner::measure(devices, graph, std::move(list));
  }
};

CostKeeping keeping(const std::string& folder) {
  return {folder, "here", "2026-11-23", "strata run"};
}

SearchCosts measured(CountingRunner& runner, const std::string& folder, std::int64_t batch = 4,
                     const std::string& devices = "cpu:2") {
  return measure_for_search(runner, devices, build_zoo("lenet5", batch), DType::fp32, {},
                            keeping(folder), &runner.stop);
}

std::set<CostKey> searched(std::int64_t batch) {
  const Graph graph = build_zoo("lenet5", batch);
  std::set<CostKey> keys;
  for (const MeasureRequest& r : shapes_of(graph, SearchSpace(graph, cpu_cluster(2)))) {
    keys.insert(cost_key(graph, r.layer, r.output, DType::fp32, r.phase));
  }
  return keys;
}

std::set<CostKey> keys_of(const Profile& profile) {
  std::set<CostKey> keys;
  for (const MeasuredCost& row : profile.measured) keys.insert(row.key);
  return keys;
}

/// The one folder of one set of devices.
std::string only_folder(const Folder& folder) {
  const fs::directory_iterator at(folder.path());
  return at->path().string();
}

std::vector<std::string> parts_in(const std::string& folder) {
  std::vector<std::string> parts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") parts.push_back(entry.path().string());
  }
  return parts;
}

// What is launched in another way costs something else.
TEST(SearchCosts, OfRecordingsAreKeptApart) {
  const Folder folder("recorded");
  CountingRunner runner;
  measured(runner, folder.path());
  EXPECT_EQ(runner.recorded, 0u);
  CostKeeping recorded = keeping(folder.path());
  recorded.recorded = true;
  const std::size_t plain = runner.parts;
  for (const std::size_t kept : {std::size_t{0}, searched(4).size()}) {
    const SearchCosts costs = measure_for_search(runner, "cpu:2", build_zoo("lenet5", 4),
                                                 DType::fp32, {}, recorded, &runner.stop);
    EXPECT_EQ(costs.used.kept, kept);
    EXPECT_EQ(costs.used.measured, searched(4).size() - kept);
    EXPECT_EQ(runner.recorded, runner.parts - plain);
  }
}

// All but the updates is known from plain SGD.
TEST(SearchCosts, MeasureTheUpdatesOfAnotherOptimizer) {
  const Folder folder("optimizer");
  CountingRunner runner;
  measured(runner, folder.path());
  CostKeeping adam = keeping(folder.path());
  adam.optimizer = Optimizer::adam;
  const SearchCosts costs = measure_for_search(runner, "cpu:2", build_zoo("lenet5", 4), DType::fp32,
                                               {}, adam, &runner.stop);
  const auto updates = static_cast<std::size_t>(std::ranges::count_if(
      searched(4), [](const CostKey& key) { return key.phase == Phase::update; }));
  EXPECT_GT(updates, 0u);
  EXPECT_EQ(costs.used.measured, updates);
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
    EXPECT_EQ(std::ranges::count_if(costs.profile.measured,
                                    [&](const MeasuredCost& row) {
                                      return row.key.phase == Phase::update &&
                                             row.key.optimizer == optimizer;
                                    }),
              updates);
  }
}

TEST(SearchCosts, MeasureWhatTheSearchLooksAtOnce) {
  const Folder folder("once");
  CountingRunner runner;
  const SearchCosts first = measured(runner, folder.path());
  EXPECT_EQ(keys_of(first.profile), searched(4));
  EXPECT_EQ(first.used.measured, searched(4).size());
  EXPECT_EQ(runner.rows, searched(4).size());
  EXPECT_EQ(runner.moves, move_sizes(build_zoo("lenet5", 8)).size());
  EXPECT_EQ(first.used.kept, 0u);
  EXPECT_EQ(first.profile.devices, 2);

  const SearchCosts second = measured(runner, folder.path());
  EXPECT_EQ(runner.rows, searched(4).size());
  EXPECT_EQ(second.profile.measured, first.profile.measured);
  EXPECT_EQ(second.profile.moves, first.profile.moves);
  EXPECT_EQ(second.used.kept, searched(4).size());
  EXPECT_EQ(second.used.measured, 0u);
  EXPECT_EQ(second.used.oldest, "2026-11-23");
  EXPECT_THAT(second.used.warnings, IsEmpty());
  EXPECT_EQ(parts_in(only_folder(folder)).size(), 1u);
}

TEST(SearchCosts, MeasureOnlyWhatAnotherBatchLacks) {
  const Folder folder("batch");
  CountingRunner runner;
  measured(runner, folder.path(), 4);
  std::set<CostKey> missing = searched(8);
  for (const CostKey& key : searched(4)) missing.erase(key);
  ASSERT_LT(missing.size(), searched(8).size());  // updates cost the same, and halves of eight
  const SearchCosts more = measured(runner, folder.path(), 8);
  EXPECT_EQ(more.used.measured, missing.size());
  EXPECT_EQ(more.used.kept, searched(8).size() - missing.size());
  EXPECT_EQ(runner.moves, move_sizes(build_zoo("lenet5", 8)).size());
  EXPECT_EQ(measured(runner, folder.path(), 4).used.measured, 0u);
  EXPECT_EQ(measured(runner, folder.path(), 8).used.measured, 0u);
}

TEST(SearchCosts, AreNotThoseOfAnotherNumberOfDevices) {
  const Folder folder("devices");
  CountingRunner runner;
  measured(runner, folder.path());
  const SearchCosts three = measured(runner, folder.path(), 4, "cpu:3");
  EXPECT_EQ(three.used.kept, 0u);
  EXPECT_EQ(three.profile.devices, 3);
  EXPECT_EQ(measured(runner, folder.path()).used.measured, 0u);
}

TEST(SearchCosts, GoOnWhereTheyWereCalledOff) {
  const Folder folder("cancel");
  CountingRunner runner;
  runner.stop_after = 3;
  EXPECT_THROW(measured(runner, folder.path()), Cancelled);
  CountingRunner next;
  const SearchCosts rest = measured(next, folder.path());
  EXPECT_GT(rest.used.kept, 0u);
  EXPECT_EQ(rest.used.kept + rest.used.measured, searched(4).size());
  EXPECT_EQ(next.rows, rest.used.measured);
  EXPECT_EQ(keys_of(rest.profile), searched(4));
}

TEST(SearchCosts, TellHowFarMeasuringIs) {
  CountingRunner runner;
  std::vector<std::size_t> done;
  measure_for_search(runner, "cpu:2", build_zoo("lenet5", 4), DType::fp32, {}, keeping(""), nullptr,
                     [&](std::size_t rows, std::size_t of) {
                       done.push_back(rows);
                       EXPECT_EQ(of, searched(4).size());
                     });
  EXPECT_EQ(done.size(), runner.parts);
  EXPECT_EQ(done.front(), 0u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(SearchCosts, AreMeasuredForARunWithoutProfiles) {
  const Folder folder("run");
  CountingRunner runner;
  RunRequest request;
  request.input.model = "lenet5";
  request.devices = "cpu:2";
  request.strategy = "optimal";
  request.input.training.batch = 4;
  request.steps = 2;
  EXPECT_THROW(run(runner, request), InputError);
  request.costs = keeping(folder.path());
  std::vector<std::string> stages;
  const RunReport report = run(runner, request, nullptr, [&](const RunProgress& progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.emplace_back(progress.stage);
  });
  EXPECT_THAT(stages, ElementsAre(std::string(kMeasuringCosts), "training"));
  EXPECT_TRUE(report.predicted.has_value());
  EXPECT_EQ(report.costs->measured, searched(4).size());
  EXPECT_EQ(run(runner, request).costs->measured, 0u);
  request.strategy = "data";
  EXPECT_FALSE(run(runner, request).costs.has_value());
}

// Four devices on one GPU are not four GPUs; and GPUs of two kinds are measured by nobody.
TEST(SearchCosts, AreOfGpusAsTheyAreShared) {
  const Folder folder("gpus");
  strata::testing::FakeGpus runner;
  const auto measure = [&](const std::string& devices) {
    return measure_for_search(runner, devices, build_zoo("lenet5", 8), DType::tf32, {},
                              keeping(folder.path()))
        .used;
  };
  EXPECT_EQ(measure("gpus:2").kept, 0u);
  EXPECT_EQ(measure("gpus:0/2").kept, 0u);
  EXPECT_EQ(measure("gpus:2").measured, 0u);
  EXPECT_THAT(measure("gpus:0/2").warnings, IsEmpty());

  RunRequest request;
  request.input.model = "lenet5";
  request.devices = "gpus:mixed";
  request.strategy = "optimal";
  request.input.training.batch = 6;
  request.costs = keeping(folder.path());
  EXPECT_THAT([&] { run(runner, request); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("no profile of device kind")));
}

TEST(KeptCosts, OutliveABrokenPartAndLeaveItAlone) {
  const Folder folder("broken");
  CountingRunner runner;
  measured(runner, folder.path());
  const std::string broken = only_folder(folder) + "/broken.toml";
  write_file_whole(broken, "kind = \"cpu\"\nkind = 2\n");
  const SearchCosts again = measured(runner, folder.path());
  EXPECT_EQ(again.used.measured, 0u);
  EXPECT_THAT(again.used.warnings, ElementsAre(HasSubstr(broken + ":2: ")));
  measured(runner, folder.path(), 8);
  EXPECT_EQ(read_file(broken), "kind = \"cpu\"\nkind = 2\n");
  EXPECT_EQ(parts_in(only_folder(folder)).size(), 2u);
}

TEST(KeptCosts, AreMeasuredAnewWhereTheirTableIsCut) {
  const Folder folder("cut");
  CountingRunner runner;
  measured(runner, folder.path());
  const std::string part = parts_in(only_folder(folder)).front();
  const std::string table = only_folder(folder) + "/" + read_profile(part).costs;
  const std::string half = read_file(table).substr(0, fs::file_size(table) / 2);
  write_file_whole(table, half);
  const SearchCosts anew = measured(runner, folder.path());
  EXPECT_EQ(anew.used.measured, searched(4).size());
  EXPECT_THAT(anew.used.warnings, ElementsAre(HasSubstr("is measured anew")));
  EXPECT_EQ(read_file(table), half);
  EXPECT_EQ(measured(runner, folder.path()).used.measured, 0u);
}

TEST(KeptCosts, LeaveOutProfilesOfOtherDevices) {
  const Folder folder("foreign");
  CountingRunner runner;
  Profile other = measured(runner, folder.path()).profile;
  other.description = "another machine";
  const std::string file = only_folder(folder) + "/other.toml";
  write_profile(file, other);
  fs::remove(parts_in(only_folder(folder)).front() == file ? parts_in(only_folder(folder)).back()
                                                           : parts_in(only_folder(folder)).front());
  const SearchCosts anew = measured(runner, folder.path());
  EXPECT_EQ(anew.used.kept, 0u);
  EXPECT_THAT(anew.used.warnings,
              ElementsAre(file + ": costs of other devices; they are left out"));
  EXPECT_EQ(read_profile(file).description, "another machine");
}

// A file where the folder should be: nobody, root included, can make one of it.
TEST(KeptCosts, GoOnWithoutAFolder) {
  const Folder folder("file");
  write_file_whole(folder.file("costs"), "");
  CountingRunner runner;
  const SearchCosts costs = measured(runner, folder.file("costs"));
  EXPECT_EQ(keys_of(costs.profile), searched(4));
  EXPECT_THAT(costs.used.warnings, ElementsAre(HasSubstr("measured costs are not kept: ")));
}

// Rows of their own from four writers at once, whose parts overtake one another.
TEST(KeptCosts, LoseNothingToOthersWhoAdd) {
  const Folder folder("others");
  CountingRunner runner;
  const Profile all = measured(runner, "").profile;
  const CostsOf of{"cpu:2", all.kind, all.description, all.devices};
  constexpr std::size_t kWriters = 4, kAdds = 6;
  {
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        KeptCosts costs(folder.path(), of);
        for (std::size_t k = 0; k < kAdds; ++k) {
          Profile one = all;
          one.measured = {all.measured[writer * kAdds + k]};
          costs.add(one);
        }
        EXPECT_THAT(costs.warnings(), IsEmpty());
      });
    }
  }
  const KeptCosts kept(folder.path(), of);
  const std::vector<MeasuredCost> expected(all.measured.begin(),
                                           all.measured.begin() + kWriters * kAdds);
  EXPECT_EQ(kept.profile()->measured, expected);
  EXPECT_THAT(kept.warnings(), IsEmpty());
}

}  // namespace
}  // namespace strata
