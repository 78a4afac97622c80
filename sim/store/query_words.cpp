#include "sim/store/query_words.h"

#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace strata {
namespace {

bool in_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// In lower case, as SQLite's names are alike in any. What stands in strings and comments counts
// too, which makes an error longer at worst.
std::set<std::string> words_in(std::string_view sql) {
  std::set<std::string> words;
  std::string word;
  for (char c : std::string(sql) + ' ') {
    if (in_a_name(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// Views first, those of queries foremost, in one order whatever the file.
std::vector<std::string> tables_of(Database& database) {
  Statement all(database,
                "SELECT name, 0 AS place FROM sqlite_temp_schema WHERE name <> 'varying_keys' "
                "UNION ALL SELECT name, CASE type WHEN 'view' THEN 1 ELSE 2 END FROM sqlite_schema "
                "WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite%' ORDER BY place, name");
  std::vector<std::string> names;
  while (all.step()) names.push_back(all.text(0));
  return names;
}

std::vector<std::string> columns_of(Database& database, const std::string& table) {
  return Statement(database, fmt::format("SELECT * FROM {} LIMIT 0", table)).column_names();
}

bool says(std::string_view words, std::string_view part) {
  return words.find(part) != std::string_view::npos;
}

}  // namespace

std::string what_there_is(Database& database, std::string_view sql, std::string_view words) {
  const std::vector<std::string> tables = tables_of(database);
  if (says(words, "no such table")) return fmt::format("; there are: {}", fmt::join(tables, ", "));
  if (!says(words, "no such column")) return {};
  const std::set<std::string> named = words_in(sql);
  std::string there;
  for (const std::string& table : tables) {
    if (!named.contains(table)) continue;
    there += fmt::format("; {} has: {}", table, fmt::join(columns_of(database, table), ", "));
  }
  return there;
}

}  // namespace strata
