#include "sim/report/columns.h"

#include <algorithm>

namespace strata {

std::vector<bool> number_columns(const ReportTable& table) {
  std::vector<bool> numbers;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto is_number = [i](const auto& row) { return row[i].number.has_value(); };
    const auto fits = [i](const auto& row) { return row[i].number || row[i].text.empty(); };
    numbers.push_back(std::any_of(table.rows.begin(), table.rows.end(), is_number) &&
                      std::all_of(table.rows.begin(), table.rows.end(), fits));
  }
  return numbers;
}

}  // namespace strata
