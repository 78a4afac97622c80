#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"

namespace strata {
namespace {

using Kind = ReportSection::Kind;

constexpr const char* kSweep =
    "[[sweep]]\nmodel = \"m\"\ncluster = \"c\"\nstrategy = \"data\"\n";  // four lines

std::vector<ReportSection> sections_of(const std::string& text) {
  return parse_scenario(kSweep + text, "s.toml").report;
}

TEST(ReportSections, AreInTheFilesOrderWithTheirKinds) {
  const auto sections = sections_of(R"([[report]]
title = "In short"
text = """
One.

Two."""
[[report]]
kind = "lines"
title = "Bandwidth"
text = "Wider is faster."
sql = "SELECT bandwidth, step FROM cases"
x = "bandwidth"
y = "step"
series = "strategy"
ideal = "best"
x_label = "bandwidth in GB/s"
y_label = "step in s"
log_x = true
log_y = true
[[report]]
title = "All"
sql = "SELECT * FROM cases"
)");
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0].kind, Kind::text);
  EXPECT_EQ(sections[0].title, "In short");
  EXPECT_EQ(sections[0].text, "One.\n\nTwo.");
  EXPECT_EQ(sections[0].where, (Location{"s.toml", 5}));
  const ReportSection& lines = sections[1];
  EXPECT_EQ(lines.kind, Kind::lines);
  EXPECT_EQ(lines.text, "Wider is faster.");
  EXPECT_EQ(lines.sql, "SELECT bandwidth, step FROM cases");
  EXPECT_EQ(lines.x + "|" + lines.y + "|" + lines.series + "|" + lines.ideal,
            "bandwidth|step|strategy|best");
  EXPECT_EQ(lines.x_label + "|" + lines.y_label, "bandwidth in GB/s|step in s");
  EXPECT_TRUE(lines.log_x && lines.log_y);
  EXPECT_EQ(sections[2].kind, Kind::table);
  EXPECT_EQ(sections[2].sql, "SELECT * FROM cases");
}

TEST(ReportSections, BarsAndScatterLeaveOutWhatTheyDoNotNeed) {
  const auto sections = sections_of(
      "[[report]]\nkind = \"bars\"\ntitle = \"a\"\nsql = \"s\"\nx = \"p\"\ny = \"q\"\n"
      "[[report]]\nkind = \"scatter\"\ntitle = \"b\"\nsql = \"s\"\nx = \"p\"\ny = \"q\"\n");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].kind, Kind::bars);
  EXPECT_EQ(sections[1].kind, Kind::scatter);
  EXPECT_EQ(sections[1].series + sections[1].ideal + sections[1].x_label, "");
  EXPECT_FALSE(sections[1].log_x || sections[1].log_y);
}

TEST(ReportSections, ClaimsHaveANumberAndAQuery) {
  const auto sections = sections_of(R"([[report]]
title = "What is said"
[[report.claim]]
text = "layer-wise is faster"
said = 1.9
unit = "x"
sql = "SELECT 2"
tolerance = 0.1
why = "another network"
[[report.claim]]
text = "it fits"
said = 1
sql = "SELECT 1"
)");
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].kind, Kind::claims);
  ASSERT_EQ(sections[0].claims.size(), 2U);
  const ReportSection::Claim& claim = sections[0].claims[0];
  EXPECT_EQ(claim.text + "|" + claim.unit + "|" + claim.sql + "|" + claim.why,
            "layer-wise is faster|x|SELECT 2|another network");
  EXPECT_EQ(claim.said, 1.9);
  EXPECT_EQ(claim.tolerance, 0.1);
  EXPECT_EQ(sections[0].claims[1].tolerance, 0);
  EXPECT_EQ(sections[0].claims[1].unit, "");
  EXPECT_EQ(claim.sql_where.line, 11);  // after the four lines of a sweep
}

TEST(ReportSections, MayStandWithoutASweep) {
  const Scenario scenario =
      parse_scenario("[[report]]\ntitle = \"t\"\ntext = \"a\"\n", "usual.toml");
  EXPECT_EQ(scenario.count(), 0U);
  EXPECT_EQ(scenario.report.size(), 1U);
}

}  // namespace
}  // namespace strata
