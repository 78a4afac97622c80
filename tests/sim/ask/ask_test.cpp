// Requests by settings, and their answers, beside what the rooms behind the front door say.

#include "sim/ask/ask.h"

#include <atomic>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/search/asked_strategy.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "tests/folder.h"
#include "tests/sim/measure/fake_runner.h"

namespace strata {
namespace {

using strata::testing::FakeRunner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Settings = std::vector<Setting>;

const Settings kLenet5 = {{"model", "lenet5"}, {"cluster", "p100-1x2"}, {"batch", "64"}};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::string refusal(std::string_view command, const Settings& settings) {
  try {
    ask(understand(command, settings));
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

// A value of each form of settings, other than the usual one, that all requests take.
std::string other_value(const SettingSpec& setting) {
  if (setting.form == ValueForm::choice) return std::string(setting.choices.back());
  if (setting.form == ValueForm::flag) return "true";
  if (setting.form == ValueForm::size) return "3 MiB";
  if (setting.form == ValueForm::files) return "other.toml";
  if (setting.form == ValueForm::dims) return "height=3";
  if (setting.form == ValueForm::training) return "lora:r=4";
  if (setting.form == ValueForm::text || setting.form == ValueForm::strategy) return "none";
  return "7";
}

template <class Value>
std::string text_of(std::string_view key, const Value& value) {
  if constexpr (std::floating_point<Value> || std::same_as<Value, bool>) {
    return fmt::format("{}", value);
  } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
    return fmt::format("{}", fmt::join(value, ","));
  } else if constexpr (std::is_enum_v<Value> || std::same_as<Value, Bytes> ||
                       std::same_as<Value, OpenDims>) {
    return print_setting(key, value);
  } else {
    return fmt::format("{}", value);
  }
}
template <class Value>
std::string text_of(std::string_view key, const std::optional<Value>& value) {
  return value ? text_of(key, *value) : "";
}

template <class Asked>
std::map<std::string, std::string> texts_of(const Asked& request) {
  std::map<std::string, std::string> texts;
  each_setting(request, [&](std::string_view key, const auto& value) {
    texts[std::string(key)] = text_of(key, value);
  });
  return texts;
}

/// Each setting, given by itself, changes itself and nothing else.
template <class Asked>
void take_each(std::string_view command) {
  const std::map<std::string, std::string> usual = texts_of(Asked());
  for (const auto& [key, before] : usual) {
    const SettingSpec* const known = find_setting(key);
    if (known == nullptr || key == "as") continue;
    const Request read = understand(command, Settings{{key, other_value(*known)}});
    std::map<std::string, std::string> after = texts_of(std::get<Asked>(read));
    EXPECT_NE(after[key], before) << command << " " << key;
    after[key] = before;
    EXPECT_EQ(after, usual) << command << " " << key;
  }
}

TEST(Understand, TakesEverySettingOfEachCommand) {
  take_each<PredictRequest>("predict");
  take_each<SolveRequest>("solve");
  take_each<ExplainRequest>("explain");
  take_each<DiffRequest>("diff");
  take_each<RunRequest>("run");
}

TEST(Understand, TakesWhatIfsAndFilesOfAFolder) {
  const Request request = understand("predict",
                                     Settings{{"model", "net.toml"},
                                              {"cluster", "p100-1x2"},
                                              {"strategy", "cut.json"},
                                              {"profile", "a.toml,b.toml"},
                                              {"set.device.*.speed", "2x"}},
                                     "/there");
  const auto& read = std::get<PredictRequest>(request);
  EXPECT_EQ(read.input.model, "/there/net.toml");
  EXPECT_EQ(read.input.cluster, "p100-1x2");
  EXPECT_EQ(read.strategy, "/there/cut.json");
  EXPECT_THAT(read.input.profiles, ElementsAre("/there/a.toml", "/there/b.toml"));
  EXPECT_THAT(read.input.sets, ElementsAre(std::pair("device.*.speed", "2x")));
  EXPECT_EQ(&case_of(request), &read.input);
}

TEST(Understand, ChoosesWhatTheFrameworkDoesWhereNobodyDid) {
  const Request usual = understand("predict", with(kLenet5, {{"as", "ddp-2017"}}));
  const Request said =
      understand("predict", with(kLenet5, {{"as", "ddp-2017"}, {"bucket", "3 MiB"}}));
  EXPECT_NE(case_of(usual).training.sync.bucket, case_of(said).training.sync.bucket);
  EXPECT_EQ(case_of(said).training.sync.bucket, Bytes{3 << 20});
}

TEST(Understand, NamesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("predict", {{"colour", "red"}}), HasSubstr("colour: unknown setting"));
  EXPECT_THAT(refusal("run", {{"set.overlap", "off"}}), HasSubstr("set.overlap: unknown setting"));
  EXPECT_THAT(refusal("guess", {}), HasSubstr("'guess' is no question; allowed: predict"));
  EXPECT_THAT(refusal("run", {{"check", "yes"}}), HasSubstr("check: 'yes'; allowed: true, false"));
  EXPECT_THAT(refusal("predict", {{"batch", "0"}}), HasSubstr("batch"));
}

TEST(Ask, PredictsEachStrategyAsPredictDoes) {
  const Request request =
      understand("predict", with(kLenet5, {{"strategy", "data,owt"}, {"jitter", "1"}}));
  const Answer answer = ask(request);
  const auto& found = std::get<std::vector<Predicted>>(answer.found);
  ASSERT_EQ(found.size(), 2U);
  for (const auto& [prediction, jitter, fits] : found) {
    const Strategy& strategy = prediction.strategy;
    const Case input = load_case(case_of(request));
    EXPECT_EQ(prediction.step_seconds(), predict(input, strategy).step_seconds());
    EXPECT_TRUE(jitter);
    EXPECT_TRUE(fits);
  }
  EXPECT_EQ(found[1].prediction.strategy.name(), "owt");
  EXPECT_EQ(answer.input->batch(), 64);
}

TEST(Ask, SaysWhatMakesAPredictionDoubtful) {
  std::vector<std::string> told;
  AskOptions options;
  options.warn = [&](const std::string& doubt) { told.push_back(doubt); };
  const Settings settings = with(kLenet5, {{"strategy", "data"}, {"set.device.*.memory", "1MB"}});
  const Answer answer = ask(understand("predict", settings), options);
  EXPECT_FALSE(std::get<std::vector<Predicted>>(answer.found).front().fits);
  EXPECT_EQ(told, answer.warnings);
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(told.front(), HasSubstr("of memory, it has 1.00 MB"));
  options.warnings = Warnings::none;
  EXPECT_THAT(ask(understand("predict", settings), options).warnings, IsEmpty());
}

TEST(Ask, TellsAsMuchAsIsAskedFor) {
  auto request =
      std::get<PredictRequest>(understand("predict", with(kLenet5, {{"strategy", "data"}})));
  request.input.cluster = "p100-4x4";
  const auto found = [&](Detail detail) {
    request.detail = detail;
    return std::get<std::vector<Predicted>>(ask(request).found).front().prediction;
  };
  const Prediction figures = found(Detail::figures), parts = found(Detail::parts);
  EXPECT_EQ(figures.path.compute.value, 0);
  EXPECT_GT(parts.path.compute.value, 0);
  EXPECT_NE(parts.plan.classes(), nullptr);
  EXPECT_EQ(found(Detail::timelines).plan.classes(), nullptr);
  EXPECT_EQ(figures.step_seconds(), parts.step_seconds());
}

TEST(Ask, ASearchThatMustFitSaysThatNothingDoes) {
  auto request = std::get<PredictRequest>(
      understand("predict", with(kLenet5, {{"strategy", "optimal"}, {"memory_limit", "1024"}})));
  request.must_fit = true;
  EXPECT_THAT(([&] { ask(request); }),
              ::testing::ThrowsMessage<InputError>(HasSubstr("within `memory_limit`")));
}

TEST(Ask, SolvesAndKeepsLayers) {
  const Answer answer =
      ask(understand("solve", with(kLenet5, {{"keep", "fc1"}, {"strategy", "data"}})));
  const Solved& solved = std::get<Solved>(answer.found);
  ASSERT_FALSE(solved.best.empty());
  const Strategy data = load_strategy("data", *answer.input);
  const LayerId fc1 = answer.input->graph.find("fc1");
  EXPECT_EQ(solved.best.front().strategy[fc1].degrees, data[fc1].degrees);
  EXPECT_THAT(refusal("solve", with(kLenet5, {{"keep", "fc1"}})), HasSubstr("`keep` fc1"));
  EXPECT_THAT(refusal("solve", with(kLenet5, {{"strategy", "data"}})),
              HasSubstr("`strategy` data"));
}

TEST(Ask, NoNamesOfLayersKeepNone) {
  const Request request = understand("solve", with(kLenet5, {{"keep", ""}}));
  EXPECT_THAT(std::get<SolveRequest>(request).keep, IsEmpty());
}

// What is kept does not depend on how long the search may take.
TEST(Ask, KeepsWhatIsOptimalWhateverTheSearchItselfMay) {
  const Answer answer = ask(understand(
      "solve", with(kLenet5, {{"keep", "fc1"}, {"strategy", "optimal"}, {"gap", "0.9"}})));
  const Strategy optimal = load_strategy("optimal", *answer.input);
  const LayerId fc1 = answer.input->graph.find("fc1");
  EXPECT_EQ(std::get<Solved>(answer.found).best.front().strategy[fc1], optimal[fc1]);
}

Predicted answer_to(const PredictRequest& request, const AskOptions& options = {}) {
  return std::get<std::vector<Predicted>>(ask(request, options).found).front();
}

TEST(Ask, PredictsConfigsThatStandInNoFile) {
  auto request =
      std::get<PredictRequest>(understand("predict", with(kLenet5, {{"strategy", "owt"}})));
  const Predicted named = answer_to(request);
  const auto configs = named.prediction.strategy.configs();
  request.configs.assign(configs.begin(), configs.end());
  request.strategy = "mine, edited";
  const Predicted given = answer_to(request);
  EXPECT_EQ(given.prediction.step_seconds(), named.prediction.step_seconds());
  EXPECT_EQ(given.prediction.strategy.name(), "mine, edited");
  request.configs.pop_back();
  EXPECT_THROW(ask(request), InputError);
}

TEST(Ask, TakesACaseThatIsLoaded) {
  auto request =
      std::get<PredictRequest>(understand("predict", with(kLenet5, {{"strategy", "data"}})));
  AskOptions options;
  options.input = ask(request).input;
  CaseMemo memo(*options.input);
  options.memo = &memo;
  std::size_t loaded = 0;
  options.loaded = [&](const Case& /*input*/) { ++loaded; };
  const Answer answer = ask(request, options);
  EXPECT_EQ(answer.input, options.input);
  EXPECT_EQ(loaded, 1U);
  EXPECT_EQ(std::get<std::vector<Predicted>>(answer.found).front().prediction.step_seconds(),
            answer_to(request).prediction.step_seconds());
}

// A name with a comma is a file's before it is two names.
TEST(Ask, AFilesNameMayHaveAComma) {
  const testing::Folder folder("ask");
  const std::string file = folder.file("a,b.json");
  auto request =
      std::get<PredictRequest>(understand("predict", with(kLenet5, {{"strategy", "owt"}})));
  const Answer answer = ask(request);
  const Predicted& named = std::get<std::vector<Predicted>>(answer.found).front();
  const Case& input = *answer.input;
  write_file_whole(file, print_strategy(named.prediction.strategy, input.graph, input.cluster));
  request.strategy = file;
  EXPECT_EQ(answer_to(request).prediction.step_seconds(), named.prediction.step_seconds());
}

TEST(Ask, CountsOfExpertsAreBesideTheScenario) {
  const auto request = std::get<PredictRequest>(
      understand("predict", with(kLenet5, {{"set.experts.load", "counts.txt"}}), "scenarios"));
  EXPECT_EQ(request.input.sets, (WhatIfs{{"experts.load", "scenarios/counts.txt"}}));
}

TEST(Ask, RefusesWhatIsSlowWhereItIsTo) {
  auto request = std::get<PredictRequest>(understand(
      "predict", Settings{{"model", "vgg16"}, {"cluster", "p100-512x4"}, {"strategy", "model"}}));
  request.refuse_slow = true;
  request.detail = Detail::memory;
  EXPECT_THAT(([&] { ask(request); }),
              ::testing::ThrowsMessage<InputError>(HasSubstr("takes too long")));
}

TEST(Ask, ExplainsAStepALayerAndADifference) {
  const Answer step = ask(understand("explain", with(kLenet5, {{"strategy", "data"}})));
  EXPECT_EQ(std::get<Story>(step.found).strategy.name(), "data");
  const Answer layer =
      ask(understand("explain", with(kLenet5, {{"strategy", "data"}, {"layer", "fc1"}})));
  EXPECT_EQ(std::get<ExplainedLayer>(layer.found).layer, layer.input->graph.find("fc1"));
  const Answer both =
      ask(understand("diff", with(kLenet5, {{"before", "data"}, {"after", "owt"}})));
  EXPECT_FALSE(std::get<StrategyDiff>(both.found).changed.empty());
  EXPECT_THAT(refusal("explain", with(kLenet5, {{"layer", "fc9"}})), HasSubstr("no such layer"));
  EXPECT_THAT(refusal("diff", {{"before", "data"}, {"after", "owt"}}), HasSubstr("`model` NAME"));
}

TEST(Ask, RunsOnTheDevicesOfARunner) {
  FakeRunner runner;
  AskOptions options;
  options.runner = &runner;
  const Request request = understand("run", Settings{{"model", "lenet5"},
                                                     {"devices", "cpu:2"},
                                                     {"strategy", "data"},
                                                     {"batch", "4"},
                                                     {"steps", "3"}});
  const Answer answer = ask(request, options);
  const auto& [report, machine] = std::get<RunAnswer>(answer.found);
  EXPECT_EQ(report.trained.losses.size(), 3U);
  EXPECT_EQ(machine, runner.description("cpu:2"));
  EXPECT_THROW(ask(request), EnvironmentError);
}

TEST(Ask, StopsWhenItIsCalledOff) {
  const std::atomic<bool> cancelled = true;
  AskOptions options;
  options.cancelled = &cancelled;
  EXPECT_THROW(ask(understand("predict", with(kLenet5, {{"strategy", "data"}})), options),
               Cancelled);
}

}  // namespace
}  // namespace strata
