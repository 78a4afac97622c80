// A statement of SQL about a store: refused, or told its columns. Only what reads is taken.

#include "sim/store/query.h"

#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"SELECT",
                                       "FROM",
                                       "WHERE",
                                       "ORDER",
                                       "BY",
                                       "GROUP",
                                       "LIMIT",
                                       "JOIN",
                                       "ON",
                                       "USING",
                                       "AS",
                                       "WITH",
                                       "UNION",
                                       "VALUES",
                                       "RECURSIVE",
                                       "DELETE",
                                       "INSERT",
                                       "UPDATE",
                                       "ATTACH",
                                       "PRAGMA",
                                       "CREATE",
                                       "DROP",
                                       "TABLE",
                                       "VIEW",
                                       "cases",
                                       "tasks",
                                       "layers",
                                       "claims",
                                       "min",
                                       "max",
                                       "avg",
                                       "count",
                                       "step_seconds",
                                       "model",
                                       "cluster",
                                       "strategy",
                                       "scenario",
                                       "sqlite_master",
                                       "load_extension",
                                       "OVER",
                                       "(",
                                       ")",
                                       "*",
                                       ";",
                                       "NULL"};
constexpr std::string_view kLines[] = {"SELECT model, step_seconds FROM cases",
                                       "WHERE model = 'lenet5'",
                                       "ORDER BY 1",
                                       "WITH a(x) AS (SELECT 1) SELECT x FROM a",
                                       ";",
                                       "-- comment"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static strata::QueryCheck check;
  return strata::fuzz(data, size, [](std::string_view text) { check.columns(std::string(text)); });
}
