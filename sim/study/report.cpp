#include "sim/study/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/scenario/scenario.h"
#include "sim/study/compared_cases.h"
#include "sim/study/query_cells.h"
#include "sim/text/embedded.h"

namespace strata {

std::span<const EmbeddedFile> report_files();  // generated: usual_report.toml

namespace {

Scenario usual_report() {
  const EmbeddedFile& file = report_files().front();
  return parse_scenario(file.text, std::string(file.name) + ".toml");
}

std::string signed_percent(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 100 ? fmt::format("{:+.2g} %", percent)
                                 : fmt::format("{:+.0f} %", percent);
}

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() || unit == "x" ? "" : " ", unit);
}

class Writer {
 public:
  Writer(Store& store, std::string scenario) : store_(store), scenario_(std::move(scenario)) {}

  /// Nothing where the section's query has no rows and `must` is false.
  std::optional<Section> write(const ReportSection& from, bool must) try {
    Section section{from.title, from.text, {}, {}};
    if (from.kind == ReportSection::Kind::text) return section;
    if (from.kind == ReportSection::Kind::claims) {
      section.body = claims(from);
      return section;
    }
    const QueryResult result = store_.query(from.sql, scenario_);
    if (result.rows.empty() && !must) return std::nullopt;
    section.data = table_of(result);
    if (from.kind == ReportSection::Kind::table) {
      section.body = std::exchange(section.data, {});
    } else {
      section.body = chart_of(result, from);
    }
    return section;
  } catch (InputError& error) {
    error.add_context(fmt::format("{}: report '{}'", print(from.where), from.title));
    throw;
  }

 private:
  std::vector<ReportClaim> claims(const ReportSection& from) {
    std::vector<ReportClaim> all;
    for (const ReportSection::Claim& claim : from.claims) all.push_back(held(claim));
    return all;
  }

  ReportClaim held(const ReportSection::Claim& claim) {
    ReportClaim result;
    result.text = claim.text;
    result.said = with_unit(claim.said, claim.unit);
    result.why = claim.why;
    const std::optional<double> found = number(claim.sql);
    if (!found) return result;
    const double difference = *found - claim.said;
    result.found = with_unit(*found, claim.unit);
    if (claim.said != 0) result.difference = signed_percent(difference / std::abs(claim.said));
    const bool near = std::abs(difference) <= claim.tolerance * std::abs(claim.said);
    result.verdict = near ? Verdict::reproduced : Verdict::differs;
    return result;
  }

  // Of the query's only field; nothing where it has no rows or is NULL.
  std::optional<double> number(const std::string& sql) {
    const QueryResult result = store_.query(sql, scenario_);
    if (result.rows.empty()) return std::nullopt;
    if (result.rows.size() > 1 || result.columns.size() > 1) {
      throw InputError("a claim's sql must give one row of one column");
    }
    const Field& field = result.rows.front().front();
    if (const auto* text = std::get_if<std::string>(&field)) {
      throw InputError(fmt::format("a claim's sql must give a number; it gives '{}'", *text));
    }
    return number_in(field);
  }

  Store& store_;
  std::string scenario_;
};

std::vector<std::string> provenance(Store& store, const std::string& scenario) {
  std::vector<std::string> lines;
  const QueryResult result = store.query(
      "SELECT count(*), min(finished), max(finished), group_concat(DISTINCT version), "
      "group_concat(DISTINCT host) FROM cases",
      scenario);
  const auto& row = result.rows.front();
  lines.push_back(fmt::format("{} cases, answered from {} to {} (UTC) by strata {} on {}",
                              text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3]),
                              text_of(row[4])));
  lines.push_back("Database: " + store.file());
  return lines;
}

}  // namespace

ReportDocument make_report(const ReportRequest& request) {
  Store store(request.store, OpenMode::read);
  const std::vector<std::string> names = store.scenarios();
  const std::string name = request.scenario.value_or(names.empty() ? "" : names.front());
  const Scenario usual = usual_report();
  Scenario scenario = usual;
  if (!name.empty()) scenario = parse_scenario(store.scenario_text(name), name + ".toml");
  const bool own = !scenario.report.empty() && !name.empty();
  ReportDocument document{name.empty() ? request.store : scenario.name,
                          name.empty() ? "" : scenario.about,
                          provenance(store, name),
                          {}};
  Writer writer(store, name);
  for (const ReportSection& from : own ? scenario.report : usual.report) {
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
