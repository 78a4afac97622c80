#include "sim/scenario/scenario.h"

#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/paths.h"
#include "tests/sim/scenario/case_lines.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

// What `more` adds to the settings of one case; its axes follow the strategy.
std::string cases_with(const std::string& more) {
  const Scenario scenario = parse_scenario(
      "[[sweep]]\nmodel = \"m\"\ncluster = \"c\"\nstrategy = \"data\"\n" + more, "s.toml");
  const std::string head = "model=m cluster=c strategy=data";
  std::string lines;
  for (std::size_t i = 0; i < scenario.sweeps[0].count(); ++i) {
    const std::string line = case_line(scenario.sweeps[0], i);
    EXPECT_EQ(line.substr(0, head.size()), head);
    lines += line.substr(head.size()) + "\n";
  }
  return lines;
}

TEST(Scenario, ASweepIsTheProductOfItsAxesTheLastOneFastest) {
  const Scenario scenario = parse_scenario(R"(
name = "two-boxes"
about = "which is faster?"
[[sweep]]
name = "first"
strategy = ["data", "owt"]    # the order of keys in the file is not that of the axes
cluster = "p100-4x4"
batch_per_device = [16, 32]
model = ["alexnet", "vgg16"]
)",
                                           "s.toml");
  EXPECT_EQ(scenario.name, "two-boxes");
  EXPECT_EQ(scenario.about, "which is faster?");
  ASSERT_EQ(scenario.sweeps.size(), 1U);
  const Sweep& sweep = scenario.sweeps[0];
  EXPECT_EQ(sweep.name, "first");
  EXPECT_EQ(sweep.job, Job::predict);
  EXPECT_EQ(sweep.count(), 8U);
  EXPECT_EQ(case_lines(sweep),
            "model=alexnet cluster=p100-4x4 batch_per_device=16 strategy=data\n"
            "model=alexnet cluster=p100-4x4 batch_per_device=16 strategy=owt\n"
            "model=alexnet cluster=p100-4x4 batch_per_device=32 strategy=data\n"
            "model=alexnet cluster=p100-4x4 batch_per_device=32 strategy=owt\n"
            "model=vgg16 cluster=p100-4x4 batch_per_device=16 strategy=data\n"
            "model=vgg16 cluster=p100-4x4 batch_per_device=16 strategy=owt\n"
            "model=vgg16 cluster=p100-4x4 batch_per_device=32 strategy=data\n"
            "model=vgg16 cluster=p100-4x4 batch_per_device=32 strategy=owt\n");
}

// By place, then key: what is wrong with a value is said of its line.
TEST(Scenario, KnowsTheLineOfEachValue) {
  const Scenario scenario = parse_scenario(R"([[sweep]]
model = "m"
cluster = ["a",
           "b", "c"]
strategy = "data"
batch = [8,

         { from = 16, to = 32, step = 16 }]
zip = [["cluster", "batch"]]
)",
                                           "s.toml");
  const Axis& zipped = scenario.sweeps[0].axes[1];
  ASSERT_EQ(zipped.keys, (std::vector<std::string>{"cluster", "batch"}));
  EXPECT_EQ(zipped.lines, (std::vector<int>{3, 6, 4, 8, 4, 8}));
  EXPECT_EQ(zipped.location(1, 0), (Location{"s.toml", 4}));
  EXPECT_EQ(zipped.location(2, 1), (Location{"s.toml", 8}));
}

TEST(Scenario, WhatTheFileDoesNotSayIsNoSetting) {
  const Scenario scenario =
      parse_scenario("[[sweep]]\njob = \"solve\"\nmodel = \"lenet5\"\ncluster = \"cpu:2\"\n",
                     "some/where/mine.toml");
  EXPECT_EQ(scenario.name, "mine");
  EXPECT_EQ(scenario.file, "some/where/mine.toml");
  EXPECT_TRUE(scenario.text.starts_with("[[sweep]]"));
  EXPECT_EQ(scenario.sweeps[0].name, "sweep-1");
  EXPECT_EQ(scenario.sweeps[0].at(0),
            (std::vector<Setting>{{"model", "lenet5"}, {"cluster", "cpu:2"}}));
}

