#include <cstring>
#include <random>
#include <span>

#include <gmock/gmock.h>

#include "tests/sim/store/child_process.h"
#include "tests/sim/store/store_test.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using ClaimsTest = StoreFolder;

TEST_F(ClaimsTest, HoldAgainstOthersAndAgainstOneself) {
  Store a = open_and_enter(path("a.db")), b = open_and_enter(path("a.db"));
  const std::vector<CaseKey> keys = {{0, 3}, {0, 1}, {0, 2}};
  EXPECT_THAT(a.claim(keys, 2), ElementsAre(CaseKey{0, 3}, CaseKey{0, 1}));
  EXPECT_THAT(b.claim(keys, 9), ElementsAre(CaseKey{0, 2}));
  EXPECT_THAT(a.claim(keys, 9), IsEmpty());
  a.release();
  EXPECT_THAT(b.claim(keys, 1), ElementsAre(CaseKey{0, 3}));
  b.store(answer_to({0, 3}));
  b.release();
  EXPECT_THAT(a.claim(keys, 9), ElementsAre(CaseKey{0, 1}, CaseKey{0, 2}));
}

TEST_F(ClaimsTest, GoWithARowEvenWhereItIsNotTheFirst) {
  Store a = open_and_enter(path("a.db")), b = open_and_enter(path("a.db"));
  a.claim(keys_to(1), 1);
  EXPECT_TRUE(b.store(answer_to({0, 1})));
  EXPECT_EQ(print(a.query("SELECT count(*) FROM claim")), "0");
  EXPECT_EQ(b.claim(keys_to(2), 1), (std::vector<CaseKey>{{0, 2}}));
  EXPECT_TRUE(a.store(answer_to({0, 2})));
  EXPECT_FALSE(b.store(answer_to({0, 2})));
  EXPECT_EQ(print(a.query("SELECT count(*) FROM claim")), "0");
}

TEST_F(ClaimsTest, AreGivenBackByAStoreThatIsClosed) {
  {
    Store a = open_and_enter(path("a.db"));
    a.claim(keys_to(2), 2);
  }
  Store b = open_and_enter(path("a.db"));
  EXPECT_EQ(print(b.query("SELECT (SELECT count(*) FROM claim), (SELECT count(*) FROM owner)")),
            "0 1");
}

TEST_F(ClaimsTest, OfAKilledProcessAreFreeAgain) {
  const std::vector<CaseKey> keys = keys_to(5);
  Pipe pipe;
  Child child([&] {
    Store store = open_and_enter(path("a.db"));
    store.claim(keys, 3);
    pipe.write("x");
    ::pause();
  });
  pipe.only_read();
  ASSERT_EQ(pipe.read(1), "x");
  Store store = open_and_enter(path("a.db"));
  EXPECT_THAT(store.claim(keys, 9), ElementsAre(CaseKey{0, 4}, CaseKey{0, 5}));
  // Nobody has waited for the dead one yet, so its number still has an entry in /proc.
  child.kill_and_leave();
  EXPECT_THAT(store.claim(keys, 9), ElementsAre(CaseKey{0, 1}, CaseKey{0, 2}, CaseKey{0, 3}));
}

// A process that has the number of one that is gone, or had it before the machine was started anew.
TEST_F(ClaimsTest, OfAProcessWithAnotherStartOrBootAreFree) {
  const std::vector<CaseKey> keys = keys_to(1);
  for (const char* change : {"process_start = process_start + 1", "boot_id = 'another'"}) {
    Store gone = open_and_enter(path("a.db"));
    ASSERT_EQ(gone.claim(keys, 1).size(), 1U);
    Store store = open_and_enter(path("a.db"));
    EXPECT_THAT(store.claim(keys, 1), IsEmpty());
    bare(path("a.db"), std::string("UPDATE owner SET ") + change +
                           " WHERE id = (SELECT owner FROM claim) RETURNING id");
    EXPECT_EQ(store.claim(keys, 1), keys) << change;
    // The one that was taken for dead goes on, and takes nothing from others.
    gone.release();
    EXPECT_THAT(gone.claim(keys, 1), IsEmpty());
    EXPECT_THAT(gone.claim(keys_to(2), 1), ElementsAre(CaseKey{0, 2}));
  }
}

