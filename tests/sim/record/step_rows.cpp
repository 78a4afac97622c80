#include "tests/sim/record/step_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "tests/metamorphic/trial.h"
#include "tests/sim/record/fingerprint.h"

namespace strata::testing {
namespace {

using Row = std::vector<std::string>;

constexpr std::array<std::string_view, 2> kKeys = {"case", "devices"};
constexpr std::array<std::string_view, 21> kSeconds = {
    "step",      "makespan",        "eq1",       "measured", "interpolated", "related",
    "analytic",  "compute",         "recompute", "bubble",   "transfer",     "reduce",
    "gather",    "statistics",      "optimizer", "launch",   "path_compute", "path_transfer",
    "path_sync", "path_statistics", "path_idle"};
constexpr std::array<std::string_view, 7> kWhole = {
    "transfer_bytes", "sync_bytes", "statistics_bytes", "peak_bytes", "sum_of_peaks_bytes",
    "tasks",          "rounds"};
constexpr std::array<std::string_view, 9> kPrints = {
    "cuts", "plan", "carried", "tags", "costs", "timeline", "terms", "peaks", "breakdown"};
constexpr std::size_t kStep = kKeys.size();

std::vector<Seconds> seconds_of(const StepParts& parts) {
  const ExposedCommunication& exposed = parts.exposed;
  return {parts.compute,  parts.recompute,    parts.bubble,    exposed.transfer, exposed.reduce,
          exposed.gather, exposed.statistics, parts.optimizer, parts.launch};
}

std::vector<Seconds> seconds_of(const Prediction& p) {
  const CostSources& from = p.sources;
  std::vector<Seconds> all = {p.step,        p.makespan,        p.eq1_seconds(),
                              from.measured, from.interpolated, from.related,
                              from.analytic};
  const std::vector<Seconds> parts = seconds_of(p.breakdown.mean);
  all.insert(all.end(), parts.begin(), parts.end());
  all.insert(all.end(),
             {p.path.compute, p.path.transfer, p.path.sync, p.path.statistics, p.path.idle});
  return all;
}

std::vector<std::int64_t> whole_of(const Prediction& p) {
  Bytes sum;
  for (const Bytes peak : p.peak_memory) sum += peak;
  const Communication& moved = p.communication;
  return {moved.transfer.value,
          moved.sync.value,
          moved.statistics.value,
          p.largest_peak().value,
          sum.value,
          static_cast<std::int64_t>(p.plan.size()),
          p.rounds};
}

// Of each task what fingerprint(Plan) leaves out.
Fingerprint tags(const Plan& plan) {
  Fingerprint print;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    print << task.again << task.round;
  }
  return print << plan.rounds() << plan.optimizer();
}

Row prints_of(const Case& input, const Prediction& p) {
  Fingerprint costs, terms, peaks, parts;
  for (const Cost& cost : p.costs) costs << cost.seconds.value << cost.source;
  for (const LayerTerms& layer : p.terms) {
    terms << layer.compute.value << layer.transfer.value << layer.sync.value;
  }
  for (const Bytes peak : p.peak_memory) peaks << peak.value;
  for (const StepParts& device : p.breakdown.devices) {
    for (const Seconds part : seconds_of(device)) parts << part.value;
  }
  Row row;
  for (const Fingerprint& print :
       {fingerprint(p.strategy), fingerprint(p.plan, input.graph), carried_fingerprint(p.plan),
        tags(p.plan), costs, fingerprint(p.timeline), terms, peaks, parts}) {
    row.push_back(print.text());
  }
  return row;
}

// One line, without the folder.
std::string cleaned(std::string text, std::string_view left_out) {
  for (std::size_t at; !left_out.empty() && (at = text.find(left_out)) != std::string::npos;) {
    text.erase(at, left_out.size());
  }
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

bool in_seconds(std::string_view column) {
  return std::ranges::find(kSeconds, column) != kSeconds.end();
}

std::string named(const Row& row) {
  return row[0] + " (" + row[1] + ")";
}

}  // namespace

Table empty_step_rows(RowForm form) {
  Table table{kKeys.size(), {kKeys.begin(), kKeys.end()}, {}};
  table.columns.insert(table.columns.end(), kSeconds.begin(), kSeconds.end());
  table.columns.insert(table.columns.end(), kWhole.begin(), kWhole.end());
  if (form == RowForm::exact) {
    table.columns.insert(table.columns.end(), kPrints.begin(), kPrints.end());
  }
  table.columns.emplace_back("error");
  return table;
}

Row step_row(CaseLoader& loader, const std::string& name, const DrawnCase& said, Simulated devices,
             RowForm form, std::string_view left_out) {
  Row row = {name, devices == Simulated::all_devices ? "all" : "classes"};
  PredictOptions options = whole_answer();
  options.devices = devices;
  options.all_rounds = devices == Simulated::all_devices;
  const std::size_t width = empty_step_rows(form).columns.size();
  try {
    const Answer answer = ask(loader, said, options);
    for (const Seconds seconds : seconds_of(answer.found)) {
      row.push_back(form == RowForm::exact ? fmt::format("{:.17g}", seconds.value)
                                           : fmt::format("{:.12g}", seconds.value));
    }
    for (const std::int64_t number : whole_of(answer.found)) row.push_back(std::to_string(number));
    if (form == RowForm::exact) {
      const Row prints = prints_of(answer.input, answer.found);
      row.insert(row.end(), prints.begin(), prints.end());
    }
    row.emplace_back("-");
  } catch (const Error& error) {
    row.resize(width - 1, "-");
    row.push_back(cleaned(error.message(), left_out));
  }
  return row;
}

std::vector<Row> drawn_rows(CaseLoader& loader, std::uint64_t seed, const std::string& folder,
                            RowForm form) {
  const std::string own = fmt::format("{}/{}", folder, seed);
  std::filesystem::create_directory(own);
  Random random(seed);
  const DrawnCase drawn = drawn_case(random, own, seed);
  std::vector<Row> rows;
  for (const Simulated devices : {Simulated::one_of_each_class, Simulated::all_devices}) {
    rows.push_back(
        step_row(loader, fmt::format("drawn {}", seed), drawn, devices, form, own + "/"));
  }
  std::filesystem::remove_all(own);
  return rows;
}

std::string step_differences(const Table& recorded, const Table& now, std::size_t most) {
  constexpr double kTolerance = 1e-9;
  std::string text = different_names(recorded, now);
  if (!text.empty()) return text;
  std::size_t count = 0;
  for (std::size_t r = 0; r < now.rows.size(); ++r) {
    const Row &before = recorded.rows[r], &after = now.rows[r];
    const double step = std::strtod(before[kStep].c_str(), nullptr);
    if (named(before) != named(after)) return named(after) + " is recorded in another order\n";
    for (std::size_t c = now.keys; c < now.columns.size(); ++c) {
      const std::string &was = before[c], &is = after[c];
      if (was == is) continue;
      const double a = std::strtod(was.c_str(), nullptr), b = std::strtod(is.c_str(), nullptr);
      const bool numbers = in_seconds(now.columns[c]) && was != "-" && is != "-";
      const double tolerated = kTolerance * std::max({std::abs(a), std::abs(b), step});
      if (numbers && std::abs(a - b) <= tolerated) continue;
      if (++count > most) continue;
      text += fmt::format("{}: {} is {}, recorded as {}\n", named(after), now.columns[c], is, was);
    }
  }
  if (count > most) text += fmt::format("and {} more\n", count - most);
  return text;
}

}  // namespace strata::testing
