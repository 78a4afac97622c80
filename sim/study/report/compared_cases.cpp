#include "sim/study/report/compared_cases.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/study/report/query_cells.h"

namespace strata {
namespace {

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (char c : text) result += c == quote ? std::string(2, quote) : std::string(1, c);
  return result + quote;
}

// What a row is known by when stores are compared, and what its line shows.
constexpr const char* kCases =
    "SELECT job || ' ' || settings AS known, model, cluster, batch, strategy, varies, "
    "coalesce(measured_seconds, step_seconds) AS step_seconds, comm_bytes FROM cases "
    "WHERE done ORDER BY sweep, ordinal";
constexpr std::size_t kKnown = 0, kFirstShown = 1, kStepColumn = 6;

std::map<std::string, std::vector<Field>> by_settings(const QueryResult& result) {
  std::map<std::string, std::vector<Field>> rows;
  for (const auto& row : result.rows) rows.emplace(text_of(row[kKnown]), row);
  return rows;
}

// Throws InputError for a strategy that no case has.
void check_strategy(Store& store, const std::string& scenario, const std::string& strategy) {
  const QueryResult result = store.query(
      "SELECT strategy FROM cases WHERE done AND strategy <> '' GROUP BY strategy "
      "ORDER BY min(ordinal)",
      scenario);
  std::vector<std::string> there;
  for (const auto& row : result.rows) there.push_back(text_of(row.front()));
  if (std::find(there.begin(), there.end(), strategy) != there.end()) return;
  throw InputError(fmt::format("{}: has no case of strategy '{}'; it has: {}", store.file(),
                               strategy,
                               there.empty() ? "none" : fmt::to_string(fmt::join(there, ", "))));
}

Field ratio(const Field& a, const Field& b) {
  const auto x = number_in(a), y = number_in(b);
  if (!x || !y || *y == 0) return {};
  return *x / *y;
}

}  // namespace

Section compared_strategies(Store& store, const std::string& scenario,
                            const std::pair<std::string, std::string>& strategies) {
  const auto& [a, b] = strategies;
  for (const std::string& strategy : {a, b}) check_strategy(store, scenario, strategy);
  const std::string sql = fmt::format(
      "SELECT a.model, a.cluster, a.batch, a.varies, "
      "coalesce(a.measured_seconds, a.step_seconds) AS {0}, "
      "coalesce(b.measured_seconds, b.step_seconds) AS {1}, "
      "coalesce(a.measured_seconds, a.step_seconds) / "
      "coalesce(b.measured_seconds, b.step_seconds) AS {2}, "
      "a.comm_bytes AS {3}, b.comm_bytes AS {4} "
      "FROM cases a JOIN cases b ON a.job = b.job AND a.sweep IS b.sweep AND "
      "json_remove(a.settings, '$.strategy') = json_remove(b.settings, '$.strategy') "
      "WHERE a.strategy = {5} AND b.strategy = {6} AND a.done AND b.done "
      "ORDER BY a.sweep, a.ordinal",
      in_quotes(a + "_seconds", '"'), in_quotes(b + "_seconds", '"'),
      in_quotes(b + " is faster by", '"'), in_quotes(a + "_bytes", '"'),
      in_quotes(b + "_bytes", '"'), in_quotes(a, '\''), in_quotes(b, '\''));
  Section section{fmt::format("{} beside {}", a, b),
                  "Cases that are equal but for the strategy: step times, how many times faster "
                  "the second is, and what they move.",
                  {},
                  {}};
  const QueryResult pairs = store.query(sql, scenario);
  if (pairs.rows.empty()) section.text += " There are none.";
  section.body = table_of(pairs);
  return section;
}

Section compared_stores(Store& store, const std::string& other, const std::string& scenario) {
  Store second(other, OpenMode::read);
  const QueryResult ours = store.query(kCases, scenario);
  const auto theirs = by_settings(second.query(kCases, scenario));
  QueryResult both;
  both.columns.assign(ours.columns.begin() + kFirstShown, ours.columns.begin() + kStepColumn);
  for (const char* name : {"first_seconds", "second_seconds", "second / first"}) {
    both.columns.emplace_back(name);
  }
  for (const auto& row : ours.rows) {
    const auto match = theirs.find(text_of(row[kKnown]));
    if (match == theirs.end()) continue;
    auto& line = both.rows.emplace_back(row.begin() + kFirstShown, row.begin() + kStepColumn);
    line.push_back(row[kStepColumn]);
    line.push_back(match->second[kStepColumn]);
    line.push_back(ratio(match->second[kStepColumn], row[kStepColumn]));
  }
  Section section{fmt::format("{} beside {}", store.file(), other),
                  fmt::format("Cases of equal settings: {} of {} in the first database and {} in "
                              "the second.",
                              both.rows.size(), ours.rows.size(), theirs.size()),
                  {},
                  {}};
  section.body = table_of(both);
  return section;
}

}  // namespace strata
