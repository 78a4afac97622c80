#include "sim/json/query_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/json/fields.h"

namespace strata {
namespace {

void check_names(const std::vector<std::string>& columns) {
  for (auto at = columns.begin(); at != columns.end(); ++at) {
    if (std::find(columns.begin(), at, *at) == at) continue;
    throw InputError(fmt::format("two columns are named {}; allowed: other names, by AS", *at));
  }
}

}  // namespace

nlohmann::ordered_json query_json(const QueryResult& result) {
  check_names(result.columns);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : result.rows) {
    auto& line = rows.emplace_back(nlohmann::ordered_json::object());
    for (std::size_t i = 0; i < row.size(); ++i) line[result.columns[i]] = field_json(row[i]);
  }
  return {{"columns", result.columns}, {"rows", std::move(rows)}};
}

}  // namespace strata
