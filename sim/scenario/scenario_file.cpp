#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/report_sections.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/sweep_reader.h"
#include "sim/text/file.h"
#include "sim/text/toml.h"

namespace strata {
namespace {

constexpr std::int64_t kScenarioSizeLimit = 64 << 20;

void check_name(const std::vector<Sweep>& others, const Sweep& sweep, Diagnostics& errors) {
  const auto same = std::ranges::find(others, sweep.name, &Sweep::name);
  if (same == others.end()) return;
  errors.add(sweep.where, fmt::format("a second sweep named \"{}\"; the first is in line {}",
                                      sweep.name, same->where.line));
}

std::vector<Sweep> read_sweeps(Table& root, ScenarioRoom room, Diagnostics& errors) {
  std::vector<Sweep> sweeps;
  for (Table& table : root.tables("sweep")) {
    Sweep sweep = read_sweep(std::move(table), sweeps.size() + 1, room, errors);
    check_name(sweeps, sweep, errors);
    sweeps.push_back(std::move(sweep));
  }
  // A report alone is what stands in for scenarios without one.
  if (sweeps.empty() && !root.has("report")) {
    root.fail("a scenario needs at least one [[sweep]], or a [[report]]");
  }
  return sweeps;
}

std::vector<ReportSection> read_report(Table& root, Diagnostics& errors) {
  std::vector<ReportSection> sections;
  for (Table& table : root.tables("report")) {
    sections.push_back(read_report_section(std::move(table), errors));
  }
  return sections;
}

std::string read_name(Table& root, const std::string& file) {
  const auto name = root.optional("name");
  if (!name) return name_from_file(file);
  if (name->as_string().empty()) name->fail_expected("a name");
  return name->as_string();
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& file, const ScenarioRoom& room) {
  const Document document = parse_toml(text, file);
  Table root = document.table();
  Scenario scenario;
  scenario.file = file;
  scenario.text = text;
  Diagnostics errors;
  errors.attempt([&] { scenario.name = read_name(root, file); });
  errors.attempt([&] { scenario.about = root.string_or("about", ""); });
  errors.attempt([&] { scenario.sweeps = read_sweeps(root, room, errors); });
  errors.attempt([&] { scenario.report = read_report(root, errors); });
  root.finish(errors);
  errors.throw_if_any();
  return scenario;
}

Scenario read_scenario(const std::string& file) {
  return parse_scenario(read_file(file, kScenarioSizeLimit), file);
}

}  // namespace strata
