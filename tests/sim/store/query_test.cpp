#include "sim/store/query.h"

#include <gmock/gmock.h>

#include "sim/base/cancel.h"
#include "sim/text/file.h"
#include "tests/sim/store/store_test.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class QueryTest : public StoreFolder {
 protected:
  QueryTest() {
    for (const char* job : {"predict", "solve", "run"}) add(job);
    add("predict").error = "it does not fit";
    rows_.back().done = false;
    for (const StoredResult& row : rows_) store_.store(row);
  }

  StoredResult& add(const std::string& job) {
    rows_.push_back(answer_to({0, rows_.size() + 1}));
    rows_.back().job = job;
    rows_.back().devices = static_cast<std::int64_t>(rows_.size());
    return rows_.back();
  }
  std::string ask(const std::string& sql, const std::string& scenario = {}) {
    return print(store_.query(sql, scenario));
  }
  std::string refusal(const std::string& sql) {
    return said<InputError>([&] { store_.query(sql); });
  }

  Store store_ = open_and_enter(path("a.db"));
  std::vector<StoredResult> rows_;
};

TEST_F(QueryTest, HasAViewForEveryJobAndForFailures) {
  EXPECT_EQ(ask("SELECT job, devices FROM results"), "predict 1; solve 2; run 3; predict 4");
  EXPECT_EQ(ask("SELECT devices FROM predictions"), "1");
  EXPECT_EQ(ask("SELECT devices FROM solves"), "2");
  EXPECT_EQ(ask("SELECT devices FROM runs"), "3");
  EXPECT_EQ(ask("SELECT devices, error FROM failures"), "4 it does not fit");
}

TEST_F(QueryTest, GivesColumnsTheirNamesAndValuesTheirTypes) {
  const QueryResult got =
      store_.query("SELECT 1 AS a, 0.5 AS b, 'x' AS c, x'00ff' AS d, NULL AS e");
  EXPECT_THAT(got.columns, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(got.rows,
              ElementsAre(ElementsAre(Field(std::int64_t{1}), Field(0.5), Field(std::string("x")),
                                      Field(std::string("00ff")), Field(std::monostate{}))));
  EXPECT_THAT(store_.query("SELECT key FROM results WHERE 0").columns, ElementsAre("key"));
}

TEST_F(QueryTest, CanBeCalledOff) {
  const std::atomic<bool> called_off = true;
  store_.stop_when(&called_off);
  EXPECT_THROW(store_.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                            "SELECT max(i) FROM n"),
               Cancelled);
  store_.stop_when(nullptr);
  EXPECT_EQ(ask("SELECT devices FROM runs"), "3");
}

TEST_F(QueryTest, ShowsTheCasesOfAScenarioInTheirOrder) {
  const std::vector<Store::ScenarioCase> cases = {
      {"s", {0, 3}}, {"s", {0, 99}}, {"s", {0, 1}}, {"t", {0, 3}}};
  store_.record_scenario("one", "one.toml", "text", cases);
  // Nobody has answered the second case.
  EXPECT_EQ(ask("SELECT ordinal, sweep, devices FROM cases", "one"), "0 s 3; 2 s 1; 3 t 3");
  // Of the whole file, in the order of answering; the sweep is the first that holds the case.
  EXPECT_EQ(ask("SELECT ordinal, sweep, devices FROM cases"), "1 s 1; 2 NULL 2; 3 s 3; 4 NULL 4");
  EXPECT_EQ(said<InputError>([&] { ask("SELECT 1", "two"); }),
            path("a.db") + ": has no scenario 'two'; it has: one");
}

TEST_F(QueryTest, NamesTheNewestSweepThatHoldsACase) {
  store_.record_scenario("one", "one.toml", "text",
                         std::vector<Store::ScenarioCase>{{"s", {0, 1}}});
  store_.record_scenario("two", "two.toml", "text",
                         std::vector<Store::ScenarioCase>{{"t", {0, 1}}});
  EXPECT_EQ(ask("SELECT sweep FROM cases WHERE sweep IS NOT NULL"), "t");
  EXPECT_EQ(ask("SELECT sweep FROM cases", "one"), "s");
}

