#include <string_view>

#include "sim/report/document.h"
#include "sim/report/number.h"

namespace strata {
namespace {

// RFC 4180, section 2. The only field of a line is quoted when it is empty, as the line would else
// be no record.
std::string field(std::string_view text, bool alone) {
  const bool plain = text.find_first_of("\",\r\n") == std::string_view::npos;
  if (plain && !(alone && text.empty())) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string text_of(const Cell& cell) {
  return cell.number ? shortest(*cell.number) : cell.text;
}
std::string text_of(const std::string& column) {
  return column;
}

template <class Texts>
std::string record(const Texts& texts) {
  std::string line;
  const char* between = "";
  for (const auto& text : texts) {
    line += between + field(text_of(text), texts.size() == 1);
    between = ",";
  }
  return line + "\r\n";
}

}  // namespace

std::string print_csv(const ReportTable& table) {
  check(table);
  if (table.columns.empty()) return {};
  std::string csv = record(table.columns);
  for (const auto& row : table.rows) csv += record(row);
  return csv;
}

}  // namespace strata
