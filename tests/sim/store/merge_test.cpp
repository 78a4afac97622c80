#include <gmock/gmock.h>

#include "tests/sim/store/store_test.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MergeTest : public StoreFolder {
 protected:
  /// An answer whose input and layer are named by the file that it came from.
  static StoredResult answer(std::uint64_t key, const std::string& from) {
    StoredResult result = answer_to({0, key});
    result.model = from;
    result.inputs = {{"data", "shared", {9, 9}}, {"model", from, {1, key}}};
    result.layers = {{from, 2}};
    return result;
  }

  std::string ask(const std::string& sql) { return print(into_.query(sql)); }

  Store into_ = open_and_enter(path("a.db"), "a");
};

constexpr const char* kRowsWithAll =
    "SELECT r.key, r.model, r.command, group_concat(i.name, ','), l.name, l.n FROM results AS r "
    "JOIN result_input AS u ON u.result = r.id JOIN input AS i ON i.id = u.input "
    "JOIN layer AS l ON l.result = r.id GROUP BY r.id ORDER BY r.id";

TEST_F(MergeTest, TakesRowsThatAreNotThereWithAllThatBelongsToThem) {
  into_.store(answer(1, "a"));
  {
    Store other = open_and_enter(path("b.db"), "b");
    other.store(answer(2, "b"));  // its ids are those of a's first row
    other.store(answer(1, "b"));
    other.store(answer(3, "b"));
    other.claim(keys_to(9), 9);
  }
  EXPECT_EQ(into_.merge(path("b.db")), 2U);
  const std::string rows =
      "00000000000000000000000000000001 a a shared,a a 2; "
      "00000000000000000000000000000002 b b shared,b b 2; "
      "00000000000000000000000000000003 b b shared,b b 2";
  EXPECT_EQ(ask(kRowsWithAll), rows);
  EXPECT_EQ(ask("SELECT count(*) FROM claim"), "0");
  EXPECT_EQ(into_.merge(path("b.db")), 0U);
  EXPECT_EQ(names(), "a.db a.db-shm a.db-wal b.db");
  EXPECT_EQ(ask(kRowsWithAll), rows);
  EXPECT_EQ(ask("SELECT (SELECT count(*) FROM input), (SELECT count(*) FROM invocation), "
                "(SELECT count(*) FROM result_input), (SELECT count(*) FROM layer)"),
            "4 2 6 3");
}

TEST_F(MergeTest, KeepsTimesAndNumbersAsTheyWere) {
  std::string finished;
  {
    Store other = open_and_enter(path("b.db"), "b");
    StoredResult result = answer(1, "b");
    result.step_seconds = 0.1;
    result.p95_seconds = 1.0 / 3;
    other.store(result);
    finished = print(other.query("SELECT finished, step_seconds, p95_seconds FROM results"));
  }
  into_.merge(path("b.db"));
  EXPECT_EQ(ask("SELECT finished, step_seconds, p95_seconds FROM results"), finished);
}

TEST_F(MergeTest, AddsCasesToAScenarioOfTheSameText) {
  using Cases = std::vector<Store::ScenarioCase>;
  into_.record_scenario("s", "s.toml", "text", Cases{{"x", {0, 1}}, {"x", {0, 2}}});
  {
    Store other(path("b.db"));
    other.record_scenario("s", "elsewhere.toml", "text",
                          Cases{{"x", {0, 2}}, {"y", {0, 2}}, {"x", {0, 3}}});
    other.record_scenario("t", "t.toml", "new", Cases{{"x", {0, 1}}, {"x", {0, 1}}});
  }
  into_.merge(path("b.db"));
  const std::string sql =
      "SELECT s.name, ordinal, sweep, substr(hex(c.key), 31) FROM scenario_case AS c "
      "JOIN scenario AS s ON s.id = c.scenario ORDER BY s.name, ordinal";
  // The other's second and third case follow behind what was here: 2 + their places.
  const std::string all = "s 0 x 01; s 1 x 02; s 3 y 02; s 4 x 03; t 0 x 01; t 1 x 01";
  EXPECT_EQ(ask(sql), all);
  EXPECT_EQ(into_.merge(path("b.db")), 0U);
  EXPECT_EQ(ask(sql), all);
  EXPECT_EQ(into_.scenario_text("t"), "new");
}

TEST_F(MergeTest, KeepsScenariosOfOneNameAndTwoTexts) {
  {
    Store other(path("b.db"));
    other.record_scenario("s", "s.toml", "theirs", {});
  }
  into_.record_scenario("s", "s.toml", "ours", {});
  into_.merge(path("b.db"));
  EXPECT_THAT(into_.scenarios(), ElementsAre("s"));
  EXPECT_EQ(ask("SELECT group_concat(text) FROM (SELECT text FROM scenario ORDER BY text)"),
            "ours,theirs");
}

TEST_F(MergeTest, RefusesWhatIsNoSuchFile) {
  const auto refusal = [&](const std::string& file) {
    return said<InputError>([&] { into_.merge(file); });
  };
  EXPECT_EQ(refusal(path("a.db")), path("a.db") + ": cannot be merged into itself");
  EXPECT_THAT(refusal(path("none.db")), HasSubstr("No such file"));
  { const Store newer(path("new.db")); }
  const std::int64_t newest = newest_version();
  bare(path("new.db"), fmt::format("PRAGMA user_version = {}", newest + 1));
  EXPECT_THAT(refusal(path("new.db")), HasSubstr(fmt::format("version {}", newest + 1)));
  { const Store older(path("old.db")); }
  bare(path("old.db"), "PRAGMA user_version = 1");
  EXPECT_THAT(refusal(path("old.db")),
              HasSubstr(fmt::format("version 1 of the store, and only version {}", newest)));
}

TEST_F(MergeTest, TakesAFileWhoseNameSqlWouldMisread) {
  const std::string name = path("it's 100%?#.db");
  {
    Store other = open_and_enter(name, "b");
    other.store(answer(2, "b"));
  }
  EXPECT_EQ(into_.merge(name), 1U);
}

}  // namespace
}  // namespace strata
