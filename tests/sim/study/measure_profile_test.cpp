// A profile that was measured, kept in files and read again predicts from its own rows alone.

#include "sim/study/measure_profile.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/profile/write_profile.h"
#include "sim/study/solve.h"
#include "tests/sim/study/folder.h"
#include "tests/sim/study/measuring_runner.h"

namespace strata {
namespace {

using strata::testing::Folder;
using strata::testing::MeasuringRunner;

ProfileRequest request(std::vector<std::string> strategies) {
  ProfileRequest request;
  request.models = {"lenet5"};
  request.devices = "cpu:2";
  request.batch = 4;
  request.strategies = std::move(strategies);
  request.rounds = 3;
  request.date = "2026-11-21";
  request.command = "strata profile lenet5";
  return request;
}

std::set<std::string> files(const Folder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(MeasureProfile, PredictsEveryStrategyFromWhatWasMeasured) {
  const Folder folder("measured");
  MeasuringRunner runner;
  const auto strategies = {"data", "model", "owt", "optimal"};
  const ProfileReport report =
      measure_profile(runner, request({"data", "owt", "optimal", "model"}));
  EXPECT_EQ(report.disturbance, (Disturbance{1, 3}));
  write_profile(folder.file("p.toml"), report.profile);

  CaseRequest asked;
  asked.model = "lenet5";
  asked.cluster = "cpu:2";
  asked.batch = 4;
  asked.profiles = {folder.file("p.toml")};
  const Case input = load_case(asked);
  for (const char* strategy : strategies) {
    const Prediction p = predict(input, load_strategy(strategy, input));
    EXPECT_GT(p.sources.measured, Seconds{}) << strategy;
    // Moves are interpolated between sizes.
    EXPECT_EQ(p.sources.analytic, Seconds{}) << strategy;
  }
}

TEST(MeasureProfile, IsReadAsItWasWritten) {
  const Folder folder("read");
  MeasuringRunner runner;
  Profile profile = measure_profile(runner, request({"data"})).profile;
  profile.costs = write_profile(folder.file("p.toml"), profile);
  EXPECT_EQ(profile.costs, "p.costs.tsv");
  EXPECT_EQ(read_profile(folder.file("p.toml")), profile);
  EXPECT_EQ(profile.provenance.command, "strata profile lenet5");
}

TEST(MeasureProfile, TakesTheRowsOfAllModels) {
  MeasuringRunner runner;
  ProfileRequest both = request({"data"});
  both.models = {"lenet5", "alexnet"};
  std::size_t rounds = 0;
  const Profile profile =
      measure_profile(runner, both, nullptr, [&](const MeasureProgress&) { ++rounds; }).profile;
  EXPECT_EQ(rounds, 6u);
  const Profile lenet = measure_profile(runner, request({"data"})).profile;
  EXPECT_GT(profile.measured.size(), lenet.measured.size());
  EXPECT_EQ(merged(profile, lenet).measured, profile.measured);
}

TEST(MeasureProfile, MergesWithOnesOfItsMachineAlone) {
  MeasuringRunner runner;
  Profile older = measure_profile(runner, request({"data"})).profile;
  EXPECT_NO_THROW(check_mergeable(older, "p.toml", runner, "cpu:2"));
  older.description = "another machine";
  EXPECT_THROW(check_mergeable(older, "p.toml", runner, "cpu:2"), InputError);
}

TEST(MeasureProfile, MergesWhatAsManyDevicesMeasured) {
  MeasuringRunner runner;
  const Profile older = measure_profile(runner, request({"data"})).profile;
  EXPECT_EQ(older.devices, 2);
  try {
    check_mergeable(older, "p.toml", runner, "cpu:1");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "p.toml: measured on 2 devices at once; allowed with --merge: on 1, as --devices "
              "says");
  }
  Profile unknown = older;  // as older files are
  unknown.devices = 0;
  EXPECT_NO_THROW(check_mergeable(unknown, "p.toml", runner, "cpu:1"));
  EXPECT_EQ(merged(unknown, older).devices, 0);
}

TEST(MeasureProfile, MergingKeepsEachPartsProvenance) {
  MeasuringRunner runner;
  ProfileRequest asked = request({"data"});
  asked.models = {"lenet5", "alexnet"};  // measured by one command, so one part
  Profile all = measure_profile(runner, asked).profile;
  EXPECT_TRUE(all.earlier.empty());
  const Provenance first = all.provenance;
  for (const char* command : {"second", "third", "third"}) {
    asked.command = command;
    all = merged(all, measure_profile(runner, asked).profile);
  }
  EXPECT_EQ(all.provenance.command, "third");
  ASSERT_EQ(all.earlier.size(), 2u);
  EXPECT_EQ(all.earlier[0], first);
  EXPECT_EQ(all.earlier[1].command, "second");
}

TEST(MeasureProfile, EndsWhenCalledOff) {
  MeasuringRunner runner;
  const std::atomic<bool> cancelled = true;
  EXPECT_THROW(measure_profile(runner, request({"data"}), &cancelled), Cancelled);
}

TEST(WriteProfile, LeavesOnePairWhenItIsWrittenAgain) {
  const Folder folder("again");
  MeasuringRunner runner;
  const Profile first = measure_profile(runner, request({"data"})).profile;
  const Profile second = measure_profile(runner, request({"model"})).profile;
  write_profile(folder.file("p.toml"), first);
  write_profile(folder.file("p.toml"), second);
  EXPECT_EQ(files(folder), (std::set<std::string>{"p.toml", "p.costs-2.tsv"}));
  EXPECT_EQ(read_profile(folder.file("p.toml")).measured, second.measured);
}

TEST(WriteProfile, TakesNoNameThatAFileHas) {
  const Folder folder("taken");
  std::ofstream(folder.file("p.costs.tsv")) << "mine";
  MeasuringRunner runner;
  write_profile(folder.file("p.toml"), measure_profile(runner, request({"data"})).profile);
  EXPECT_EQ(files(folder), (std::set<std::string>{"p.toml", "p.costs.tsv", "p.costs-2.tsv"}));
}

TEST(WriteProfile, LeavesNoTableWithoutItsProfile) {
  const Folder folder("half");
  std::filesystem::create_directory(folder.file("p.toml"));
  MeasuringRunner runner;
  const Profile profile = measure_profile(runner, request({"data"})).profile;
  EXPECT_THROW(write_profile(folder.file("p.toml"), profile), Error);
  EXPECT_EQ(files(folder), std::set<std::string>{"p.toml"});
}

}  // namespace
}  // namespace strata
