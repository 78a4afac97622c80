// Cases of fixed seeds, all relations held to each. STRATA_CASES=N tries N others, from STRATA_SEED
// on (1 if there is none). STRATA_KEEP=FOLDER keeps the files of cases in which something does not
// hold, so that the command line can repeat them.

#include "tests/metamorphic/metamorphic.h"

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/scenario/settings.h"
#include "tests/metamorphic/relation.h"
#include "tests/sanitized.h"
#include "tests/sim/study/folder.h"

namespace strata {
namespace {

using strata::testing::Metamorphic;

std::uint64_t number_in(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

constexpr std::uint64_t kUsualCases = 2'000;
constexpr std::size_t kMostShown = 20;

TEST(Metamorphic, RelationsHoldOfEveryCase) {
  const strata::testing::Folder folder("metamorphic");
  const std::uint64_t count = number_in("STRATA_CASES", kUsualCases),
                      first = number_in("STRATA_SEED", 1);
  const char* const kept = std::getenv("STRATA_KEEP");
  Metamorphic room(kept == nullptr ? folder.path() : kept);
  for (std::uint64_t seed = first; seed < first + count; ++seed) room.try_case(seed);
  fmt::print("{}", room.report());
  for (const auto& [reason, cases] : room.reasons()) fmt::print("{:9} {}\n", cases, reason);
  for (std::size_t i = 0; i < room.faults().size() && i < kMostShown; ++i) {
    const auto& fault = room.faults()[i];
    ADD_FAILURE() << fmt::format("seed {}, {}: {}\n  {}", fault.seed, fault.relation, fault.what,
                                 fault.text);
  }
  EXPECT_EQ(room.faults().size(), 0U);
  EXPECT_LE(room.refused(), count / 2);
  for (const auto& [name, tally] : room.tallies()) {
    EXPECT_GT(tally.applied, 0U) << name << " was held to no case";
  }
}

}  // namespace
}  // namespace strata
