#include <fmt/format.h>

#include "sim/report/document.h"
#include "sim/report/escape.h"

namespace strata {
namespace {

// Blocks stand apart by an empty line.
void add_block(std::string& out, const std::string& block) {
  if (block.empty()) return;
  if (!out.empty()) out += "\n";
  out += block + "\n";
}

void add_prose(std::string& out, const std::string& text) {
  for (const std::string& paragraph : paragraphs(text)) add_block(out, escape_markdown(paragraph));
}

void add_heading(std::string& out, const char* marks, const std::string& title) {
  const std::string escaped = escape_markdown_line(title);
  if (!escaped.empty()) add_block(out, fmt::format("{} {}", marks, escaped));
}

std::string row_of(const std::vector<Cell>& row) {
  std::string line = "\n|";
  for (const Cell& cell : row) line += fmt::format(" {} |", escape_markdown_line(cell.text));
  return line;
}

std::string head_of(const ReportTable& table) {
  std::string names = "|", marks = "\n|";
  const std::vector<bool> numbers = number_columns(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    names += fmt::format(" {} |", escape_markdown_line(table.columns[i]));
    marks += numbers[i] ? " --: |" : " --- |";
  }
  return names + marks;
}

void add_table(std::string& out, const ReportTable& table) {
  check(table);
  if (table.columns.empty()) return;
  std::string block = head_of(table);
  for (const auto& row : table.rows) block += row_of(row);
  add_block(out, block);
}

// Quotations stand out from the text in every reader of Markdown.
void add_boxes(std::string& out, const char* lead, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    add_block(out, fmt::format("> {}{}", lead, escape_markdown_line(line)));
  }
}

struct BodyPrinter {
  std::string& out;
  const Section& section;
  void operator()(std::monostate) const {}
  void operator()(const ReportTable& table) const { add_table(out, table); }
  void operator()(const Chart& chart) const {
    check(chart);
    add_table(out, section.data);
  }
  void operator()(const std::vector<ReportClaim>& claims) const {
    add_table(out, table_of(claims));
  }
};

std::string list_of(const std::vector<std::string>& lines) {
  std::string block;
  for (const std::string& line : lines) {
    block += fmt::format("{}* {}", block.empty() ? "" : "\n", escape_markdown(line));
  }
  return block;
}

}  // namespace

std::string print_markdown(const ReportDocument& document) {
  std::string out;
  add_heading(out, "#", document.title);
  add_boxes(out, "", document.notes);
  add_prose(out, document.about);
  for (const Section& section : document.sections) {
    add_heading(out, "##", section.title);
    add_prose(out, section.text);
    add_boxes(out, "Error: ", section.errors);
    std::visit(BodyPrinter{out, section}, section.body);
  }
  if (!document.provenance.empty()) add_block(out, "---");
  add_block(out, list_of(document.provenance));
  return out;
}

}  // namespace strata
