// One table of settings: what it calls enumerations are their values, in their order, and what is
// wrong with a text is said with the setting's key.

#include "sim/scenario/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/phase.h"
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
  EXPECT_EQ(read_choice<SyncAlgorithm>("sync", "auto"), SyncAlgorithm::automatic);
  EXPECT_EQ(read_choice<DType>("dtype", "bf16"), DType::bf16);
  EXPECT_EQ(read_choice<DegreeSet>("degrees", "pow2"), DegreeSet::pow2);
  EXPECT_EQ(read_choice<DegreeSet>("degrees", "divisors"), DegreeSet::divisors);
  EXPECT_EQ(read_choice<DegreeSet>("degrees", "all"), DegreeSet::all);
  EXPECT_EQ(print_choice("degrees", DegreeSet::divisors), "divisors");
}

TEST(Settings, SayWhatIsAllowed) {
  EXPECT_THAT(
      [] { read_choice<DegreeSet>("degrees", "odd"); },
      ThrowsMessage<InputError>(StrEq("`degrees` odd: unknown; allowed: pow2, divisors, all")));
  EXPECT_THAT([] { read_rate("lr", "-1"); },
              ThrowsMessage<InputError>(
                  StrEq("`lr`: '-1' is below zero; allowed: a number of at least 0")));
  EXPECT_THAT(
      [] { read_positive("batch", "0"); },
      ThrowsMessage<InputError>(StrEq("`batch`: '0' is no integer of at least 1 that fits")));
  EXPECT_EQ(read_positive("batch", "1"), 1);
  EXPECT_EQ(read_natural("seed", "0"), 0u);
  EXPECT_EQ(read_size("memory_limit", "2 KiB"), Bytes{2048});
}

}  // namespace
}  // namespace strata
