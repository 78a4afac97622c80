// One table of settings: what it calls enumerations are their values, in their order, and what is
// wrong with a text is said with the setting's key.

#include "sim/scenario/settings.h"

#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/ops/phase.h"
#include "sim/plan/collective.h"
#include "sim/strategy/search_space.h"

namespace strata {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(Settings, HaveKeysOfTheirOwn) {
  for (const SettingSpec& spec : settings()) EXPECT_EQ(&setting(spec.key), &spec) << spec.key;
  EXPECT_EQ(find_setting("set"), &what_if_setting());
  EXPECT_EQ(find_setting("colour"), nullptr);
  EXPECT_THROW(setting("colour"), InternalError);
}

TEST(Settings, NameTheirValuesInOrder) {
  EXPECT_EQ(read_setting<SyncAlgorithm>("sync", "auto"), SyncAlgorithm::automatic);
  EXPECT_EQ(read_setting<DType>("dtype", "bf16"), DType::bf16);
  EXPECT_EQ(read_setting<DegreeSet>("degrees", "pow2"), DegreeSet::pow2);
  EXPECT_EQ(read_setting<DegreeSet>("degrees", "divisors"), DegreeSet::divisors);
  EXPECT_EQ(read_setting<DegreeSet>("degrees", "all"), DegreeSet::all);
  EXPECT_EQ(read_setting<SearchAlgorithm>("algorithm", "dfs"), SearchAlgorithm::dfs);
  EXPECT_EQ(read_setting<Objective>("objective", "simulated"), Objective::simulated);
  EXPECT_TRUE(read_setting<bool>("placement", "hosts"));
  EXPECT_TRUE(read_setting<bool>("layers", "true"));
  EXPECT_EQ(print_setting("degrees", DegreeSet::divisors), "divisors");
}

TEST(Settings, ReadWhatTheyPrint) {
  for (const std::int64_t bytes : {0LL, 1LL, 1000LL, 1024LL, 25LL << 20, 3LL << 40, 1LL << 62}) {
    const std::string text = print_setting("bucket", Bytes{bytes});
    EXPECT_EQ(read_setting<Bytes>("bucket", text), Bytes{bytes}) << text;
  }
  EXPECT_EQ(print_setting("bucket", Bytes{25 << 20}), "25 MiB");
  EXPECT_EQ(print_setting("bucket", Bytes{1000}), "1000");
  EXPECT_EQ(print_setting("batch", std::optional<std::int64_t>()), "");
  EXPECT_EQ(print_setting("batch", std::optional<std::int64_t>(64)), "64");
  EXPECT_EQ(read_setting<std::optional<Bytes>>("memory_limit", "2 KiB"), Bytes{2048});
}

TEST(Settings, SayWhatIsAllowed) {
  EXPECT_THAT(
      [] { read_setting<DegreeSet>("degrees", "odd"); },
      ThrowsMessage<InputError>(StrEq("`degrees` odd: unknown; allowed: pow2, divisors, all")));
  EXPECT_THAT([] { read_setting<double>("lr", "-1"); },
              ThrowsMessage<InputError>(
                  StrEq("`lr`: '-1' is below zero; allowed: a number of at least 0")));
  EXPECT_THAT(
      [] { read_setting<std::int64_t>("batch", "0"); },
      ThrowsMessage<InputError>(StrEq("`batch`: '0' is no whole number from 1 to 1073741824")));
  EXPECT_THAT([] { read_setting<double>("lr", "1e39"); },
              ThrowsMessage<InputError>(StrEq("`lr`: '1e39' is more than 3.40282e+38, what float32 "
                                              "holds; allowed: a number of at least 0")));
  EXPECT_EQ(read_setting<std::int64_t>("batch", "1"), 1);
  EXPECT_EQ(read_setting<std::uint64_t>("seed", "0"), 0u);
  EXPECT_EQ(read_setting<Bytes>("memory_limit", "2 KiB"), Bytes{2048});
}

TEST(Settings, ReadOpenDimsInAnyOrder) {
  const OpenDims dims = {{"height", 32}, {"a=b", 7}};
  EXPECT_EQ(read_setting<OpenDims>("dim", "height=32,a=b=7"), dims);
  EXPECT_EQ(print_setting("dim", dims), "a=b=7,height=32");
  EXPECT_EQ(print_setting("dim", OpenDims{}), "");
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"height", "'height' is no NAME=NUMBER; allowed: as height=32,width=48"},
           {"=3", "'=3' is no NAME=NUMBER; allowed: as height=32,width=48"},
           {"h=3,", "'' is no NAME=NUMBER; allowed: as height=32,width=48"},
           {"h=0", "h is '0'; allowed: an integer from 1 to 2147483648"},
           {"h=3x", "h is '3x'; allowed: an integer from 1 to 2147483648"},
           {"h=3,h=4", "h is given twice; allowed: one number for each name"}}) {
    EXPECT_THAT([&text = text] { read_setting<OpenDims>("dim", text); },
                ThrowsMessage<InputError>(StrEq("`dim`: " + message)));
  }
}

// 064 is 64, not the octal 52.
TEST(Settings, ReadWholeNumbersInDecimalDigits) {
  EXPECT_EQ(read_setting<std::int64_t>("batch", "064"), 64);
  EXPECT_THROW(read_setting<std::int64_t>("batch", "0x40"), InputError);
}

// Of every whole number, the largest value is read and the next one is not.
TEST(Settings, LimitWholeNumbers) {
  for (const SettingSpec& spec : settings()) {
    if (spec.form != ValueForm::positive && spec.form != ValueForm::natural) continue;
    const std::int64_t most = whole_range(spec, Job::predict).most;
    EXPECT_GT(most, 0) << spec.key;
    EXPECT_EQ(read_setting<std::int64_t>(spec.key, std::to_string(most)), most);
    EXPECT_THROW(read_setting<std::int64_t>(spec.key, std::to_string(most + 1)), InputError);
  }
}

// Of a simulated step every task is kept, of one that is run none.
TEST(Settings, LetARunTakeMoreStepsThanASimulation) {
  EXPECT_EQ(whole_range(setting("steps"), Job::solve).most, 1000);
  EXPECT_EQ(whole_range(setting("steps"), Job::run).most, 100'000'000);
  EXPECT_EQ(whole_range(setting("batch"), Job::run).most,
            whole_range(setting("batch"), Job::predict).most);
}

}  // namespace
}  // namespace strata
