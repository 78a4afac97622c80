#include <algorithm>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "sim/store/draft.h"
#include "sim/store/schema.h"
#include "sim/text/file.h"
#include "tests/paths.h"
#include "tests/sim/store/child_process.h"
#include "tests/sim/store/store_test.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

class OpenStoreTest : public StoreFolder {
 protected:
  /// A file of version 1 with one answer.
  void make_version_1(const std::string& file) {
    Database database(file, OpenMode::create, StoreLimits{});
    database.run("PRAGMA journal_mode = WAL");
    database.run(read_file(source_path("tests/sim/store/version_1.sql")));
  }
  std::string refusal(const std::string& file, OpenMode mode) {
    return said<InputError>([&] { Store(file, mode); });
  }
};

TEST_F(OpenStoreTest, MakesAFileOnlyWhereItIsAskedTo) {
  EXPECT_EQ(refusal(path("a.db"), OpenMode::read),
            path("a.db") + ": cannot be read: No such file or directory");
  EXPECT_EQ(refusal(path("a.db"), OpenMode::write),
            path("a.db") + ": cannot be read: No such file or directory");
  EXPECT_EQ(names(), "");
  { EXPECT_EQ(Store(path("a.db")).file(), path("a.db")); }
  EXPECT_EQ(names(), "a.db");
  EXPECT_EQ(bare(path("a.db"), "PRAGMA journal_mode"), "wal");
  { open_and_enter(path("a.db")).store(answer_to({0, 1})); }
  EXPECT_EQ(print(Store(path("a.db")).query("SELECT count(*) FROM results")), "1");
  EXPECT_THAT(said<EnvironmentError>([&] { Store(path("no/a.db")); }), StartsWith(path("no/a.db")));
}

TEST_F(OpenStoreTest, TakesANameForAFileAndNothingElse) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  for (const std::string name : {":memory:", "file:a.db?mode=memory", "a?b#c%41.db"}) {
    { open_and_enter(name).store(answer_to({0, 1})); }
    EXPECT_TRUE(fs::is_regular_file(path(name))) << name;
    EXPECT_EQ(print(Store(name, OpenMode::read).query("SELECT count(*) FROM results")), "1");
  }
  fs::current_path(before);
}

TEST_F(OpenStoreTest, LeavesFilesOfOthersUntouched) {
  write_file_whole(path("text"),
                   "not a database, and longer than the header of one: " + std::string(200, 'x'));
  {
    Database other(path("other"), OpenMode::create, StoreLimits{});
    other.run("PRAGMA journal_mode = WAL; PRAGMA user_version = 2; CREATE TABLE result (a)");
  }
  const std::string all = names();
  for (const char* name : {"text", "other"}) {
    const std::string before = read_file(path(name));
    for (const OpenMode mode : {OpenMode::create, OpenMode::write, OpenMode::read}) {
      EXPECT_THAT(refusal(path(name), mode), StartsWith(path(name) + ": is no database of Strata"));
    }
    EXPECT_EQ(read_file(path(name)), before);
  }
  EXPECT_THAT(refusal(folder_, OpenMode::create), HasSubstr("no regular file"));
  EXPECT_EQ(names(), all);
}

