#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "sim/report/document.h"
#include "sim/report/escape.h"
#include "sim/report/style.h"

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

// Empty for a table without columns.
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

constexpr std::ptrdiff_t kSectionsAtAGlance = 4;  // more get a table of contents

// The policy forbids what the page does not need: scripts, and whatever lies outside of it.
std::string head(const ReportDocument& document) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      escape_markup(document.title), page_style());
}

std::string prose(const std::string& text) {
  std::string html;
  for (const std::string& paragraph : paragraphs(text)) {
    html += fmt::format("<p>{}</p>\n", escape_markup(paragraph));
  }
  return html;
}

std::string boxes(const char* kind, const char* lead, const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) {
    html += fmt::format("<p class=\"{}\">{}{}</p>\n", kind, lead, escape_markup(line));
  }
  return html;
}

bool has_title(const Section& section) {
  return !section.title.empty();
}

std::string contents(const std::vector<Section>& sections) {
  const auto titles = std::count_if(sections.begin(), sections.end(), has_title);
  if (titles <= kSectionsAtAGlance) return {};
  std::string html = "<nav aria-label=\"Contents\">\n<ol>\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!has_title(sections[i])) continue;
    html += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", i + 1,
                        escape_markup(sections[i].title));
  }
  return html + "</ol>\n</nav>\n";
}

std::string data_of(const Section& section) {
  const std::string table = html_table(section.data);
  if (table.empty()) return {};
  return "<details>\n<summary>Data</summary>\n" + table + "</details>\n";
}

using Figure = std::function<std::string(const Chart&)>;

struct HtmlBody {
  const Section& section;
  const Figure& figure;  ///< none: the chart itself, and its data
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const ReportTable& table) const { return html_table(table); }
  std::string operator()(const Chart& chart) const {
    if (figure) return figure(chart);
    return "<figure>\n" + print_svg(chart) + "</figure>\n" + data_of(section);
  }
  std::string operator()(const std::vector<ReportClaim>& claims) const {
    return html_claims(claims);
  }
};

std::string section_of(const Section& section, std::size_t number, const Figure& figure = {}) {
  const std::string title =
      has_title(section) ? fmt::format("<h2>{}</h2>\n", escape_markup(section.title)) : "";
  return fmt::format("<section id=\"section-{}\">\n{}{}{}{}</section>\n", number, title,
                     prose(section.text), boxes("error", "Error: ", section.errors),
                     std::visit(HtmlBody{section, figure}, section.body));
}

std::string footer(const std::vector<std::string>& provenance) {
  if (provenance.empty()) return {};
  std::string html = "<footer>\n<ul>\n";
  for (const std::string& line : provenance) {
    html += fmt::format("<li>{}</li>\n", escape_markup(line));
  }
  return html + "</ul>\n</footer>\n";
}

}  // namespace

std::string print_html(const ReportDocument& document) {
  std::string html = head(document) + "<body>\n<main>\n";
  html += fmt::format("<h1>{}</h1>\n", escape_markup(document.title));
  html += boxes("note", "", document.notes);
  html += prose(document.about) + contents(document.sections);
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    html += section_of(document.sections[i], i + 1);
  }
  return html + footer(document.provenance) + "</main>\n</body>\n</html>\n";
}

std::string print_html_body(const ReportDocument& document,
                            const std::function<std::string(const Chart&)>& figure) {
  std::string html = fmt::format("<h1>{}</h1>\n", escape_markup(document.title));
  html += boxes("note", "", document.notes) + prose(document.about);
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    html += section_of(document.sections[i], i + 1, figure);
  }
  return html + footer(document.provenance);
}

}  // namespace strata
