#include "cli/output/table.h"

#include <algorithm>

#include <fmt/format.h>

namespace strata {
namespace {

// Columns as a terminal counts them: UTF-8 continuation bytes take none.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::string space(width - width_of(cell), ' ');
  return align == TextTable::Align::left ? cell + space : space + cell;
}

}  // namespace

void TextTable::add(const std::vector<Cell>& row) {
  std::vector<std::string> cells;
  for (const auto& [title, text, align] : row) {
    if (rows_.empty()) columns_.push_back({title, align});
    cells.push_back(text);
  }
  add_row(std::move(cells));
}

std::string TextTable::print() const {
  std::vector<std::size_t> widths;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    std::size_t width = width_of(columns_[k].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[k]));
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (k > 0) line += "  ";
      line += padded(cell_of(k), widths[k], columns_[k].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t k) { return columns_[k].title; });
  add_line([&](std::size_t k) { return std::string(widths[k], '-'); });
  for (const auto& row : rows_) add_line([&](std::size_t k) { return row[k]; });
  return text;
}

std::string print_results(std::span<const CaseResult> results,
                          std::initializer_list<std::string_view> keys) {
  std::vector<TextTable::Column> headings;
  for (const std::string_view key : keys) {
    using Align = TextTable::Align;
    const bool text = type_of(column(key)) == ColumnType::text;
    headings.push_back({heading_of(column(key)), text ? Align::left : Align::right});
  }
  TextTable table(std::move(headings));
  for (const CaseResult& result : results) {
    std::vector<std::string> row;
    for (const std::string_view key : keys) row.push_back(text_of(column(key), result));
    table.add_row(std::move(row));
  }
  return table.print();
}

}  // namespace strata