// To SQLite an empty file is a database without tables; `mktemp` makes one.
TEST_F(OpenStoreTest, MakesAStoreOfAnEmptyFile) {
  write_file_whole(path("a.db"), "");
  for (const OpenMode mode : {OpenMode::write, OpenMode::read}) {
    EXPECT_THAT(refusal(path("a.db"), mode), StartsWith(path("a.db") + ": is no database of"));
  }
  EXPECT_EQ(read_file(path("a.db")), "");
  { open_and_enter(path("a.db")).store(answer_to({0, 1})); }
  EXPECT_EQ(bare(path("a.db"), "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(bare(path("a.db"), "SELECT count(*) FROM results"), "1");
  EXPECT_EQ(names(), "a.db");
}

TEST_F(OpenStoreTest, IsMadeOfAnEmptyFileByOneOfSeveralProcesses) {
  for (int round = 0; round < 10; ++round) {
    const std::string file = path(fmt::format("{}.db", round));
    write_file_whole(file, "");
    Pipe start;
    std::vector<Child> children;
    for (std::uint64_t i = 0; i < 4; ++i) {
      children.emplace_back([&, i] {
        start.only_read();
        start.read_rest();  // until the parent lets all of them go at once
        open_and_enter(file).store(answer_to({0, i}));
      });
    }
    start.close();
    for (Child& child : children) EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(print(Store(file).query("SELECT count(*) FROM results")), "4");
  }
}

// Processes of two hosts may have one number, and threads of one process make files, too.
TEST_F(OpenStoreTest, DraftsHaveNamesOfTheirOwn) {
  const std::string draft = draft_name(path("a.db"));
  EXPECT_THAT(draft, StartsWith(path("a.db") + ".new-"));
  EXPECT_THAT(draft, HasSubstr(fmt::format("-{}-", ::getpid())));
  EXPECT_NE(draft, draft_name(path("a.db")));
}

TEST_F(OpenStoreTest, RefusesANewerVersionAndNamesBoth) {
  { const Store made(path("a.db")); }
  const std::int64_t newest = newest_version();
  bare(path("a.db"), fmt::format("PRAGMA user_version = {}", newest + 1));
  for (const OpenMode mode : {OpenMode::create, OpenMode::write, OpenMode::read}) {
    EXPECT_EQ(refusal(path("a.db"), mode),
              fmt::format("{}: is of version {} of the store; this Strata knows versions 1 to {}",
                          path("a.db"), newest + 1, newest));
  }
}

constexpr const char* kOldAnswer =
    "SELECT model, step_seconds, p50_seconds, wall_seconds, command, finished FROM results";
constexpr const char* kOldAnswerNow =
    "lenet5 0.25 NULL 0.5 strata sweep old.toml 2026-11-21T08:00:01Z";

TEST_F(OpenStoreTest, BringsAnOldFileUpToDateAndKeepsACopy) {
  make_version_1(path("a.db"));
  {
    Store store = open_and_enter(path("a.db"));
    EXPECT_EQ(print(store.query(kOldAnswer)), kOldAnswerNow);
    EXPECT_EQ(print(store.query("SELECT sweep, step_seconds FROM cases", "old")), "all 0.25");
    StoredResult result = answer_to({0, 2});
    result.p95_seconds = 0.5;
    EXPECT_TRUE(store.store(result));
    EXPECT_EQ(print(store.query("SELECT p95_seconds FROM predictions")), "NULL; 0.5");
    EXPECT_EQ(print(store.query("SELECT DISTINCT plausible, uncosted_share FROM predictions")),
              "NULL NULL");
  }
  EXPECT_EQ(names(), "a.db a.db.v1.bak");
  EXPECT_EQ(bare(path("a.db.v1.bak"), "PRAGMA user_version"), "1");
  EXPECT_EQ(bare(path("a.db.v1.bak"), "SELECT model, step_seconds FROM results"), "lenet5 0.25");
  { const Store again(path("a.db")); }
  EXPECT_EQ(names(), "a.db a.db.v1.bak");
}

TEST_F(OpenStoreTest, NeverReplacesACopy) {
  for (const char* copies : {"a.db.v1.bak", "a.db.v1.bak a.db.v1.bak-2"}) {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path("a.db") + suffix);
    make_version_1(path("a.db"));
    { const Store store(path("a.db"), OpenMode::write); }
    EXPECT_EQ(names(), std::string("a.db ") + copies);
  }
}

TEST_F(OpenStoreTest, IsBroughtUpToDateByOneOfSeveralProcesses) {
  make_version_1(path("a.db"));
  Pipe start;
  std::vector<Child> children;
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      start.only_read();
      start.read_rest();  // until the parent lets all of them go at once
      const Store store(path("a.db"), OpenMode::write);
    });
  }
  start.close();
  for (Child& child : children) EXPECT_EQ(child.wait(), 0);
  // Two that close at one moment may both leave the log to the other; one alone does not.
  EXPECT_EQ(print(Store(path("a.db")).query(kOldAnswer)), kOldAnswerNow);
  EXPECT_EQ(names(), "a.db a.db.v1.bak");
}

TEST_F(OpenStoreTest, MakesOfAnOldFileWhatANewOneIs) {
  make_version_1(path("old.db"));
  { const Store old(path("old.db"), OpenMode::write), made(path("new.db")); }
  const std::string columns =
      "SELECT s.type, s.name, group_concat(c.name || ' ' || c.type || ' ' || c.\"notnull\") "
      "FROM sqlite_schema AS s LEFT JOIN pragma_table_info(s.name) AS c GROUP BY s.name "
      "ORDER BY s.name";
  EXPECT_EQ(bare(path("old.db"), columns), bare(path("new.db"), columns));
  const std::string views = "SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY name";
  EXPECT_EQ(bare(path("old.db"), views), bare(path("new.db"), views));
  const std::string keys =
      "SELECT s.name, f.* FROM sqlite_schema AS s JOIN pragma_foreign_key_list(s.name) AS f "
      "ORDER BY s.name, f.seq, f.id";
  EXPECT_EQ(bare(path("old.db"), keys), bare(path("new.db"), keys));
}

TEST_F(OpenStoreTest, ReadsAnOldFileWithoutChangingIt) {
  make_version_1(path("a.db"));
  const std::string before = read_file(path("a.db"));
  {
    Store store(path("a.db"), OpenMode::read);
    EXPECT_EQ(print(store.query(kOldAnswer)), kOldAnswerNow);
    EXPECT_THAT(said<EnvironmentError>([&] { store.enter({}); }), HasSubstr("opened to read"));
  }
  EXPECT_EQ(read_file(path("a.db")), before);
  EXPECT_FALSE(fs::exists(path("a.db.v1.bak")));
}

