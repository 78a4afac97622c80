#include "sim/report/html_table.h"

#include <fmt/format.h>

#include "sim/report/check.h"
#include "sim/report/claims.h"
#include "sim/report/columns.h"
#include "sim/report/escape.h"

namespace strata {
namespace {

constexpr const char* kOpenTable = "<div class=\"wide\">\n<table>\n<thead>\n<tr>";
constexpr const char* kOpenBody = "</tr>\n</thead>\n<tbody>\n";
constexpr const char* kCloseTable = "</tbody>\n</table>\n</div>\n";

std::string column_head(const std::string& name, bool number) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "",
                     escape_markup(name));
}

std::string cell_of(const Cell& cell) {
  return fmt::format("<td{}>{}</td>", cell.number ? " class=\"number\"" : "",
                     escape_markup(cell.text));
}

std::string html_row(const std::vector<Cell>& row) {
  std::string html = "<tr>";
  for (const Cell& cell : row) html += cell_of(cell);
  return html + "</tr>\n";
}

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"badge {0}\">{1} {0}</span>", name(verdict), symbol(verdict));
}

std::string claim_row(const ReportClaim& claim) {
  const std::string why =
      claim.why.empty() ? "" : fmt::format("<p>{}</p>", escape_markup(claim.why));
  return fmt::format(
      "<tr><td>{}</td><td>{}{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
      "<td class=\"number\">{}</td></tr>\n",
      badge(claim.verdict), escape_markup(claim.text), why, escape_markup(claim.said),
      escape_markup(claim.found), escape_markup(claim.difference));
}

}  // namespace

std::string html_table(const ReportTable& table) {
  check(table);
  if (table.columns.empty()) return {};
  std::string html = kOpenTable;
  const std::vector<bool> numbers = number_columns(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    html += column_head(table.columns[i], numbers[i]);
  }
  html += kOpenBody;
  for (const auto& row : table.rows) html += html_row(row);
  return html + kCloseTable;
}

std::string html_claims(const std::vector<ReportClaim>& claims) {
  std::string html = kOpenTable;
  for (const char* column : {"Verdict", "Claim"}) html += column_head(column, false);
  for (const char* column : {"Said", "Found", "Difference"}) html += column_head(column, true);
  html += kOpenBody;
  for (const ReportClaim& claim : claims) html += claim_row(claim);
  return html + kCloseTable;
}

}  // namespace strata