/// What a worker has done; travels through a pipe as it is.
struct Done {
  std::int64_t claimed = 0, stored = 0;
};

Done work_through(const std::string& file, const std::vector<CaseKey>& keys) {
  Done done;
  Store store = open_and_enter(file);
  while (true) {
    const std::vector<CaseKey> mine = store.claim(keys, 5);
    if (mine.empty()) return done;
    done.claimed += std::ssize(mine);
    for (CaseKey key : mine) done.stored += store.store(answer_to(key));
  }
}

TEST_F(ClaimsTest, ShareCasesAmongProcessesSoThatEachIsDoneOnce) {
  constexpr std::size_t kCases = 2000, kWorkers = 4;
  const std::vector<CaseKey> keys = keys_to(kCases);
  Pipe pipe;
  std::vector<Child> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&] {  // they even make the file together
      const Done done = work_through(path("a.db"), keys);
      pipe.write({reinterpret_cast<const char*>(&done), sizeof done});
    });
  }
  pipe.only_read();
  for (Child& worker : workers) EXPECT_EQ(worker.wait(), 0);
  Done sum;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    Done done;
    const std::string bytes = pipe.read(sizeof done);
    std::memcpy(&done, bytes.data(), bytes.size());
    sum.claimed += done.claimed;
    sum.stored += done.stored;
  }
  EXPECT_EQ(sum.claimed, 2000);
  EXPECT_EQ(sum.stored, 2000);
  EXPECT_EQ(bare(path("a.db"),
                 "SELECT count(*), count(DISTINCT key), (SELECT count(*) FROM claim),"
                 " (SELECT count(*) FROM owner) FROM result"),
            "2000 2000 0 0");
  EXPECT_EQ(names(), "a.db");
}

/// A row with parts, so that a kill finds transactions of several tables.
StoredResult answer_with_parts(CaseKey key) {
  StoredResult result = answer_to(key);
  result.inputs = {{"model", hex(key), key}};
  result.layers.resize(20);
  return result;
}

void store_and_tell(const std::string& file, std::span<const CaseKey> keys, const Pipe& pipe) {
  Store store = open_and_enter(file);
  while (true) {
    const std::vector<CaseKey> mine = store.claim(keys, 3);
    if (mine.empty()) return;
    for (CaseKey key : mine) {
      store.store(answer_with_parts(key));
      pipe.write("x");
    }
  }
}

TEST_F(ClaimsTest, AndRowsSurviveKillsAtAnyMoment) {
  constexpr std::uint32_t kSeed = 7;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937 random(kSeed);
  const std::vector<CaseKey> keys = keys_to(1500);
  std::size_t told = 0;
  for (int round = 0; round < 50; ++round) {
    Pipe pipe;
    // A few more cases each time, so that there is work in every round.
    const auto known = std::span(keys).first(static_cast<std::size_t>(round + 1) * 30);
    Child child([&] { store_and_tell(path("a.db"), known, pipe); });
    pipe.only_read();
    const std::size_t wanted = random() % 25;
    told += pipe.read(wanted).size();
    child.kill();
    told += pipe.read_rest().size();
  }
  // A round that is killed before its first row may even have died before the file was there.
  Store store = open_and_enter(path("a.db"));
  const std::vector<CaseKey> missing = store.missing(keys);
  // Each kill may fall between a row and the word of it.
  EXPECT_LE(told, keys.size() - missing.size());
  EXPECT_GE(told + 50, keys.size() - missing.size());
  EXPECT_GE(told, 100U);
  EXPECT_EQ(store.claim(keys, keys.size()), missing);
  for (CaseKey key : missing) EXPECT_TRUE(store.store(answer_with_parts(key)));
  EXPECT_EQ(print(store.query("SELECT count(*), count(DISTINCT key) FROM result")), "1500 1500");
  EXPECT_EQ(print(store.query("SELECT (SELECT count(*) FROM layer), "
                              "(SELECT count(*) FROM result_input), (SELECT count(*) FROM claim), "
                              "(SELECT count(*) FROM owner)")),
            "30000 1500 0 1");
  EXPECT_EQ(bare(path("a.db"), "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(bare(path("a.db"), "PRAGMA foreign_key_check"), "");
}

}  // namespace
}  // namespace strata
