// What every answer's JSON has, whatever was asked.

#include "sim/json/answer_json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/sim/measure/fake_runner.h"
#include "tests/sim/train/small_run.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;
using Settings = std::vector<Setting>;
using ::testing::HasSubstr;

const Settings kLenet5 = {{"model", "lenet5"}, {"cluster", "p100-1x2"}, {"batch", "64"}};

Json answer(std::string_view command, Settings more) {
  Settings settings = kLenet5;
  settings.insert(settings.end(), more.begin(), more.end());
  return to_json(ask(understand(command, settings)));
}

TEST(AnswerJson, NamesEverySettingOfEachJob) {
  const auto check = [](Job job, const Request& request) {
    const Json json = settings_json(request);
    for (const SettingSpec& setting : settings()) {
      if (!goes_with(setting, job) || setting.key == "layers") continue;  // that is of rows alone
      EXPECT_TRUE(json.contains(std::string(setting.key))) << name(job) << " " << setting.key;
    }
  };
  check(Job::predict, PredictRequest());
  check(Job::solve, SolveRequest());
  check(Job::run, RunRequest());
}

TEST(AnswerJson, SaysWhatWasAsked) {
  const Json json = answer("predict", {{"strategy", "data"},
                                       {"zero", "2"},
                                       {"recompute", "full"},
                                       {"allow_unsupported", "true"},
                                       {"set.overlap", "off"}});
  EXPECT_EQ(json["settings"]["model"], "lenet5");
  EXPECT_EQ(json["settings"]["batch"], 64);
  EXPECT_EQ(json["settings"]["zero"], "2");
  EXPECT_EQ(json["settings"]["recompute"], "full");
  EXPECT_EQ(json["settings"]["allow_unsupported"], true);
  EXPECT_EQ(json["settings"]["micro_batch"], nullptr);
  EXPECT_EQ(json["what_ifs"], Json({{"overlap", "off"}}));
  EXPECT_EQ(json["fits"], "yes");
}

TEST(AnswerJson, OfSeveralPredictionsIsAnArray) {
  const Json json = answer("predict", {{"strategy", "data,owt"}, {"set.device.*.memory", "1MB"}});
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1]["strategy"], "owt");
  EXPECT_EQ(json[0]["fits"], "no");
  EXPECT_THAT(json[0]["warnings"][0].get<std::string>(), HasSubstr("of memory"));
}

TEST(AnswerJson, OfASearchThatFoundNothingSaysWhy) {
  const Json json = answer("solve", {{"memory_limit", "1024"}});
  EXPECT_EQ(json["strategy"], nullptr);
  EXPECT_THAT(json["error"].get<std::string>(), HasSubstr("no strategy within"));
  EXPECT_EQ(json["settings"]["memory_limit"], 1024);
}

TEST(AnswerJson, OfEachCommandHasWhatTheCommandPrints) {
  EXPECT_TRUE(answer("solve", {}).contains("lower_bound_seconds"));
  EXPECT_TRUE(answer("explain", {{"strategy", "data"}}).contains("rivals"));
  EXPECT_TRUE(answer("explain", {{"strategy", "data"}, {"layer", "fc1"}}).contains("configs"));
  EXPECT_TRUE(answer("diff", {{"before", "data"}, {"after", "owt"}}).contains("changed_layers"));
}

TEST(AnswerJson, OfARunNamesItsDevices) {
  strata::testing::FakeRunner runner;
  AskOptions options;
  options.runner = &runner;
  const Json json = to_json(ask(strata::testing::small_run(), options));
  EXPECT_EQ(json["settings"]["devices"], "cpu:1");
  EXPECT_EQ(json["settings"]["optimizer"], "sgd");
  EXPECT_TRUE(json.contains("losses"));
}

}  // namespace
}  // namespace strata