TEST(Scenario, SettingsAreInOneOrderWhateverTheFiles) {
  const Scenario scenario = parse_scenario(R"(
[[sweep]]
layers = true
degrees = "pow2"
steps = 4
jitter = 7
memory_limit = "8 GiB"
profile = "p.toml"
dtype = "bf16"
sync = "ps"
strategy = "cuts/mine.json"
batch = 512
cluster = "p100-4x4"
model = "vgg16"
[sweep.set]
"link.inter.bandwidth" = "2x"
"device.gpu0.speed" = 0.5
[[sweep]]
job = "solve"
model = "vgg16"
cluster = "p100-4x4"
objective = "simulated"
degrees = "all"
[[sweep]]
job = "run"
seed = 3
lr = 0.01
steps = 10
strategy = "data"
devices = "cpu:2"
model = "lenet5"
)",
                                           "s.toml");
  ASSERT_EQ(scenario.count(), 3U);
  EXPECT_EQ(case_lines(scenario.sweeps[0]),
            "model=vgg16 cluster=p100-4x4 batch=512 strategy=cuts/mine.json sync=ps dtype=bf16 "
            "profile=p.toml memory_limit=8 GiB jitter=7 steps=4 degrees=pow2 layers=true "
            "set.link.inter.bandwidth=2x set.device.gpu0.speed=0.5\n");
  EXPECT_EQ(case_lines(scenario.sweeps[1]),
            "model=vgg16 cluster=p100-4x4 degrees=all objective=simulated\n");
  EXPECT_EQ(case_lines(scenario.sweeps[2]),
            "model=lenet5 devices=cpu:2 strategy=data steps=10 lr=0.01 seed=3\n");
  EXPECT_EQ(scenario.sweeps[1].name, "sweep-2");
  EXPECT_EQ(scenario.sweeps[2].job, Job::run);
  EXPECT_EQ(scenario.sweeps[2].where, (Location{"s.toml", 24}));
}

TEST(Scenario, WhatIfsAreAxesInTheFilesOrder) {
  EXPECT_EQ(cases_with("[sweep.set]\n\"link.inter.bandwidth\" = [\"0.5x\", \"1x\"]\n"
                       "\"device.gpu0.speed\" = { from = 0.5, to = 1, count = 3 }\n"),
            " set.link.inter.bandwidth=0.5x set.device.gpu0.speed=0.5\n"
            " set.link.inter.bandwidth=0.5x set.device.gpu0.speed=0.75\n"
            " set.link.inter.bandwidth=0.5x set.device.gpu0.speed=1\n"
            " set.link.inter.bandwidth=1x set.device.gpu0.speed=0.5\n"
            " set.link.inter.bandwidth=1x set.device.gpu0.speed=0.75\n"
            " set.link.inter.bandwidth=1x set.device.gpu0.speed=1\n");
}

TEST(Scenario, ValuesAreWrittenAsACommandLineWouldHaveThem) {
  EXPECT_EQ(cases_with("layers = [true, false]"), " layers=true\n layers=false\n");
  EXPECT_EQ(
      cases_with("memory_limit = [8, \"8 GiB\", { from = 1, to = 2, step = 1, unit = \"MB\" }]"),
      " memory_limit=8\n memory_limit=8 GiB\n memory_limit=1 MB\n memory_limit=2 MB\n");
  EXPECT_EQ(cases_with("[sweep.set]\nx = [1, 2.0, 0.25, -3, 1e30, 1e6, \"1x\"]"),
            " set.x=1\n set.x=2\n set.x=0.25\n set.x=-3\n set.x=1e+30\n set.x=1000000\n"
            " set.x=1x\n");
}

TEST(Scenario, AValueOfProfilesIsOneFileOrAListOfThem) {
  EXPECT_EQ(cases_with("profile = \"a.toml\""), " profile=a.toml\n");
  EXPECT_EQ(cases_with("profile = [\"a.toml\", \"b.toml\"]"), " profile=a.toml\n profile=b.toml\n");
  EXPECT_EQ(cases_with("profile = [[\"a.toml\", \"b.toml\"], \"c.toml\"]"),
            " profile=a.toml,b.toml\n profile=c.toml\n");
}

