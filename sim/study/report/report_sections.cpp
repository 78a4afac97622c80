#include "sim/study/report/report_sections.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/study/report/query_cells.h"

namespace strata {
namespace {

std::string signed_percent(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 100 ? fmt::format("{:+.2g} %", percent)
                                 : fmt::format("{:+.0f} %", percent);
}

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() || unit == "x" ? "" : " ", unit);
}

std::string where_of(const ReportSection& section) {
  return fmt::format("{}: report '{}'", print(section.where), section.title);
}

ReportClaim unanswered(const ReportSection::Claim& claim) {
  ReportClaim result;
  result.text = claim.text;
  result.said = with_unit(claim.said, claim.unit);
  result.why = claim.why;
  return result;
}

}  // namespace

std::optional<Section> SectionWriter::write(const ReportSection& from, bool must) {
  Section section{from.title, from.text, {}, {}};
  try {
    if (!fill(from, section) && !must) return std::nullopt;
  } catch (const InputError& error) {
    section.errors.push_back(fmt::format("{}: {}", where_of(from), error.message()));
  }
  return section;
}

bool SectionWriter::fill(const ReportSection& from, Section& section) {
  if (from.kind == ReportSection::Kind::text) return true;
  if (from.kind == ReportSection::Kind::claims) {
    section.body = claims(from, section);
    return true;
  }
  const QueryResult result = store_.query(from.sql, scenario_);
  if (from.kind == ReportSection::Kind::table) {
    section.body = table_of(result);
  } else {
    section.body = chart_of(result, from);
    section.data = table_of(result);
  }
  return !result.rows.empty();
}

std::vector<ReportClaim> SectionWriter::claims(const ReportSection& from, Section& section) {
  std::vector<ReportClaim> all;
  for (const ReportSection::Claim& claim : from.claims) {
    try {
      all.push_back(held(claim));
    } catch (const InputError& error) {
      all.push_back(unanswered(claim));
      section.errors.push_back(
          fmt::format("{}: claim '{}': {}", where_of(from), claim.text, error.message()));
    }
  }
  return all;
}

ReportClaim SectionWriter::held(const ReportSection::Claim& claim) {
  ReportClaim result = unanswered(claim);
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
std::optional<double> SectionWriter::number(const std::string& sql) {
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

}  // namespace strata
