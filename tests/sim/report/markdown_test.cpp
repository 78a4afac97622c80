#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/report/document.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

using testing::HasSubstr;

TEST(ReportMarkdown, OfATinyDocumentReadsAsFollows) {
  ReportDocument page{"Bandwidth", "First,\nstill.\n\nSecond.", {"version 1", "host a"}, {}};
  const ReportTable table{
      {"name|x", "time", "either"},
      {{{"a\nb", {}}, {"-5 s", -5.0}, {"none", {}}}, {{"", {}}, {"", {}}, {"3", 3.0}}}};
  page.sections.push_back({"Times", "As a table.", table, {}});
  const ReportTable data{{"x", "note"}, {{{"1", 1.0}, {"7", {}}}}};
  page.sections.push_back({"Chart", "",
                           Chart{ChartKind::lines, "", "", false, false, {}, {{"s", {1}, {7}, {}}}},
                           data});
  page.sections.push_back(
      {"Claims",
       "",
       std::vector<ReportClaim>{{"faster", "2 x", "1.9 x", Verdict::reproduced, "-5 %", "noise"},
                                {"smaller", "3 x", "1 x", Verdict::differs, "-67 %", ""},
                                {"better", "1 x", "", Verdict::unanswered, "", ""}},
       {}});
  page.sections.push_back({"", "Only text.", {}, {}});
  EXPECT_EQ(print_markdown(page), R"(# Bandwidth

First,
still.

Second.

## Times

As a table.

| name\|x | time | either |
| --- | --: | --- |
| a b | -5 s | none |
|  |  | 3 |

## Chart

| x | note |
| --: | --- |
| 1 | 7 |

## Claims

| Claim | Said | Found | Difference | Verdict | Why |
| --- | --- | --- | --- | --- | --- |
| faster | 2 x | 1.9 x | -5 % | ✓ reproduced | noise |
| smaller | 3 x | 1 x | -67 % | ≠ differs |  |
| better | 1 x |  |  | ? unanswered |  |

Only text.

---

* version 1
* host a
)");
}

TEST(ReportMarkdown, HoldsHostileTextAsText) {
  const std::string& bad = kHostile;
  const std::string shown =
      "\\</title>\\<script>alert(\"1\")\\</script> \\& 'x' \\| \xEF\xBF\xBD\xEF\xBF\xBD "
      "\\`\\*\\_\\[a\\](b)";
  const ReportTable table{{bad}, {{{bad, {}}}}};
  const std::vector<ReportClaim> claims = {{bad, bad, bad, Verdict::differs, bad, bad}};
  const ReportDocument page{bad, bad, {bad}, {{bad, bad, table, {}}, {bad, bad, claims, {}}}};
  const std::string cells = shown + " | " + shown + " | " + shown + " | " + shown;
  const std::string head = "## " + shown + "\n\n" + shown + "\n\n";
  EXPECT_EQ(print_markdown(page), "# " + shown + "\n\n" + shown + "\n\n" + head + "| " + shown +
                                      " |\n| --- |\n| " + shown + " |\n\n" + head +
                                      "| Claim | Said | Found | Difference | Verdict | Why |\n"
                                      "| --- | --- | --- | --- | --- | --- |\n| " +
                                      cells + " | ≠ differs | " + shown + " |\n\n---\n\n* " +
                                      shown + "\n");
}

TEST(ReportMarkdown, SaysWhatIsMissingAtItsTopAndWhatWentWrongInPlace) {
  ReportDocument page{"Title", "About.", {}, {{"Broken", "Text.", {}, {}}}};
  page.notes = {"2 of 3 cases", "a *note*"};
  page.sections[0].errors = {"a.toml:7: no such column: <x>"};
  EXPECT_EQ(print_markdown(page), R"(# Title

> 2 of 3 cases

> a \*note\*

About.

## Broken

Text.

> Error: a.toml:7: no such column: \<x>
)");
}

TEST(ReportMarkdown, OfNothingIsEmpty) {
  EXPECT_EQ(print_markdown({}), "");
}

TEST(ReportMarkdown, RefusesWhatDoesNotFit) {
  const ReportTable table{{"a", "b"}, {{{"1", {}}}}};
  EXPECT_THROW(print_markdown({"", "", {}, {{"", "", table, {}}}}), InternalError);
  const Chart chart{ChartKind::lines, "", "", false, false, {}, {{"a", {1}, {}, {}}}};
  EXPECT_THROW(print_markdown({"", "", {}, {{"", "", chart, {}}}}), InternalError);
}

}  // namespace
}  // namespace strata
