#pragma once

// A table for people: columns as wide as their cells, numbers to the right.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/result.h"

namespace strata {

class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  struct Cell {
    std::string title, text;
    Align align = Align::right;
  };
  static constexpr Align left = Align::left;

  TextTable() = default;
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The same, each with what is above it; the first row's are the table's columns.
  void add(const std::vector<Cell>& row);
  std::size_t row_count() const { return rows_.size(); }
  std::string print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of results, a line for each result.
std::string print_results(std::span<const CaseResult> results,
                          std::initializer_list<std::string_view> keys);

}  // namespace strata
