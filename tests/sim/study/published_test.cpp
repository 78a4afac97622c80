// Published steps: a page and a table are read as the cases that they stand for, and what is wrong
// with either is named by file and line; errors and ranks are those of hand calculation.

#include "sim/study/published/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/trust/expected_error.h"
#include "sim/trust/step_interval.h"

namespace strata {
namespace {

constexpr std::string_view kPage = R"(title = "Steps"
device = "p100"
source = "somebody"
licence = "MIT"
table = "steps.csv"
unit = "ms"
measured = "{ms}"
network = "{net}"
choice = "{net}, batch {batch}"

[case]
model = "{net}"
cluster = "p100-1x{gpus}"
strategy = "{how}"
batch = "{batch}"

[case.set]
overlap = "off"
)";
constexpr std::string_view kTable = R"(net,gpus,batch,how,ms
lenet5,2,64,data,1.5
lenet5,4,64,model,2.5
)";

PublishedTable parse(std::string_view page, std::string_view table) {
  return parse_published(page, "steps.toml", table, "steps.csv");
}

std::string error_of(std::string_view page, std::string_view table) {
  try {
    parse(page, table);
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

std::string page_with(std::string_view from, std::string_view to) {
  std::string page(kPage);
  return page.replace(page.find(from), from.size(), to);
}

TEST(Published, RowsAreCases) {
  const PublishedTable table = parse(kPage, kTable);
  ASSERT_EQ(table.steps.size(), 2u);
  const PublishedStep& step = table.steps[1];
  EXPECT_EQ(step.request.model, "lenet5");
  EXPECT_EQ(step.request.cluster, "p100-1x4");
  EXPECT_EQ(step.request.training.batch, 64);
  EXPECT_EQ(step.request.sets, (WhatIfs{{"overlap", "off"}}));
  EXPECT_EQ(step.strategy, "model");
  EXPECT_EQ(step.measured, Seconds{2.5e-3});
  EXPECT_EQ(step.choice, "lenet5, batch 64");
  EXPECT_EQ(step.line, 3);
  EXPECT_FALSE(step.fitted);
}

TEST(Published, SamplesASecondAreTimes) {
  const PublishedTable table = parse(page_with("\"ms\"", "\"samples/s\""), kTable);
  EXPECT_NEAR(table.steps[0].measured.value, 64 / 1.5, 1e-12);
}

TEST(Published, SomeRowsAreLeftOut) {
  const PublishedTable table =
      parse(page_with("[case]", "[rows]\nhow = [\"data\"]\n\n[case]"), kTable);
  ASSERT_EQ(table.steps.size(), 1u);
  EXPECT_EQ(table.steps[0].strategy, "data");
}

TEST(Published, MistakesAreNamed) {
  EXPECT_EQ(error_of(page_with("{ms}", "{us}"), kTable),
            "steps.toml:7: no column 'us' in the table; allowed: net, gpus, batch, how, ms");
  EXPECT_EQ(error_of(page_with("batch = \"{b", "bach = \"{b"), kTable),
            "steps.toml:15: 'bach' is no setting of a case");
  EXPECT_EQ(error_of(page_with("\"ms\"", "\"us\""), kTable),
            "steps.toml:6: 'unit' must be s, ms or samples/s; it is \"us\"");
  EXPECT_EQ(error_of(kPage, "net,gpus,batch,how,ms\nlenet5,2,64,data\n"),
            "steps.csv:2: 4 cells; allowed: 5, as the first line has columns");
  EXPECT_EQ(error_of(kPage, "net,gpus,batch,how,ms\nlenet5,2,64,data,0\n"),
            "steps.csv:2: what was measured must be above 0");
  EXPECT_EQ(error_of(kPage, ""), "steps.csv:1: no columns are named");
}

// Of steps within one percent nobody knows which one is faster.
TEST(Published, ExactPredictionsRankNoBetterThanStepsAreMeasured) {
  PublishedResult result;
  for (int i = 0; i < 6; ++i) {
    PublishedStep step;
    step.measured = {1 + 0.002 * i};
    step.network = "net";
    result.table.steps.push_back(step);
    result.answers.push_back({step.measured});
  }
  const RankSummary ranks = ranks_of(result, std::nullopt);
  EXPECT_EQ(ranks.correlation, 1);
  EXPECT_LT(ranks.exact, 0.5);
  EXPECT_GT(ranks.exact, 0);
}

TEST(Published, ErrorsAndRanks) {
  PublishedTable table;
  const double measured[] = {1, 2, 3, 4, 5, 8}, predicted[] = {1.1, 1.8, 3.3, 3.2, 5, 8};
  PublishedResult result;
  for (std::size_t i = 0; i < 6; ++i) {
    PublishedStep step;
    step.measured = {measured[i]};
    step.network = "net";
    step.choice = i < 2 ? "two" : i < 5 ? "three" : "one";
    table.steps.push_back(step);
    result.answers.push_back({{predicted[i]}});
  }
  result.table = table;
  const ErrorSummary errors = errors_of(result, std::nullopt);
  EXPECT_EQ(errors.rows, 6u);
  EXPECT_NEAR(errors.mean, (0.1 + 0.1 + 0.1 + 0.2) / 6, 1e-12);
  EXPECT_NEAR(errors.worst, 0.2, 1e-12);
  EXPECT_NEAR(errors.bias, (0.1 - 0.1 + 0.1 - 0.2) / 6, 1e-12);
  const RankSummary ranks = ranks_of(result, std::nullopt);
  EXPECT_EQ(ranks.networks, 1u);
  EXPECT_NEAR(ranks.correlation, 1 - 6 * 2.0 / (6 * 35), 1e-12);  // two neighbours change places
  EXPECT_EQ(ranks.exact, 1);  // steps that lie further apart than 2 %
  EXPECT_EQ(ranks.choices, 2u);
  EXPECT_NEAR(ranks.regret, 0.5 * (4.0 / 3 - 1), 1e-12);  // 4 is chosen where 3 would do
}

TEST(Published, CoverageIsOfTheOtherHalfsInterval) {
  PublishedResult result;
  for (int i = 0; i < 80; ++i) {
    PublishedStep step;
    step.measured = {1};
    step.fitted = i % 2 == 0;
    result.table.steps.push_back(step);
    // Half of the rows that are fitted are off by far more than any other.
    const double off = step.fitted && i % 4 == 0 ? 0.2 : 0.001 * i;
    result.answers.push_back({{1 + off}});
  }
  EXPECT_DOUBLE_EQ(*coverage_of(result, true), 0.45);
  EXPECT_DOUBLE_EQ(*coverage_of(result, false), 0.875);
  for (PublishedStep& step : result.table.steps) step.fitted = false;
  EXPECT_FALSE(coverage_of(result, false));
}

TEST(Published, MemoryIsJudgedWhereItWasMeasured) {
  PublishedResult result;
  result.table.steps.resize(3);
  result.table.steps[0].memory = {Bytes{100}};
  result.table.steps[2].memory = {Bytes{200}};
  result.answers = {{{1}}, {{1}}, {{1}}};
  result.answers[0].memory = Bytes{110};
  result.answers[2].memory = Bytes{150};
  result.answers[2].fits = false;
  const MemorySummary summary = memory_of(result);
  EXPECT_EQ(summary.rows, 2u);
  EXPECT_EQ(summary.said_not_to_fit, 1u);
  EXPECT_NEAR(summary.mean, 0.175, 1e-12);
  EXPECT_NEAR(summary.bias, -0.075, 1e-12);
  EXPECT_NEAR(summary.worst, 0.25, 1e-12);
}

TEST(Published, NoIntervalRestsOnUnusualSteps) {
  PublishedResult result;
  result.table.file = "net.toml";
  result.table.steps.resize(2);
  result.answers = {{{1}}, {{1}}};
  for (PublishedStep& step : result.table.steps) step.measured = {1};
  EXPECT_EQ(error_records(std::span(&result, 1)).size(), 1u);
  result.table.usual = false;
  EXPECT_TRUE(error_records(std::span(&result, 1)).empty());
}

TEST(Published, WhatShipsIsRead) {
  for (const std::string& name : shipped_published()) {
    const PublishedTable table = load_published(name);
    EXPECT_FALSE(table.steps.empty()) << name;
    EXPECT_FALSE(table.source.empty()) << name;
  }
}

// Half of them were fitted to, whatever the order of the table.
TEST(Published, HalfIsHeldBack) {
  const PublishedTable table = load_published("megatron-a100");
  const auto fitted = std::count_if(table.steps.begin(), table.steps.end(),
                                    [](const PublishedStep& step) { return step.fitted; });
  EXPECT_NEAR(static_cast<double>(fitted) / static_cast<double>(table.steps.size()), 0.5, 0.05);
}

CaseRequest request_of(const char* model, const char* cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  request.training.batch = 64;
  return request;
}

// Six rows of one sort, four of which were fitted to.
// The launches of `--as nemo` are fitted to mixtures. Dense steps, of which the shortest are here,
// neither have them nor would wait for them.
TEST(Published, DenseStepsDoNotWaitForLaunchesOfNemo) {
  PublishedTable table = load_published("nemo-h100");
  std::erase_if(table.steps, [](const PublishedStep& step) {
    return !step.request.cluster.starts_with("h100-1x");
  });
  ASSERT_EQ(table.steps.size(), 5U);
  const auto all = [](std::size_t) {};
  const PublishedResult own = predict_published(table, {}, all);
  const PublishedResult launched =
      predict_published(table, {{"launch.forward", "45us"}, {"launch.backward", "45us"}}, all);
  for (std::size_t i = 0; i < table.steps.size(); ++i) {
    EXPECT_NEAR(launched.error(i), own.error(i), 1e-9) << i;
  }
}

TEST(ExpectedErrors, AreOfRowsThatNothingWasFittedTo) {
  PublishedResult result;
  result.table.file = "profiles/mine.toml";
  const double off[] = {0.5, 0.1, 0.5, -0.3, 0.5, 0.5};
  for (std::size_t i = 0; i < 6; ++i) {
    PublishedStep step;
    step.measured = {1};
    step.fitted = i != 1 && i != 3;
    result.table.steps.push_back(step);
    PublishedAnswer answer{{1 + off[i]}, {"a100", NetworkFamily::transformer, {}, "16 bit"}};
    answer.devices = i == 4 ? 64 : i + 1;
    answer.hosts = 1;
    answer.parameters = 100;
    result.answers.push_back(answer);
  }
  const std::vector<ErrorRecord> records = error_records({&result, 1});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].sort, result.answers[0].sort);
  EXPECT_EQ(records[0].error,
            (ExpectedError{"mine", false, 2, 4, 1, 100, 0.2, 0.29, 0.0964, 13.4719}));
  EXPECT_EQ(parse_errors(print_errors(records), "errors.csv"), records);
}