TEST_F(QueryTest, TellsCasesApartByTheSettingsInWhichTheyDiffer) {
  std::vector<Store::ScenarioCase> cases;
  for (const std::string settings : {
           R"({"model":"a","batch":"512","sync":"ps","set.link.inter.bandwidth":"2x"})",
           R"({"model":"b","batch":"512","sync":"ps","set.link.inter.bandwidth":"1x"})",
           R"({"model":"b","batch":"64","sync":"ps","layers":"true","set.overlap":"off"})",
           R"({"model":"b","batch":"64","sync":"ps","profile":["a.toml","b.toml"]})",
       }) {
    StoredResult row = answer_to({1, cases.size() + 1});
    row.settings = settings;
    store_.store(row);
    cases.push_back({"s", row.key});
  }
  store_.record_scenario("all", "all.toml", "text", cases);
  // All have one sync, a model has a column of its own, and layers change no answer.
  EXPECT_EQ(ask("SELECT varies FROM cases", "all"),
            "batch 512, link.inter.bandwidth=2x; batch 512, link.inter.bandwidth=1x; "
            "batch 64, overlap=off; batch 64, profile [\"a.toml\",\"b.toml\"]");
  // The rows that differ are those of the scenario.
  store_.record_scenario("first", "first.toml", "text", std::span(cases).first(2));
  EXPECT_EQ(ask("SELECT varies FROM cases", "first"),
            "link.inter.bandwidth=2x; link.inter.bandwidth=1x");
  store_.record_scenario("one", "one.toml", "text", std::span(cases).first(1));
  EXPECT_EQ(ask("SELECT '<' || varies || '>' FROM cases", "one"), "<>");
  // In the whole file there are rows without any settings, too.
  EXPECT_EQ(ask("SELECT varies FROM cases WHERE varies LIKE '%overlap%'"),
            "batch 64, sync ps, overlap=off");
}

TEST_F(QueryTest, CountsWhatIsAnsweredOfEachSweep) {
  const std::vector<Store::ScenarioCase> cases = {{"s", {0, 3}}, {"s", {0, 99}}, {"s", {0, 4}},
                                                  {"t", {0, 3}}, {"t", {0, 98}}, {"t", {0, 97}}};
  store_.record_scenario("one", "one.toml", "text", cases);
  store_.record_scenario("two", "two.toml", "text", std::span(cases).last(1));
  EXPECT_EQ(ask("SELECT * FROM progress", "one"), "one one.toml s 3 1 1 1; one one.toml t 3 1 0 2");
  EXPECT_EQ(ask("SELECT * FROM progress"),
            "two two.toml t 1 0 0 1; one one.toml s 3 1 1 1; one one.toml t 3 1 0 2");
}

TEST_F(QueryTest, AnswersWhatSqlCanAsk) {
  EXPECT_EQ(ask("  SELECT 1 ;; -- a comment\n /* another */ "), "1");
  EXPECT_EQ(ask("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) "
                "SELECT sum(i) FROM n"),
            "10");
  EXPECT_EQ(ask("SELECT json_extract('{\"a\": 7}', '$.a'), count(*) FROM json_each('[1, 2]')"),
            "7 2");
  EXPECT_EQ(ask("SELECT count(*) FROM json_tree('[1, 2]')"), "3");
  EXPECT_EQ(ask("SELECT count(*) FROM sqlite_schema WHERE type = 'view'"), "5");
}

