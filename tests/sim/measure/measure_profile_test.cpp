// A profile that was measured, kept in files and read again predicts from its own rows alone.

#include "sim/measure/measure_profile.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/profile/write_profile.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "tests/folder.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata {
namespace {

using strata::testing::FakeGpus;
using strata::testing::Folder;
using strata::testing::MeasuringRunner;

ProfileRequest request(std::vector<AskedStrategy> strategies) {
  ProfileRequest request;
  request.models = {"lenet5"};
  request.devices = "cpu:2";
  request.training.batch = 4;
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
  asked.training.batch = 4;
  asked.profiles = {folder.file("p.toml")};
  const Case input = load_case(asked);
  for (const char* strategy : strategies) {
    const Prediction p = predict(input, load_strategy(strategy, input));
    EXPECT_GT(p.sources.measured, Seconds{}) << strategy;
    // Moves are interpolated between sizes.
    EXPECT_EQ(p.sources.analytic, Seconds{}) << strategy;
  }
}

TEST(MeasureProfile, RecordsWhereItIsAskedTo) {
  for (const bool recorded : {false, true}) {
    MeasuringRunner runner;
    ProfileRequest asked = request({"data"});
    asked.recorded = recorded;
    measure_profile(runner, asked);
    EXPECT_EQ(runner.recorded, recorded ? 1u : 0u);
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
              "p.toml: measured on 2 devices at once; allowed with `merge`: on 1, as `devices` "
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

// The prediction's own rows: nothing but moves, of which there are rows of other sizes alone, lies
// between any.
TEST(MeasureProfile, MeasuresTheUpdatesOfTheOptimizerAsked) {
  const Folder folder("optimizer");
  MeasuringRunner runner;
  ProfileRequest asked = request({"data"});
  asked.devices = "cpu:1";
  asked.training.optimizer = Optimizer::adam;
  write_profile(folder.file("p.toml"), measure_profile(runner, asked).profile);
  CaseRequest predicted;
  predicted.model = "lenet5";
  predicted.cluster = "cpu:1";
  predicted.training.batch = 4;
  predicted.profiles = {folder.file("p.toml")};
  for (Optimizer optimizer : {Optimizer::adam, Optimizer::sgd}) {
    predicted.training.optimizer = optimizer;
    const Case input = load_case(predicted);
    const CostSources sources = predict(input, load_strategy("data", input)).sources;
    EXPECT_GT(sources.measured, Seconds{});
    EXPECT_EQ(sources.interpolated > Seconds{}, optimizer != Optimizer::adam);
    EXPECT_EQ(sources.analytic, Seconds{});
  }
}

// Rows are of the type that they were measured in, and predictions look for them there.
TEST(MeasureProfile, MeasuresTheTypeThatPredictionsAskFor) {
  const Folder folder("dtype");
  for (DType dtype : {DType::tf32, DType::bf16}) {
    MeasuringRunner runner;
    ProfileRequest asked = request({"data"});
    asked.training.dtype = dtype;
    const Profile profile = measure_profile(runner, asked).profile;
    EXPECT_EQ(runner.measured, std::vector<DType>{dtype});
    for (const MeasuredCost& row : profile.measured) EXPECT_EQ(row.key.dtype, dtype);
    EXPECT_TRUE(profile.peaks[static_cast<std::size_t>(dtype)].has_value());
    write_profile(folder.file("p.toml"), profile);
    CaseRequest predicted;
    predicted.model = "lenet5";
    predicted.cluster = "cpu:2";
    predicted.training.batch = 4;
    predicted.profiles = {folder.file("p.toml")};
    for (DType type : {dtype, DType::fp32}) {
      predicted.training.dtype = type;
      const Case input = load_case(predicted);
      const Prediction p = predict(input, load_strategy("data", input));
      EXPECT_EQ(p.sources.analytic == Seconds{}, type == dtype) << name(type);
    }
  }
}

TEST(MeasureProfile, TypesAreMergedIntoOneProfile) {
  MeasuringRunner runner;
  ProfileRequest asked = request({"data"});
  const Profile fp32 = measure_profile(runner, asked).profile;
  asked.training.dtype = DType::bf16;
  const Profile bf16 = measure_profile(runner, asked).profile;
  EXPECT_TRUE(bf16.peaks[0]->source.starts_with("assumed"));
  for (const Profile& both : {merged(fp32, bf16), merged(bf16, fp32)}) {
    EXPECT_EQ(both.measured.size(), fp32.measured.size() + bf16.measured.size());
    EXPECT_EQ(both.peaks[0], fp32.peaks[0]);
    EXPECT_EQ(both.peaks[2], bf16.peaks[2]);
  }
}

ProfileRequest request_on(const std::string& devices) {
  ProfileRequest asked = request({"data"});
  asked.devices = devices;
  return asked;
}

// Its name says how many devices shared the GPU while it was measured; a whole one's costs do not
// depend on how many there are.
TEST(MeasureProfile, PartsOfAGpuAreAKindOfTheirOwn) {
  const Folder folder("parts");
  FakeGpus runner;
  runner.memory = Bytes{1 << 20};
  const Profile whole = measure_profile(runner, request_on("gpus:2")).profile;
  const Profile part = measure_profile(runner, request_on("gpus:0/4")).profile;
  EXPECT_EQ(whole.kind, "f9");
  EXPECT_EQ(part.kind, "f9/4");
  EXPECT_EQ(part.memory_capacity.value, Bytes{1 << 18});
  EXPECT_EQ(whole.devices, 0);
  EXPECT_EQ(part.devices, 0);
  EXPECT_NO_THROW(check_mergeable(whole, "p.toml", runner, "gpus:4"));
  EXPECT_THROW(check_mergeable(whole, "p.toml", runner, "gpus:0/2"), InputError);
  Profile kept = part;
  kept.costs = write_profile(folder.file("p.toml"), part);
  EXPECT_EQ(read_profile(folder.file("p.toml")), kept);
}

// And whatever names kinds takes it.
TEST(MeasureProfile, PartsOfAGpuArePredictedFromFiles) {
  const Folder folder("cluster");
  FakeGpus runner;
  write_profile(folder.file("p.toml"), measure_profile(runner, request_on("gpus:0/2")).profile);
  std::ofstream(folder.file("two.toml"))
      << "name = \"two\"\n[grid]\nhosts = 1\ndevices_per_host = 2\nkind = \"f9/2\"\n"
         "copy_engine = false\n[grid.intra]\ntopology = \"all-to-all\"\nbandwidth = \"1 GB/s\"\n"
         "latency = \"1 us\"\n";
  CaseRequest asked;
  asked.model = "lenet5";
  asked.cluster = folder.file("two.toml");
  asked.training.batch = 4;
  asked.profiles = {folder.file("p.toml")};
  asked.sets = {{"device.f9/2.speed", "0.5"}};
  const Case input = load_case(asked);
  EXPECT_EQ(input.cluster[DeviceId(1)].speed, 0.5);
  const Prediction p = predict(input, load_strategy("data", input));
  EXPECT_GT(p.sources.measured, Seconds{});
}

TEST(MeasureProfile, IsOfOneKindOfDevice) {
  FakeGpus runner;
  try {
    measure_profile(runner, request_on("gpus:mixed"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "gpus:mixed: its devices are of kinds f9/2 and f9, and a profile is of one; allowed: "
              "devices of one kind, one command for each");
  }
  EXPECT_TRUE(runner.measured.empty());
}

TEST(MeasureProfile, SaysHowItWasMeasuredAndHowWarmTheDevicesWere) {
  FakeGpus runner;
  EXPECT_EQ(measure_profile(runner, request_on("gpus:1")).profile.provenance.method,
            "by fakes Seen before the first model: warm; after the last: warm.");
  MeasuringRunner cores;
  EXPECT_EQ(measure_profile(cores, request({"data"})).profile.provenance.method, "by fakes");
}

// A nanosecond a byte, and no more for the smallest copies: 1024 ns of latency. Devices without
// copy engines ask the profile for each move.
TEST(MeasureProfile, LinksAreAsFastAsMeasuredCopies) {
  FakeGpus runner;
  const auto model = make_cost_model(measure_profile(runner, request_on("gpus:2")).profile);
  const Cluster between = with_measured_links(runner.cluster("gpus:2"), *model);
  for (const Link& link : between.links()) {
    EXPECT_NEAR(link.latency.value, 1024e-9, 1e-15);
    EXPECT_NEAR(link.bandwidth.value, 16777216 / (16777216e-9 - 1024e-9), 1);
  }
  const Cluster within = with_measured_links(runner.cluster("gpus:0/2"), *model);
  for (const Link& link : within.links()) {
    EXPECT_EQ(link.latency, kSharedGpuLatency);
    EXPECT_NEAR(link.bandwidth.value, 1e9, 1);
  }
  const Cluster alone = runner.cluster("gpus:1");
  EXPECT_EQ(with_measured_links(alone, *model), alone);
}

TEST(MeasureProfile, EndsWhenCalledOff) {
  MeasuringRunner runner;
  const std::atomic<bool> cancelled = true;
  EXPECT_THROW(measure_profile(runner, request({"data"}), &cancelled), Cancelled);
}

// Of two networks in three rounds each: in the second round of one of them.
ProfileReport called_off_in(const std::string& network) {
  MeasuringRunner runner;
  ProfileRequest asked = request({"data"});
  asked.models = {"lenet5", "alexnet"};
  asked.rounds = 3;
  std::atomic<bool> cancelled = false;
  return measure_profile(runner, asked, &cancelled, [&](const MeasureProgress& p) {
    cancelled = p.what.starts_with(network) && p.round == 1;
  });
}

TEST(MeasureProfile, KeepsWhatWasMeasuredUntilItWasCalledOff) {
  const ProfileReport early = called_off_in("lenet5"), late = called_off_in("alexnet");
  EXPECT_TRUE(early.stopped && late.stopped);
  EXPECT_EQ(
      early.profile.provenance.method,
      "by fakes Called off: of lenet5, what 1 whole rounds and a part of one took; nothing of "
      "alexnet.");
  EXPECT_TRUE(late.profile.provenance.method.ends_with(
      "Called off: of alexnet, what 1 whole rounds and a part of one took."));
  EXPECT_FALSE(early.profile.measured.empty());
  EXPECT_GT(late.profile.measured.size(), early.profile.measured.size());
  EXPECT_EQ(early.profile.measured.front().count, 1);
}

TEST(MeasureProfile, IsNotCalledOffUnlessSomebodyDoes) {
  EXPECT_FALSE(called_off_in("nobody").stopped);
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