TEST(ExpectedErrors, AreThoseOfTheStepsThatShip) {
  const PublishedResult result =
      predict_published(load_published("tensorflow-2017"), {}, [](std::size_t) {});
  std::size_t seen = 0;
  for (const ErrorRecord& record : error_records({&result, 1})) {
    const std::string model = record.sort.family == NetworkFamily::convolutional ? "vgg16" : "gpt2";
    const CaseRequest request = request_of(model.c_str(), (record.sort.kind + "-1x1").c_str());
    EXPECT_EQ(expected_error(request, load_case(request)), record.error)
        << "strata validate --published -o profiles/published/errors.csv writes them anew";
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
}

TEST(ExpectedErrors, AreUnknownWhereNoStepWasAsLarge) {
  const auto known = [](const char* model, const char* cluster, const char* framework,
                        DType dtype = DType::fp32) {
    CaseRequest request = request_of(model, cluster);
    request.training.dtype = dtype;
    request.framework = framework;
    return expected_error(request, load_case(request)).has_value();
  };
  EXPECT_TRUE(known("gpt2", "a100-1x8", "megatron", DType::bf16));
  EXPECT_TRUE(known("llama2-7b", "a100-64x8", "megatron", DType::bf16));
  EXPECT_TRUE(known("gpt2", "a100-1x8", "none", DType::bf16));
  EXPECT_FALSE(known("gpt2", "a100-512x8", "megatron", DType::bf16));
  EXPECT_FALSE(known("gpt2", "a100-1x8", "megatron", DType::fp32));
  EXPECT_FALSE(known("gpt2", "h100-1x8", "megatron", DType::bf16));
  EXPECT_FALSE(known("resnet50", "a100-1x8", "megatron", DType::bf16));
  EXPECT_FALSE(known("resnet50", "p100-1x2", "none"));
  CaseRequest changed = request_of("resnet50", "p100-1x1");
  EXPECT_TRUE(expected_error(changed, load_case(changed)));
  changed.sets = {{"device.*.speed", "0.5"}};
  EXPECT_FALSE(expected_error(changed, load_case(changed)));
}

// Of the sort, else of what is nearest, wider for each thing that is not in common.
TEST(StepIntervals, AreOfTheNearestStepsThatArePublished) {
  const ErrorRecord gpt{{"a100", NetworkFamily::transformer, "megatron", "16 bit"},
                        {"mine", false, 30, 8, 1, 1'000'000'000, 0.1, 0.2, 0.9, 1.2}};
  const ErrorRecord cnn{{"a100", NetworkFamily::convolutional, "none", "fp32"},
                        {"others", false, 20, 8, 1, 100'000'000, 0.1, 0.2, 0.8, 1.1}};
  const std::vector<ErrorRecord> records = {gpt, cnn};
  const auto interval = [&](const char* cluster, const char* framework, DType dtype) {
    CaseRequest request = request_of("gpt2", cluster);
    request.training.dtype = dtype;
    request.framework = framework;
    return step_interval(records, request, load_case(request));
  };
  const StepInterval same = interval("a100-1x8", "megatron", DType::bf16);
  EXPECT_EQ(same.basis, IntervalBasis::sort);
  EXPECT_DOUBLE_EQ(same.low, 0.9);
  EXPECT_DOUBLE_EQ(same.high, 1.2);
  EXPECT_EQ(same.figures, std::vector<std::string>{"mine"});
  const StepInterval larger = interval("a100-2x8", "megatron", DType::bf16);
  EXPECT_EQ(larger.basis, IntervalBasis::framework);
  EXPECT_NEAR(larger.high / larger.low, std::pow(1.2 / 0.9, 1.25), 1e-9);
  const StepInterval other = interval("a100-1x8", "mosaic", DType::bf16);
  EXPECT_EQ(other.basis, IntervalBasis::family);
  EXPECT_NEAR(other.high / other.low, std::pow(1.2 / 0.9, 1.25 * 1.25), 1e-9);
  EXPECT_THAT(interval_text(other, "data", Seconds{1}),
              ::testing::HasSubstr("30 published steps of such networks by other software (mine)"));
  // Software that loses nothing takes what is predicted.
  EXPECT_LE(interval("a100-1x8", "none", DType::bf16).low, 1);
}

// Experts, and networks larger than any, have steps of their own kind or none.
TEST(StepIntervals, AreOfNothingWhereNothingIsNear) {
  const std::vector<ErrorRecord> records = {
      {{"a100", NetworkFamily::transformer, "megatron", "16 bit"},
       {"mine", true, 30, 8, 1, 1'000'000'000, 0.1, 0.2, 0.9, 1.2}},
      {{"a100", NetworkFamily::transformer, "mosaic", "16 bit"},
       {"few", false, 3, 8, 1, 100'000'000'000, 0.1, 0.2, 0.1, 9}}};
  const auto interval = [&](const char* model, const char* framework) {
    CaseRequest request = request_of(model, "a100-1x8");
    request.training.dtype = DType::bf16;
    request.framework = framework;
    return step_interval(records, request, load_case(request));
  };
  const StepInterval fitted = interval("gpt2", "megatron");
  EXPECT_THAT(interval_text(fitted, "data", Seconds{1}), ::testing::HasSubstr("(mine, to which"));
  for (const char* model : {"qwen3-30b-a3b", "llama3-8b"}) {
    const StepInterval found = interval(model, "megatron");
    EXPECT_EQ(found.basis, IntervalBasis::none) << model;
    EXPECT_THAT(interval_text(found, "data", Seconds{1}),
                ::testing::StartsWith("No published step is near enough"));
  }
  EXPECT_EQ(interval("gpt2", "nemo").figures, std::vector<std::string>{"mine"});
}

TEST(ExpectedErrors, SayWhichLineIsNone) {
  const std::string header = print_errors({});
  EXPECT_THAT([&] { parse_errors(header + "a100,transformer,none\n", "mine.csv"); },
              ::testing::ThrowsMessage<InputError>("mine.csv:2: 3 columns; allowed: 14"));
  EXPECT_THAT(
      [&] { parse_errors(header + "a100,tree,none,fp32,f,no,1,1,1,1,0,0,1,1\n", "mine.csv"); },
      ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("'tree' is no family")));
}

}  // namespace
}  // namespace strata
