#pragma once

// A folder for files, rows to put into them, and what they answer as text.

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/store/sqlite.h"
#include "sim/store/store.h"

namespace strata {

class StoreFolder : public testing::Test {
 protected:
  StoreFolder() {
    std::string pattern = testing::TempDir() + "strata_store_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~StoreFolder() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// All files of the folder, with spaces.
  std::string names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, " "));
  }

  std::string folder_;
};

inline Invocation invocation_of(const std::string& command) {
  return {"0.1.0", command, "box", "2026-11-21T08:00:00Z"};
}

inline Store open_and_enter(const std::string& file, const std::string& command = "strata sweep",
                            const StoreLimits& limits = {}) {
  Store store(file, OpenMode::create, limits);
  store.enter(invocation_of(command));
  return store;
}

/// Keys 1, 2, ..., count.
inline std::vector<CaseKey> keys_to(std::size_t count) {
  std::vector<CaseKey> keys;
  for (std::uint64_t i = 1; i <= count; ++i) keys.push_back({0, i});
  return keys;
}

/// The least that a row is.
inline StoredResult answer_to(CaseKey key) {
  StoredResult result;
  result.key = key;
  result.job = "predict";
  result.settings = "{}";
  return result;
}

/// "NULL", 7, 0.1, text: doubles to the bit.
inline std::string print(const Field& field) {
  if (const auto* integer = std::get_if<std::int64_t>(&field)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&field)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  return "NULL";
}

/// "a b" of each row, and "; " between rows.
inline std::string print(const QueryResult& result) {
  std::vector<std::string> rows;
  for (const std::vector<Field>& row : result.rows) {
    std::vector<std::string> fields;
    for (const Field& field : row) fields.push_back(print(field));
    rows.push_back(fmt::format("{}", fmt::join(fields, " ")));
  }
  return fmt::format("{}", fmt::join(rows, "; "));
}

/// What a statement on the bare file answers.
inline std::string bare(const std::string& file, const std::string& sql) {
  Database database(file, OpenMode::write, StoreLimits{});
  Statement statement(database, sql);
  QueryResult result;
  while (statement.step()) {
    std::vector<Field>& row = result.rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.field(i));
  }
  return print(result);
}

/// What an action's error of this class says; "" if it throws none.
template <class Kind, class Action>
std::string said(Action&& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

}  // namespace strata