TEST(Scenario, ZippedListsAdvanceTogetherInThePlaceOfTheFirst) {
  const Scenario scenario = parse_scenario(R"(
[[sweep]]
model = ["alexnet", "vgg16"]
cluster = ["p100-1x4", "p100-4x4"]
batch = [128, 512]
strategy = ["data", "owt"]
zip = [["cluster", "batch"]]
)",
                                           "s.toml");
  EXPECT_EQ(case_lines(scenario.sweeps[0]),
            "model=alexnet cluster=p100-1x4 batch=128 strategy=data\n"
            "model=alexnet cluster=p100-1x4 batch=128 strategy=owt\n"
            "model=alexnet cluster=p100-4x4 batch=512 strategy=data\n"
            "model=alexnet cluster=p100-4x4 batch=512 strategy=owt\n"
            "model=vgg16 cluster=p100-1x4 batch=128 strategy=data\n"
            "model=vgg16 cluster=p100-1x4 batch=128 strategy=owt\n"
            "model=vgg16 cluster=p100-4x4 batch=512 strategy=data\n"
            "model=vgg16 cluster=p100-4x4 batch=512 strategy=owt\n");
}

TEST(Scenario, AZipMayNameWhatIfsAndRepeatValuesThatDifferTogether) {
  EXPECT_EQ(cases_with("batch = [32, 32, 64]\nsync = [\"ps\", \"ring\"]\n"
                       "zip = [[\"set.a\", \"batch\", \"set.b\"]]\n"
                       "[sweep.set]\na = [1, 2, 2]\nb = [\"x\", \"x\", \"x\"]\n"),
            " sync=ps set.a=1 batch=32 set.b=x\n"
            " sync=ps set.a=2 batch=32 set.b=x\n"
            " sync=ps set.a=2 batch=64 set.b=x\n"
            " sync=ring set.a=1 batch=32 set.b=x\n"
            " sync=ring set.a=2 batch=32 set.b=x\n"
            " sync=ring set.a=2 batch=64 set.b=x\n");
}

TEST(Scenario, SeveralZips) {
  EXPECT_EQ(cases_with("sync = [\"ps\", \"ring\"]\ndtype = [\"fp32\", \"bf16\"]\njitter = [3, 4]\n"
                       "steps = [5, 6]\nzip = [[\"sync\", \"steps\"], [\"jitter\", \"dtype\"]]\n"),
            " sync=ps steps=5 jitter=3 dtype=fp32\n"
            " sync=ps steps=5 jitter=4 dtype=bf16\n"
            " sync=ring steps=6 jitter=3 dtype=fp32\n"
            " sync=ring steps=6 jitter=4 dtype=bf16\n");
}

TEST(Scenario, JobsHaveNames) {
  EXPECT_EQ(name(Job::predict), "predict");
  EXPECT_EQ(name(Job::solve), "solve");
  EXPECT_EQ(name(Job::run), "run");
}

TEST(Scenario, TheExampleIsReadAndHasTheCasesThatItPromises) {
  const Scenario scenario = read_scenario(source_path("scenarios/what-if.toml"));
  EXPECT_EQ(scenario.name, "what-if");
  ASSERT_EQ(scenario.sweeps.size(), 2U);
  EXPECT_EQ(scenario.sweeps[0].count(), 6U * 3U);
  EXPECT_EQ(scenario.sweeps[1].count(), 4U * 3U);
  EXPECT_EQ(case_line(scenario.sweeps[0], 17),
            "model=vgg16 cluster=p100-4x4 strategy=optimal set.link.inter.bandwidth=100 GB/s");
  EXPECT_EQ(case_line(scenario.sweeps[1], 0),
            "model=vgg16 cluster=p100-4x4 strategy=data set.device.gpu15.speed=0.25");
  EXPECT_GE(scenario.report.size(), 3U);
}

TEST(Scenario, TheReferencesExamplesAreRead) {
  const std::string text = read_file(source_path("docs/scenarios.md"));
  const std::string open = "```toml\n";
  int examples = 0;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos; ++examples) {
    at += open.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    EXPECT_EQ(said([&] { parse_scenario(example, "s.toml"); }), "") << example;
  }
  EXPECT_GE(examples, 3);
}

}  // namespace
}  // namespace strata
