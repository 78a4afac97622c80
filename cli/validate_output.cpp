#include "cli/validate_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/table.h"
#include "sim/plan/work_kind.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kMostRows = 8;

std::string percent(double share) {
  return fmt::format("{:+.1f}%", 100 * share);
}

nlohmann::ordered_json case_json(const ValidateCase& c) {
  return {{"model", c.model},
          {"devices", c.devices},
          {"batch", c.batch},
          {"strategy", c.strategy},
          {"predicted_seconds", c.predicted.value},
          {"eq1_seconds", c.eq1.value},
          {"measured_seconds", c.measured.value},
          {"spread_seconds", c.spread.value},
          {"measured_steps", c.samples},
          {"relative_error", c.relative_error()},
          {"comm_bytes", c.planned.total().value},
          {"moved_bytes", c.moved.total().value}};
}

// No row is of a kind and a phase that no plan has together.
std::string_view what(const ErrorRow& row) {
  return role_of(row.kind, row.phase).value_or(TaskRole{}).name;
}

nlohmann::ordered_json error_json(const ValidateCase& c) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ErrorRow& row : c.comparison.rows) {
    rows.push_back({{"layer", c.graph[row.layer].name},
                    {"task", what(row)},
                    {"tasks", row.tasks},
                    {"predicted_seconds", row.predicted.duration.value},
                    {"measured_seconds", row.measured.duration.value},
                    {"share", row.share}});
  }
  return {{"model", c.model}, {"devices", c.devices}, {"strategy", c.strategy}, {"rows", rows}};
}

// In the shape of the paper's Table 4: a row for a network, devices and a strategy.
std::string case_table(const ValidateReport& report) {
  TextTable table({{"network", TextTable::Align::left},
                   {"devices"},
                   {"batch"},
                   {"strategy", TextTable::Align::left},
                   {"predicted"},
                   {"Eq. 1"},
                   {"measured"},
                   {"spread"},
                   {"error"}});
  for (const ValidateCase& c : report.cases) {
    table.add_row({c.model, fmt::format("{}", c.devices), fmt::format("{}", c.batch), c.strategy,
                   format_seconds(c.predicted), format_seconds(c.eq1), format_seconds(c.measured),
                   fmt::format("{:.1f}%", 100 * (c.spread / c.measured)),
                   percent(c.relative_error())});
  }
  return table.print();
}

std::string order_text(const ValidateReport& report) {
  const std::size_t pairs = report.ranked_pairs();
  if (pairs == 0) return "No two strategies differ by more than the measurement varies.";
  return fmt::format(
      "Of {} pairs of strategies whose order was measured, {:.0f}% are predicted in that order. "
      "{}",
      pairs, 100 * report.rank_agreement(),
      report.fastest_first() ? "None was faster than the one predicted to be the fastest."
                             : "One was faster than the one predicted to be the fastest.");
}

std::string summary(const ValidateReport& report) {
  return fmt::format("Error: {:.1f}% on average, {:.1f}% at most. {}\n",
                     100 * report.mean_absolute_error(), 100 * report.max_absolute_error(),
                     order_text(report));
}

// Sums over the devices, so a row can be longer than the step.
std::string explanation(const ValidateCase& c) {
  TextTable table({{"layer", TextTable::Align::left},
                   {"task", TextTable::Align::left},
                   {"predicted"},
                   {"measured"},
                   {"share of all errors"}});
  for (const ErrorRow& row : c.comparison.rows) {
    if (table.row_count() == kMostRows) break;
    table.add_row({c.graph[row.layer].name, std::string(what(row)),
                   format_seconds(row.predicted.duration), format_seconds(row.measured.duration),
                   fmt::format("{:.0f}%", 100 * row.share)});
  }
  return fmt::format(
      "The largest error: {} on {} devices, {}. Its tasks, summed over the devices, in the last "
      "steps run:\n\n{}",
      c.model, c.devices, c.strategy, table.print());
}

void add_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

}  // namespace

const ValidateCase& worst_case(const ValidateReport& report) {
  return *std::max_element(report.cases.begin(), report.cases.end(),
                           [](const ValidateCase& a, const ValidateCase& b) {
                             return std::abs(a.relative_error()) < std::abs(b.relative_error());
                           });
}

nlohmann::ordered_json validate_json(const ValidateReport& report, const std::string& machine,
                                     const std::string& device_names, const std::string& dtype) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const ValidateCase& c : report.cases) cases.push_back(case_json(c));
  return {{"machine", machine},
          {"device_names", device_names},
          {"dtype", dtype},
          {"cases", cases},
          {"mean_absolute_error", report.mean_absolute_error()},
          {"max_absolute_error", report.max_absolute_error()},
          {"rank_agreement", report.rank_agreement()},
          {"ranked_pairs", report.ranked_pairs()},
          {"fastest_first", report.fastest_first()},
          {"sweeps", report.disturbance.of},
          {"disturbed_sweeps", report.disturbance.left_out},
          {"largest_error", error_json(worst_case(report))}};
}

std::string validate_text(const ValidateReport& report, const std::string& machine) {
  return fmt::format("Predicted and measured steps on {}\n\n{}\n{}\n{}", machine,
                     case_table(report), summary(report), explanation(worst_case(report)));
}

std::string validate_failure(const ValidateReport& report, std::optional<double> tolerance) {
  std::string text;
  for (const ValidateCase& c : report.cases) {
    if (c.moved_as_planned) continue;
    add_line(text,
             fmt::format("{} on {} devices, {}: moved {} bytes, the plan says {}", c.model,
                         c.devices, c.strategy, c.moved.total().value, c.planned.total().value));
  }
  if (tolerance && !(report.max_absolute_error() <= *tolerance)) {
    add_line(text, fmt::format("the largest error is {:.3f}; allowed: {}",
                               report.max_absolute_error(), *tolerance));
  }
  return text;
}

}  // namespace strata
