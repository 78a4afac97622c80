#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/report/document.h"
#include "sim/report/style.h"
#include "tests/sim/report/markup.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;

ReportDocument tiny_page() {
  ReportDocument page{"Bandwidth", "First.\n\nSecond.", {"version 1"}, {}};
  const ReportTable table{{"name", "time"}, {{{"a", {}}, {"5 s", 5.0}}, {{"b", {}}, {"", {}}}}};
  page.sections.push_back({"Times", "As a table.", table, {}});
  page.sections.push_back({"Chart", "", Chart{}, {{"x"}, {{{"1", 1.0}}}}});
  page.sections.push_back(
      {"Claims",
       "",
       std::vector<ReportClaim>{{"faster", "2 x", "1.9 x", Verdict::reproduced, "-5 %", "noise"},
                                {"smaller", "3 x", "1 x", Verdict::differs, "-67 %", ""},
                                {"better", "1 x", "", Verdict::unanswered, "", ""}},
       {}});
  page.sections.push_back({"", "Only text.", {}, {}});
  return page;
}

TEST(ReportHtml, OfATinyDocumentReadsAsFollows) {
  const std::string expected = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Bandwidth</title>
<style>
)" + std::string(page_style()) +
                               R"(</style>
</head>
<body>
<main>
<h1>Bandwidth</h1>
<p>First.</p>
<p>Second.</p>
<section id="section-1">
<h2>Times</h2>
<p>As a table.</p>
<div class="wide">
<table>
<thead>
<tr><th scope="col">name</th><th scope="col" class="number">time</th></tr>
</thead>
<tbody>
<tr><td>a</td><td class="number">5 s</td></tr>
<tr><td>b</td><td></td></tr>
</tbody>
</table>
</div>
</section>
<section id="section-2">
<h2>Chart</h2>
<figure>
<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 120" role="img" )"
                               R"(aria-label="Lines: values; no data" )"
                               R"(font-family="system-ui, sans-serif" font-size="12" )"
                               R"(fill="currentColor">
<text x="360.0" y="60.0" text-anchor="middle">no data</text>
</svg>
</figure>
<details>
<summary>Data</summary>
<div class="wide">
<table>
<thead>
<tr><th scope="col" class="number">x</th></tr>
</thead>
<tbody>
<tr><td class="number">1</td></tr>
</tbody>
</table>
</div>
</details>
</section>
<section id="section-3">
<h2>Claims</h2>
<div class="wide">
<table>
<thead>
<tr><th scope="col">Verdict</th><th scope="col">Claim</th><th scope="col" class="number">Said</th>)"
                               R"(<th scope="col" class="number">Found</th>)"
                               R"(<th scope="col" class="number">Difference</th></tr>
</thead>
<tbody>
<tr><td><span class="badge reproduced">✓ reproduced</span></td><td>faster<p>noise</p></td>)"
                               R"(<td class="number">2 x</td><td class="number">1.9 x</td>)"
                               R"(<td class="number">-5 %</td></tr>
<tr><td><span class="badge differs">≠ differs</span></td><td>smaller</td>)"
                               R"(<td class="number">3 x</td><td class="number">1 x</td>)"
                               R"(<td class="number">-67 %</td></tr>
<tr><td><span class="badge unanswered">? unanswered</span></td><td>better</td>)"
                               R"(<td class="number">1 x</td><td class="number"></td>)"
                               R"(<td class="number"></td></tr>
</tbody>
</table>
</div>
</section>
<section id="section-4">
<p>Only text.</p>
</section>
<footer>
<ul>
<li>version 1</li>
</ul>
</footer>
</main>
</body>
</html>
)";
  EXPECT_EQ(print_html(tiny_page()), expected);
  EXPECT_EQ(MarkupReader(expected).wrong, "");
}

TEST(ReportHtml, HasContentsForMoreThanFourTitles) {
  ReportDocument page = tiny_page();
  page.sections.push_back({"Fifth", "", {}, {}});
  EXPECT_THAT(print_html(page), Not(HasSubstr("<nav")));  // the fourth has no title
  page.sections.push_back({"A & B", "", {}, {}});
  const std::string html = print_html(page);
  EXPECT_THAT(html, HasSubstr(R"(<nav aria-label="Contents">
<ol>
<li><a href="#section-1">Times</a></li>
<li><a href="#section-2">Chart</a></li>
<li><a href="#section-3">Claims</a></li>
<li><a href="#section-5">Fifth</a></li>
<li><a href="#section-6">A &amp; B</a></li>
</ol>
</nav>
)"));
  EXPECT_THAT(html, HasSubstr(R"(<section id="section-6">)"));
}

TEST(ReportHtml, HoldsHostileTextAsText) {
  const std::string& bad = kHostile;
  const ReportTable table{{bad}, {{{bad, 1.0}}}};
  const Chart chart{ChartKind::bars, bad, bad, false, false, {bad}, {{bad, {0}, {1}, {}}}};
  const std::vector<ReportClaim> claims = {{bad, bad, bad, Verdict::differs, bad, bad}};
  const ReportDocument page{
      bad, bad, {bad}, {{bad, bad, table, {}}, {bad, bad, chart, table}, {bad, bad, claims, {}}}};
  const std::string html = print_html(page);
  const MarkupReader reader(html);
  EXPECT_EQ(reader.wrong, "");
  EXPECT_TRUE(reader.all("script").empty());
  EXPECT_THAT(html, HasSubstr("<title>" + kHostileMarkup + "</title>"));
  EXPECT_THAT(html, HasSubstr("<p>" + kHostileMarkup + "</p>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">" + kHostileMarkup + "</td>"));
}

// Both are paragraphs, so that who listens to the page hears them where they stand.
TEST(ReportHtml, SaysWhatIsMissingAtItsTopAndWhatWentWrongInPlace) {
  ReportDocument page{"Title", "About.", {}, {{"Broken", "Text.", {}, {}}}};
  page.notes = {"2 of 3 cases are answered", kHostile};
  page.sections[0].errors = {"a.toml:7: no such column: <x>"};
  const std::string html = print_html(page);
  EXPECT_EQ(MarkupReader(html).wrong, "");
  EXPECT_THAT(html, HasSubstr("<h1>Title</h1>\n<p class=\"note\">2 of 3 cases are answered</p>\n"
                              "<p class=\"note\">" +
                              kHostileMarkup + "</p>\n<p>About.</p>\n"));
  EXPECT_THAT(html, HasSubstr("<p>Text.</p>\n<p class=\"error\">Error: a.toml:7: no such column: "
                              "&lt;x&gt;</p>\n</section>\n"));
}

// No address but the name of SVG, and nothing that loads.
TEST(ReportHtml, NeedsNothingElse) {
  const std::string html = print_html(tiny_page());
  const std::size_t address = html.find("://");
  EXPECT_EQ(html.substr(address - 4, 29), "http://www.w3.org/2000/svg\" v");
  EXPECT_EQ(html.find("://", address + 1), std::string::npos);
  for (const char* loads : {" src=", "<link", "<script", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

TEST(ReportHtml, RefusesRowsOfAnotherLength) {
  const ReportTable table{{"a", "b"}, {{{"1", {}}}}};
  EXPECT_THROW(print_html({"", "", {}, {{"", "", table, {}}}}), InternalError);
}

}  // namespace
}  // namespace strata
