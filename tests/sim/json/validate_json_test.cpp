// The JSON of a validation is tested with cases made up here.

#include "sim/json/validate_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

ValidateCase case_of(const std::string& strategy, double error) {
  ValidateCase c;
  c.model = "lenet5", c.devices = 2, c.strategy = strategy;
  c.predicted = {1 + error}, c.measured = {1}, c.round = {2};
  c.error = {error, error - 0.01, error + 0.01, 0.96, 9};
  c.verdict = judge(c.error, 0.1);
  return c;
}

TEST(ValidateJson, OfGpusHasTheProductsThatArePlainLoops) {
  ValidateReport report;
  report.cases = {case_of("data", 0.02), case_of("model", 0.02)};
  EXPECT_FALSE(validate_json(report, "two cores", {})["cases"][0].contains("plain_loops"));
  report.cases[0].plain_loops = PlainLoops{};
  report.cases[1].plain_loops = PlainLoops{3, "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"};
  const Json cases = validate_json(report, "a GPU", {})["cases"];
  EXPECT_EQ(cases[0]["plain_loops"], (Json{{"products", 0}, {"first_status", nullptr}}));
  EXPECT_EQ(cases[1]["plain_loops"],
            (Json{{"products", 3}, {"first_status", "CUDNN_STATUS_NOT_SUPPORTED (engine 7)"}}));
}

// A larger error may come from a noisy measurement.
TEST(ValidateJson, TheLargestErrorIsOneThatIsJudged) {
  ValidateReport report;
  report.cases = {case_of("data", 0.02), case_of("model", -0.04), case_of("owt", 0.5)};
  report.cases[2].verdict = Judgement::too_noisy;
  EXPECT_EQ(validate_json(report, "two cores", {})["largest_error"]["strategy"], "model");
}

}  // namespace
}  // namespace strata
