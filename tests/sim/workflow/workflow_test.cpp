// Cases of fixed seeds, all that a user may do with each. STRATA_WORKFLOWS=N tries N others, from
// STRATA_SEED on (1 if there is none), and prints how many steps of them were refused.

#include "tests/sim/workflow/workflow.h"

#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/sim/study/folder.h"

namespace strata {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

TEST(Workflow, WhatHoldsOfEveryAnswerHolds) {
  const std::uint64_t count = number_in("STRATA_WORKFLOWS", 40),
                      first = number_in("STRATA_SEED", 1);
  std::size_t refused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const strata::testing::Folder folder("workflow");
    const auto found = strata::testing::try_workflow(seed, folder.path());
    EXPECT_TRUE(found.faults.empty())
        << fmt::format("seed {}:\n{}", seed, fmt::join(found.faults, "\n"));
    for (const std::string& what : found.refused) fmt::print("seed {}: {}\n", seed, what);
    refused += found.refused.empty() ? 0 : 1;
  }
  fmt::print("{} of {} cases were refused in part\n", refused, count);
  EXPECT_LE(refused, count / 4);
}

}  // namespace
}  // namespace strata