TEST_F(QueryTest, SaysWhatIsWrongInSqlitesWords) {
  EXPECT_EQ(refusal("SELECT absent FROM Progress"),
            path("a.db") +
                ": no such column: absent; progress has: scenario, file, sweep, cases, "
                "answered, failed, missing");
  EXPECT_EQ(refusal("SELECT l.absent FROM layer AS l, result_input"),
            path("a.db") +
                ": no such column: l.absent; layer has: result, ordinal, name, n, c, d, "
                "h, w, compute_seconds, transfer_seconds, sync_seconds, r, scatter; result_input "
                "has: result, ordinal, input");
  EXPECT_EQ(refusal("SELECT absent"), path("a.db") + ": no such column: absent");
  EXPECT_EQ(refusal("SELECT 1 FROM absent"),
            path("a.db") +
                ": no such table: absent; there are: case_layers, cases, progress, "
                "failures, predictions, results, runs, solves, claim, input, "
                "invocation, layer, owner, result, result_input, scenario, "
                "scenario_case");
  EXPECT_EQ(refusal("SELEC 1"), path("a.db") + ": near \"SELEC\": syntax error");
  EXPECT_EQ(refusal("SELECT sum(9223372036854775807) FROM results"),
            path("a.db") + ": integer overflow");
  EXPECT_THAT(refusal(""), HasSubstr("there is no statement"));
  EXPECT_THAT(refusal(" -- nothing"), HasSubstr("there is no statement"));
  EXPECT_THAT(refusal(std::string("SELECT 1\0; x", 12)), HasSubstr("NUL"));
}

TEST_F(QueryTest, IsCheckedWithoutAnyFile) {
  QueryCheck check;
  check.columns("SELECT varies, sum(compute_seconds) FROM case_layers GROUP BY varies");
  const auto wrong = [&](const std::string& sql) {
    return said<InputError>([&] { check.columns(sql); });
  };
  EXPECT_THAT(wrong("SELECT speed FROM cases"),
              HasSubstr("query: no such column: speed; cases has: ordinal, sweep, varies, id"));
  EXPECT_THAT(wrong("DELETE FROM result"), HasSubstr("allowed: one statement that only reads"));
  EXPECT_THAT(wrong("SELECT 1; SELECT 2"), HasSubstr("several statements"));
}

TEST_F(QueryTest, DoesNothingButRead) {
  { const Store closed = std::move(store_); }  // so that the whole content is in the file
  store_ = Store(path("a.db"), OpenMode::write);
  const std::string before = ask("SELECT group_concat(sql) FROM sqlite_schema");
  const std::string other = path("other.db");
  for (const std::string sql : {
           "INSERT INTO input (kind, name, hash) VALUES ('a', 'b', zeroblob(16))",
           "UPDATE result SET step_seconds = 0",
           "DELETE FROM result",
           "DELETE FROM result RETURNING id",
           "WITH a AS (SELECT 1) DELETE FROM result",
           "REPLACE INTO claim VALUES (zeroblob(16), 1)",
           "DROP TABLE layer",
           "CREATE TABLE a (b)",
           "CREATE TEMP TABLE a (b)",
           "ALTER TABLE layer ADD COLUMN x",
           "CREATE INDEX a ON layer (name)",
           "REINDEX",
           "ANALYZE",
           "VACUUM",
           "BEGIN",
           "COMMIT",
           "SAVEPOINT a",
           "PRAGMA user_version = 3",
           "PRAGMA journal_mode = DELETE",
           "PRAGMA writable_schema = 1",
           "PRAGMA user_version",
           "SELECT * FROM pragma_journal_mode('delete')",
           "SELECT load_extension('x')",
           "DETACH main",
       }) {
    EXPECT_NE(refusal(sql), "") << sql;
  }
  EXPECT_NE(refusal("ATTACH '" + other + "' AS a"), "");
  EXPECT_NE(refusal("VACUUM INTO '" + other + "'"), "");
  for (const std::string sql :
       {"SELECT 1; SELECT 2", "SELECT 1; DELETE FROM result", "SELECT 1; x"}) {
    EXPECT_NE(refusal(sql), "") << sql;
  }
  EXPECT_THAT(refusal("DELETE FROM result"), HasSubstr("allowed: one statement that only reads"));
  EXPECT_EQ(ask("SELECT group_concat(sql) FROM sqlite_schema"), before);
  EXPECT_EQ(ask("SELECT count(*) FROM result"), "4");
  EXPECT_FALSE(std::filesystem::exists(other));
  // It is the query that is held, not the Store.
  store_.enter(invocation_of("again"));
  EXPECT_TRUE(store_.store(answer_to({7, 7})));
}

}  // namespace
}  // namespace strata
