#include "sim/result/result.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/paths.h"

namespace strata {
namespace {

using testing::HasSubstr;

TEST(ResultColumns, HaveKeysOfTheirOwnThatTheDocumentsExplain) {
  const std::string manual = read_file(source_path("docs/store.md"));
  std::set<std::string_view> keys;
  for (const ColumnSpec& spec : columns()) {
    EXPECT_TRUE(keys.insert(spec.key).second) << spec.key;
    EXPECT_EQ(&column(spec.key), &spec);
    EXPECT_THAT(manual, HasSubstr(fmt::format("`{}`", spec.key)));
  }
  EXPECT_EQ(find_column("seconds"), nullptr);
}

TEST(ResultColumns, AreOfTheTypeOfTheirValue) {
  const auto type = [](std::string_view key) { return type_of(column(key)); };
  EXPECT_EQ(type("model"), ColumnType::text);
  EXPECT_EQ(type("done"), ColumnType::flag);
  EXPECT_EQ(type("fits"), ColumnType::flag);
  EXPECT_EQ(type("batch"), ColumnType::integer);
  EXPECT_EQ(type("comm_bytes"), ColumnType::integer);
  EXPECT_EQ(type("wall_seconds"), ColumnType::real);
  EXPECT_EQ(type("step_seconds"), ColumnType::real);
  EXPECT_FALSE(is_optional(column("wall_seconds")));
  EXPECT_TRUE(is_optional(column("fits")));
}

// A step of 0.02 s over 512 samples is 25,600 samples a second.
TEST(ResultColumns, PrintAResultWithUnits) {
  CaseResult result;
  result.strategy = "owt";
  result.step_seconds = 0.02;
  result.throughput = 512 / 0.02;
  result.sync_bytes = 1'500'000;
  const auto line = [&](std::string_view key) {
    return fmt::format("{}: {}", heading_of(column(key)), text_of(column(key), result));
  };
  EXPECT_EQ(line("strategy"), "strategy: owt");
  EXPECT_EQ(line("step_seconds"), "step time: 20 ms");
  EXPECT_EQ(line("throughput"), "samples/s: 25600.0");
  EXPECT_EQ(line("sync_bytes"), "of it sync: 1.50 MB");
  EXPECT_EQ(line("peak_memory_bytes"), "memory/device: -");
  result.comm_bytes = 3'935'000'000'000'000;  // of a large model on thousands of devices
  EXPECT_EQ(line("comm_bytes"), "communication: 3.94 PB");
  EXPECT_EQ(title_of(column("peak_memory_bytes")), "peak memory");
}

TEST(ResultColumns, SayWhatIsNotThere) {
  const CaseResult none;
  EXPECT_EQ(field_of(column("step_seconds"), none), Field());
  EXPECT_EQ(field_of(column("done"), none), Field(std::int64_t{1}));
  EXPECT_EQ(field_of(column("wall_seconds"), none), Field(0.0));
}

}  // namespace
}  // namespace strata
