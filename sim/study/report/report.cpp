#include "sim/study/report/report.h"

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/scenario/scenario.h"
#include "sim/study/report/compared_cases.h"
#include "sim/study/report/query_cells.h"
#include "sim/study/report/report_sections.h"
#include "sim/text/embedded.h"

namespace strata {

std::span<const EmbeddedFile> report_files();  // generated: usual_report.toml

namespace {

Scenario usual_report() {
  const EmbeddedFile& file = report_files().front();
  return parse_scenario(file.text, std::string(file.name) + ".toml");
}

/// Cases of a scenario by what has become of them, over all of its sweeps.
struct CasesSoFar {
  std::int64_t cases = 0, answered = 0, failed = 0, missing = 0;
  std::string file;  ///< of the scenario, as it was named
};

std::int64_t integer_in(const Field& field) {
  return std::get<std::int64_t>(field);
}

CasesSoFar cases_so_far(Store& store, const std::string& scenario) {
  const QueryResult result =
      store.query("SELECT cases, answered, failed, missing, file FROM progress", scenario);
  CasesSoFar sum;
  for (const auto& row : result.rows) {
    sum.cases += integer_in(row[0]);
    sum.answered += integer_in(row[1]);
    sum.failed += integer_in(row[2]);
    sum.missing += integer_in(row[3]);
    sum.file = text_of(row[4]);
  }
  return sum;
}

// A report of a part looks like a report of all.
std::vector<std::string> notes(Store& store, const std::string& scenario) {
  if (scenario.empty()) return {};
  const CasesSoFar so_far = cases_so_far(store, scenario);
  std::vector<std::string> lines;
  if (so_far.missing > 0) {
    lines.push_back(fmt::format(
        "{} of {} are answered; the rest is missing from what follows: strata sweep {} --db {} "
        "goes on",
        so_far.answered, counted(so_far.cases, "case"), so_far.file, store.file()));
  }
  if (so_far.failed > 0) {
    lines.push_back(fmt::format(
        "{} {} no answer; strata query {} \"SELECT * FROM failures\" says why",
        counted(so_far.failed, "case"), so_far.failed == 1 ? "has" : "have", store.file()));
  }
  return lines;
}

std::vector<std::string> provenance(Store& store, const std::string& scenario) {
  const QueryResult result = store.query(
      "SELECT count(*), min(finished), max(finished), group_concat(DISTINCT version), "
      "group_concat(DISTINCT host) FROM cases",
      scenario);
  const auto& row = result.rows.front();
  const std::int64_t cases = integer_in(row[0]);
  std::string answered = "No case has been answered";
  if (cases > 0) {
    answered =
        fmt::format("{}, answered from {} to {} (UTC) by strata {} on {}", counted(cases, "case"),
                    text_of(row[1]), text_of(row[2]), text_of(row[3]), text_of(row[4]));
  }
  return {answered, "Database: " + store.file()};
}

}  // namespace

ReportDocument make_report(const ReportRequest& request, const std::atomic<bool>* cancelled) {
  Store store(request.store, OpenMode::read);
  store.stop_when(cancelled);
  const std::vector<std::string> names = store.scenarios();
  const std::string name = request.scenario.value_or(names.empty() ? "" : names.front());
  const Scenario usual = usual_report();
  Scenario scenario = usual;
  if (!name.empty()) scenario = parse_scenario(store.scenario_text(name), name + ".toml");
  const bool own = !scenario.report.empty() && !name.empty();
  ReportDocument document{name.empty() ? request.store : scenario.name,
                          name.empty() ? "" : scenario.about,
                          provenance(store, name),
                          {},
                          notes(store, name)};
  SectionWriter writer(store, name);
  for (const ReportSection& from : own ? scenario.report : usual.report) {
    throw_if_cancelled(cancelled);
    if (auto section = writer.write(from, own)) document.sections.push_back(std::move(*section));
  }
  if (request.strategies) {
    document.sections.push_back(compared_strategies(store, name, *request.strategies));
  }
  if (request.beside) {
    document.sections.push_back(compared_stores(store, *request.beside, name));
  }
  return document;
}

}  // namespace strata
