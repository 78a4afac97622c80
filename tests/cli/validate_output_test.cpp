// The sentences below the table: what is known of the predictions, and what it takes to know more.

#include "cli/output/validate_output.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCommand = "strata validate lenet5 --devices cpu:2 --seconds 40";

// Nine pairs of an error that is known to `half_width` either way.
ValidateCase judged(const std::string& strategy, double error, double half_width) {
  ValidateCase c;
  c.model = "lenet5", c.devices = 2, c.strategy = strategy;
  c.predicted = {1 + error}, c.measured = {1}, c.round = {2};
  c.error = {error, error - half_width, error + half_width, 0.96, 9};
  c.verdict = judge(c.error, 0.1);
  return c;
}

std::string text_of(std::vector<ValidateCase> cases) {
  ValidateReport report;
  report.cases = std::move(cases);
  return validate_text(report, "two cores", kCommand);
}

TEST(ValidateOutput, PredictionsHoldWhereAllDo) {
  const std::string text = text_of({judged("data", 0.02, 0.01), judged("model", -0.04, 0.01)});
  EXPECT_THAT(text, HasSubstr("\nPredictions hold. The error is 3.0% on average, 4.0% at most; an "
                              "error of up to 10% counts as holding.\n"));
  EXPECT_THAT(text, Not(HasSubstr("would tell")));
}

TEST(ValidateOutput, OnePredictionIsNotMany) {
  EXPECT_THAT(
      text_of({judged("data", -0.02, 0.01)}),
      HasSubstr(
          "\nThe prediction holds. The error is 2.0%; an error of up to 10% counts as holding.\n"));
}

TEST(ValidateOutput, OnePredictionCanBeOff) {
  EXPECT_THAT(text_of({judged("data", -0.2, 0.01)}),
              HasSubstr("\nThe prediction is off. The error is 20.0%; "));
}

TEST(ValidateOutput, WhatIsNotJudgedIsNotSaidToHold) {
  const std::string text = text_of({judged("data", 0.02, 0.01), judged("model", -0.3, 0.4)});
  EXPECT_THAT(text,
              HasSubstr("\nOf 2 predictions 1 holds, 1 cannot be judged. The error is 2.0% "
                        "where it can be judged; an error of up to 10% counts as holding.\n"));
  // Half a width of 0.4 to one of 0.05 takes 64 times the nine pairs, of two seconds each.
  EXPECT_THAT(text, HasSubstr("The others can't be judged: this machine is too noisy, or something "
                              "else runs on it. 576 rounds would suffice, in about 1152 s:\n"
                              "  strata validate lenet5 --devices cpu:2 --rounds 576\n"));
}

TEST(ValidateOutput, CountsThoseThatAreOff) {
  EXPECT_THAT(
      text_of({judged("data", 0.3, 0.01), judged("model", -0.2, 0.01), judged("owt", 0.0, 0.01)}),
      HasSubstr("\nOf 3 predictions 1 holds, 2 are off. The error is 16.7% on average, 30.0% "
                "at most; an error of up to 10% counts as holding.\n"));
}

TEST(ValidateOutput, WhereNothingIsJudgedNoErrorIsPrinted) {
  const std::string text = text_of({judged("data", -0.45, 0.5)});
  EXPECT_THAT(text, HasSubstr("\nPredictions can't be judged: "));
  EXPECT_THAT(text, Not(HasSubstr("45")));
}

// As `strata run` tells of them.
TEST(ValidateOutput, OfGpusTellsOfProductsThatArePlainLoops) {
  ValidateReport report;
  report.cases = {judged("data", 0.02, 0.01), judged("model", 0.02, 0.01)};
  EXPECT_THAT(validate_text(report, "two cores", kCommand), Not(HasSubstr("plain loops")));
  report.cases[0].plain_loops = PlainLoops{};
  report.cases[1].plain_loops = PlainLoops{3, "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"};
  const std::string text = validate_text(report, "a GPU", kCommand);
  EXPECT_THAT(text, HasSubstr("plain loops\n"));
  EXPECT_THAT(text, HasSubstr("\nlenet5 on 2 devices, model: 3 of the convolutions' products run "
                              "in plain loops, which are slow: cuDNN has no engine for them; the "
                              "first: CUDNN_STATUS_NOT_SUPPORTED (engine 7)\n"));
}

}  // namespace
}  // namespace strata
