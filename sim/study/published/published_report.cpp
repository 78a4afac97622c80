#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/study/published/published.h"
#include "sim/text/units.h"

namespace strata {
namespace {

Cell percent(double share, int digits = 1) {
  return {fmt::format("{:.{}f} %", 100 * share, digits), share};
}
Cell bias_cell(double share) {
  return {fmt::format("{:+.1f} %", 100 * share), share};
}
Cell count(std::size_t value) {
  return {fmt::format("{}", value), static_cast<double>(value)};
}
Cell text(std::string value) {
  return {std::move(value), {}};
}

constexpr std::string_view kColumns[] = {"mean error", "median", "95 % below", "worst", "bias"};

std::vector<Cell> error_cells(const ErrorSummary& errors) {
  return {percent(errors.mean), percent(errors.median), percent(errors.p95), percent(errors.worst),
          bias_cell(errors.bias)};
}

ReportTable table_with(std::vector<std::string> before, std::vector<std::string> after) {
  ReportTable table{std::move(before), {}};
  table.columns.insert(table.columns.end(), std::begin(kColumns), std::end(kColumns));
  table.columns.insert(table.columns.end(), after.begin(), after.end());
  return table;
}

void add_row(ReportTable& table, std::vector<Cell> before, const ErrorSummary& errors,
             std::vector<Cell> after = {}) {
  std::vector<Cell>& row = table.rows.emplace_back(std::move(before));
  for (Cell& cell : error_cells(errors)) row.push_back(std::move(cell));
  row.insert(row.end(), after.begin(), after.end());
}

// What was fitted stands beside what was not, wherever something was.
std::vector<std::pair<std::string, std::optional<bool>>> halves(const PublishedResult& result) {
  if (errors_of(result, true).rows == 0) return {{"not fitted", std::nullopt}};
  if (errors_of(result, false).rows == 0) return {{"fitted", std::nullopt}};
  return {{"fitted", true}, {"held back", false}};
}

Cell rank_cell(const RankSummary& ranks, double correlation) {
  return ranks.networks > 0 ? Cell{fmt::format("{:.3f}", correlation), correlation} : text("");
}

Cell coverage_cell(const PublishedResult& result, std::optional<bool> which) {
  const auto coverage = which ? coverage_of(result, *which) : std::nullopt;
  return coverage ? percent(*coverage, 0) : text("");
}

Section summary(std::span<const PublishedResult> results) {
  Section section{"In short", "", {}, {}};
  ReportTable table = table_with({"figures", "device", "rows", "number"},
                                 {"rank correlation within networks", "that of exact predictions",
                                  "regret of the predicted best", "in the other half's interval"});
  for (const PublishedResult& result : results) {
    for (const auto& [name, which] : halves(result)) {
      const ErrorSummary errors = errors_of(result, which);
      const RankSummary ranks = ranks_of(result, which);
      add_row(table,
              {text(result.table.title), text(result.table.device), text(name), count(errors.rows)},
              errors,
              {rank_cell(ranks, ranks.correlation), rank_cell(ranks, ranks.exact),
               ranks.choices > 0 ? percent(ranks.regret) : text(""), coverage_cell(result, which)});
    }
  }
  section.body = std::move(table);
  return section;
}

std::optional<Section> memory(std::span<const PublishedResult> results) {
  Section section{"Memory",
                  "What the plan keeps at its peak beside what tensors had on a device; where an "
                  "allocator was asked, with what it held besides. All of these steps ran.",
                  {},
                  {}};
  ReportTable table{{"figures", "number", "mean error", "worst", "bias", "said not to fit"}, {}};
  for (const PublishedResult& result : results) {
    const MemorySummary errors = memory_of(result);
    if (errors.rows == 0) continue;
    table.rows.push_back({text(result.table.title), count(errors.rows), percent(errors.mean),
                          percent(errors.worst), bias_cell(errors.bias),
                          count(errors.said_not_to_fit)});
  }
  if (table.rows.empty()) return std::nullopt;
  section.body = std::move(table);
  return section;
}

Section details(const PublishedResult& result) {
  const PublishedTable& of = result.table;
  Section section{of.title,
                  fmt::format("Source: {} ({}).{}{}", of.source, of.licence,
                              of.notes.empty() ? "" : "\n\n", of.notes),
                  {},
                  {}};
  ReportTable table =
      table_with({"network", "rows"}, {"rank correlation", "that of exact predictions"});
  std::set<std::string> networks;
  for (const PublishedStep& step : of.steps) networks.insert(step.network);
  for (const std::string& network : networks) {
    PublishedResult part{of, {}};
    part.table.steps.clear();
    for (std::size_t i = 0; i < result.answers.size(); ++i) {
      if (of.steps[i].network != network) continue;
      part.table.steps.push_back(of.steps[i]);
      part.answers.push_back(result.answers[i]);
    }
    const ErrorSummary errors = errors_of(part, std::nullopt);
    const RankSummary ranks = ranks_of(part, std::nullopt);
    add_row(table, {text(network), count(errors.rows)}, errors,
            {rank_cell(ranks, ranks.correlation), rank_cell(ranks, ranks.exact)});
  }
  section.body = std::move(table);
  return section;
}

Section scatter(const PublishedResult& result) {
  Chart chart{ChartKind::scatter, "measured (s)", "predicted (s)", true, true, {}, {}};
  for (const auto& [name, which] : halves(result)) {
    ChartSeries series{name, {}, {}, {}};
    for (std::size_t i = 0; i < result.answers.size(); ++i) {
      if (which && result.table.steps[i].fitted != *which) continue;
      series.x.push_back(result.table.steps[i].measured.value);
      series.y.push_back(result.answers[i].predicted.value);
    }
    chart.series.push_back(std::move(series));
  }
  return {
      fmt::format("{}: predicted beside measured", result.table.title), "", std::move(chart), {}};
}

}  // namespace

ReportDocument published_report(std::span<const PublishedResult> results) {
  ReportDocument document;
  document.title = "What to expect of a prediction";
  document.about =
      "Published measurements of training steps beside what Strata predicts of them from names and "
      "numbers alone. Errors are shares of what was measured. Rows that something in Strata was "
      "fitted to, drawn once, stand apart from those that were held back.\n\nA rank correlation is "
      "Spearman's, the mean over networks of at "
      "least 5 rows; beside it stands what exact predictions would have if measured steps spread "
      "by "
      "2 %, as InternEvo's repeated ones do. Regret is by how much the choice that is predicted to "
      "be the fastest is "
      "slower than the fastest, on average over what people would choose from: one network, batch "
      "and number of devices. The last column: how many of the rows lie where 90 of 100 would by "
      "the "
      "errors of the other half.";
  document.sections.push_back(summary(results));
  if (auto section = memory(results)) document.sections.push_back(*std::move(section));
  for (const PublishedResult& result : results) {
    document.sections.push_back(details(result));
    document.sections.push_back(scatter(result));
  }
  return document;
}

}  // namespace strata