TEST_F(OpenStoreTest, WritesNothingWhereItWasOpenedToRead) {
  { open_and_enter(path("a.db")).store(answer_to({0, 1})); }
  { EXPECT_EQ(Store(path("a.db"), OpenMode::read).missing(keys_to(1)).size(), 0U); }
  EXPECT_EQ(names(), "a.db");
  Store store(path("a.db"), OpenMode::read);
  const std::string words = path("a.db") + ": cannot be written: it was opened to read";
  EXPECT_EQ(said<EnvironmentError>([&] { store.store(answer_to({0, 2})); }), words);
  EXPECT_EQ(said<EnvironmentError>([&] { store.claim(keys_to(1), 1); }), words);
  EXPECT_EQ(said<EnvironmentError>([&] { store.enter({}); }), words);
  EXPECT_EQ(said<EnvironmentError>([&] { store.release(); }), words);
  EXPECT_EQ(said<EnvironmentError>([&] { store.merge(path("a.db")); }), words);
  EXPECT_EQ(said<EnvironmentError>([&] { store.record_scenario("a", "b", "c", {}); }), words);
  EXPECT_EQ(store.missing(keys_to(2)), (std::vector<CaseKey>{{0, 2}}));
  EXPECT_EQ(print(store.query("SELECT count(*) FROM cases")), "1");
}

// Root writes where nobody may, so the child gives that up.
TEST_F(OpenStoreTest, ReadsAFileThatItMayNotWrite) {
  { open_and_enter(path("a.db")).store(answer_to({0, 1})); }
  ::chmod(path("a.db").c_str(), 0444);
  ::chmod(folder_.c_str(), 0555);
  Pipe pipe;
  Child child([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return;
    const std::string file = path("a.db");
    pipe.write(print(Store(file, OpenMode::read).query("SELECT count(*) FROM results")) + "\n");
    pipe.write(said<EnvironmentError>([&] { Store(file, OpenMode::write); }) + "\n");
    pipe.write(said<EnvironmentError>([&] { Store(file + "2"); }) + "\n");
  });
  pipe.only_read();
  EXPECT_EQ(child.wait(), 0);
  ::chmod(folder_.c_str(), 0755);
  const std::string heard = pipe.read_rest();
  EXPECT_THAT(heard, StartsWith("1\n" + path("a.db") + ": cannot be "));
  EXPECT_THAT(heard, HasSubstr("\n" + path("a.db2") + ": cannot be made: Permission denied\n"));
}

TEST_F(OpenStoreTest, KeepsWhatItHasWhereTheDiskIsFull) {
  StoredResult large = answer_to({0, 1});
  large.settings = "\"" + std::string(100'000, 'x') + "\"";
  {
    // The least that SQLite grants is what the file has already.
    { open_and_enter(path("a.db")).store(large); }
    Store store = open_and_enter(path("a.db"), "strata sweep", {30'000, 100});
    std::uint64_t key = 2;
    const auto fill = [&] {
      for (; key < 50; ++key) {
        large.key = {0, key};
        store.store(large);
      }
    };
    EXPECT_THAT(said<EnvironmentError>(fill), StartsWith(path("a.db") + ": no space is left"));
    EXPECT_GT(key, 2U);
    EXPECT_LT(key, 50U);
    EXPECT_EQ(print(store.query("SELECT count(*) FROM result")), fmt::format("{}", key - 1));
    EXPECT_THAT(said<EnvironmentError>(fill), HasSubstr("no space is left"));
  }
  EXPECT_EQ(bare(path("a.db"), "PRAGMA integrity_check"), "ok");
  EXPECT_TRUE(open_and_enter(path("a.db")).store(answer_to({1, 1})));
}

TEST_F(OpenStoreTest, SaysWhoIsAtWorkWhereALockIsWaitedForInVain) {
  Store worker = open_and_enter(path("a.db"), "strata sweep a.toml");
  Store store = open_and_enter(path("a.db"), "strata sweep b.toml", {1, 0});
  Database other(path("a.db"), OpenMode::write, StoreLimits{});
  const Transaction lock(other);
  const std::string words = said<EnvironmentError>([&] { store.store(answer_to({0, 1})); });
  EXPECT_THAT(words, StartsWith(path("a.db") + ": another process keeps it locked"));
  EXPECT_THAT(words, HasSubstr(fmt::format("pid {} (strata sweep a.toml)", ::getpid())));
  EXPECT_EQ(print(store.query("SELECT count(*) FROM result")), "0");  // readers need no lock
}

TEST_F(OpenStoreTest, SaysThatAFileIsDamaged) {
  { open_and_enter(path("a.db")).store(answer_to({0, 1})); }
  std::string bytes = read_file(path("a.db"));
  std::fill(bytes.begin() + 4096, bytes.end(), '\x5a');
  write_file_whole(path("a.db"), bytes);
  EXPECT_THAT(said<EnvironmentError>([&] {
                open_and_enter(path("a.db")).store(answer_to({0, 2}));
              }),
              HasSubstr("is damaged"));
}

}  // namespace
}  // namespace strata
