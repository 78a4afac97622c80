#include "tests/sim/store/store_test.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using StoreTest = StoreFolder;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CaseKeyTest, IsXxh3AndPrintsItsHighHalfFirst) {
  // XXH3's own test vector: the 128 bits of no bytes with seed 0.
  EXPECT_EQ(hash_of(""), (CaseKey{0x99AA06D3014798D8, 0x6001C324468D497F}));
  EXPECT_EQ(hex(hash_of("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex({0, 1}), "00000000000000000000000000000001");
  EXPECT_NE(hash_of("a"), hash_of("b"));
}

// Every column has a value of its own, so that two that are swapped show.
StoredResult full_answer() {
  StoredResult r = answer_to({0x0123456789abcdef, 0xfedcba9876543210});
  r.model = "it's \"quoted\"; -- ünïcödé 网络 🙂";
  r.cluster = "p100-4x4";
  r.strategy = "";
  r.sync = "ring";
  r.dtype = "fp32";
  r.devices = 16;
  r.batch = std::numeric_limits<std::int64_t>::max();
  r.bucket_bytes = 11;
  r.settings = R"({"model":"a'b"})";
  r.step_seconds = 0.1;
  r.eq1_seconds = 5e-324;
  r.throughput = std::numeric_limits<double>::max();
  r.comm_bytes = 1;
  r.transfer_bytes = 2;
  r.sync_bytes = 3;
  r.peak_memory_bytes = 4;
  r.fits = false;
  r.mfu = 0.4;
  r.hfu = 0.45;
  r.tflops = 0.5;
  r.plausible = true;
  r.uncosted_share = 0.0625;
  r.measured_share = 0.25;
  r.interpolated_share = 1.0 / 3;
  r.analytic_share = 1;
  r.p50_seconds = 0.125;
  r.p95_seconds = kInfinity;
  r.optimal = true;
  r.lower_bound_seconds = 1e-7;
  r.table_seconds = 2e-7;
  r.solve_seconds = 3e-7;
  r.final_nodes = 5;
  r.max_configs = 6;
  r.measured_seconds = 7.5;
  r.measured_spread_seconds = 8.5;
  r.relative_error = -0.5;
  r.moved_bytes = 9;
  r.wall_seconds = 10.5;
  r.inputs = {{"model", "b.onnx", {1, 2}}, {"cluster", "it's", {3, 4}}, {"model", "a", {1, 2}}};
  r.layers = {{"conv1", 2, 3, 4, 5, 6, 1, "n", 0.1, 0.2, 0.3}, {"fc", 1, 1, 1, 1, 1, 8, "c"}};
  return r;
}

TEST_F(StoreTest, KeepsEveryColumnOfAnAnswer) {
  Store store = open_and_enter(path("a.db"), "strata sweep 'x'");
  EXPECT_TRUE(store.store(full_answer()));
  const QueryResult row = store.query("SELECT * FROM result");
  ASSERT_EQ(row.rows.size(), 1U);
  std::string printed;
  for (std::size_t i = 0; i < row.columns.size(); ++i) {
    if (row.columns[i] == "finished") continue;
    printed += fmt::format("{}={}\n", row.columns[i], print(row.rows[0][i]));
  }
  EXPECT_EQ(printed, R"(id=1
key=0123456789abcdeffedcba9876543210
invocation=1
job=predict
model=it's "quoted"; -- ünïcödé 网络 🙂
cluster=p100-4x4
strategy=
sync=ring
dtype=fp32
devices=16
batch=9223372036854775807
settings={"model":"a'b"}
done=1
error=
step_seconds=0.1
eq1_seconds=5e-324
throughput=1.7976931348623157e+308
comm_bytes=1
transfer_bytes=2
sync_bytes=3
peak_memory_bytes=4
fits=0
measured_share=0.25
interpolated_share=0.3333333333333333
analytic_share=1
optimal=1
lower_bound_seconds=1e-07
table_seconds=2e-07
solve_seconds=3e-07
final_nodes=5
max_configs=6
measured_seconds=7.5
measured_spread_seconds=8.5
relative_error=-0.5
moved_bytes=9
wall_seconds=10.5
p50_seconds=0.125
p95_seconds=inf
bucket_bytes=11
mfu=0.4
hfu=0.45
plausible=1
uncosted_share=0.0625
tflops=0.5
)");
}

TEST_F(StoreTest, KeepsInputsLayersAndProvenanceInOrder) {
  Store store = open_and_enter(path("a.db"), "strata sweep 'x'");
  store.store(full_answer());
  EXPECT_EQ(print(store.query("SELECT kind, name, hash FROM result_input AS r "
                              "JOIN input AS i ON i.id = r.input ORDER BY ordinal")),
            "model b.onnx 00000000000000010000000000000002; "
            "cluster it's 00000000000000030000000000000004; "
            "model a 00000000000000010000000000000002");
  EXPECT_EQ(print(store.query("SELECT * FROM layer")),
            "1 0 conv1 2 3 4 5 6 0.1 0.2 0.3 1 n; 1 1 fc 1 1 1 1 1 0 0 0 8 c");
  EXPECT_EQ(print(store.query("SELECT version, command, host, finished LIKE '20__-__-__T__:__:__Z' "
                              "FROM results")),
            "0.1.0 strata sweep 'x' box 1");
}

TEST_F(StoreTest, MakesWhatDoesNotApplyNull) {
  Store store = open_and_enter(path("a.db"));
  store.store(answer_to({0, 1}));
  const QueryResult row = store.query("SELECT * FROM result");
  std::ptrdiff_t nulls = 0;
  for (const Field& field : row.rows[0]) nulls += std::holds_alternative<std::monostate>(field);
  EXPECT_EQ(nulls, std::ranges::count_if(columns(), is_optional));
}

TEST_F(StoreTest, KeepsNumbersToTheBit) {
  constexpr std::uint64_t kSeed = 20261121;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937_64 random(kSeed);
  Store store = open_and_enter(path("a.db"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    StoredResult result = answer_to({1, i});
    result.relative_error = std::bit_cast<double>(random());
    if (std::isnan(*result.relative_error)) continue;
    store.store(result);
    const QueryResult got = store.query(
        fmt::format("SELECT relative_error FROM results WHERE key = '{}'", hex(result.key)));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(got.rows.at(0).at(0))),
              std::bit_cast<std::uint64_t>(*result.relative_error));
  }
}

TEST_F(StoreTest, RefusesWhatIsNoAnswer) {
  Store store = open_and_enter(path("a.db"));
  const auto refused = [&](auto spoil) {
    StoredResult result = answer_to({0, 1});
    spoil(result);
    return said<InternalError>([&] { store.store(result); });
  };
  EXPECT_THAT(refused([](StoredResult& r) { r.step_seconds = std::nan(""); }), HasSubstr("none"));
  EXPECT_THAT(refused([](StoredResult& r) { r.step_seconds = -1; }), HasSubstr("step_seconds"));
  EXPECT_THAT(refused([](StoredResult& r) { r.settings = "{"; }), HasSubstr("json_valid"));
  EXPECT_THAT(refused([](StoredResult& r) { r.done = false; }), HasSubstr("CHECK"));
  EXPECT_THAT(refused([](StoredResult& r) { r.error = "but done"; }), HasSubstr("CHECK"));
  EXPECT_THAT(refused([](StoredResult& r) { r.layers = {{"a", 0}}; }), HasSubstr("CHECK"));
  EXPECT_EQ(print(store.query("SELECT count(*) FROM result")), "0");
  EXPECT_TRUE(store.store(answer_to({0, 1})));
}

TEST_F(StoreTest, NeverChangesARow) {
  Store store = open_and_enter(path("a.db"));
  StoredResult first = answer_to({0, 1}), second = first;
  first.step_seconds = 1;
  second.step_seconds = 2;
  second.inputs = {{"model", "a", {}}};
  EXPECT_TRUE(store.store(first));
  EXPECT_FALSE(store.store(second));
  EXPECT_EQ(print(store.query("SELECT step_seconds FROM results")), "1");
  EXPECT_EQ(print(store.query("SELECT count(*) FROM input")), "0");
}

TEST_F(StoreTest, NamesWhatIsMissingInOrder) {
  Store store = open_and_enter(path("a.db"));
  const std::vector<CaseKey> keys = {{0, 3}, {0, 1}, {0, 2}};
  EXPECT_EQ(store.missing(keys), keys);
  store.store(answer_to({0, 1}));
  EXPECT_THAT(store.missing(keys), ElementsAre(CaseKey{0, 3}, CaseKey{0, 2}));
  EXPECT_THAT(store.missing(keys), ElementsAre(CaseKey{0, 3}, CaseKey{0, 2}));
  EXPECT_THAT(store.missing({}), IsEmpty());
}

TEST_F(StoreTest, KeepsTheLastScenarioOfAName) {
  Store store = open_and_enter(path("a.db"));
  const std::vector<Store::ScenarioCase> cases = {{"s", {0, 2}}, {"s", {0, 1}}, {"t", {0, 2}}};
  store.record_scenario("one", "one.toml", "first", cases);
  store.record_scenario("two", "two.toml", "other", {});
  store.record_scenario("one", "one.toml", "second", std::span(cases).first(2));
  EXPECT_THAT(store.scenarios(), ElementsAre("one", "two"));
  EXPECT_EQ(store.scenario_text("one"), "second");
  EXPECT_EQ(print(store.query("SELECT count(*) FROM scenario_case")), "2");
  EXPECT_EQ(said<InputError>([&] { store.scenario_text("three"); }),
            path("a.db") + ": has no scenario 'three'; it has: one, two");
}

TEST_F(StoreTest, KnowsWhoseRowsItStores) {
  Store store(path("a.db"));
  EXPECT_THAT(said<InternalError>([&] {
                store.store(answer_to({0, 1}));
              }),
              HasSubstr("enter() comes first"));
  EXPECT_THAT(said<InternalError>([&] { store.claim(keys_to(1), 1); }),
              HasSubstr("enter() comes first"));
  store.enter(invocation_of("a"));
  store.enter(invocation_of("b"));
  store.store(answer_to({0, 1}));
  EXPECT_EQ(print(store.query("SELECT command FROM results")), "b");
  EXPECT_EQ(print(store.query("SELECT count(*) FROM owner")), "1");
}

}  // namespace
}  // namespace strata
