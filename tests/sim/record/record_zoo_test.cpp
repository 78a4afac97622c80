// Every network of the zoo, on every cluster, cut every way: equal to the bit to what is recorded.
// With STRATA_ACCEPT=1 it writes the record anew, and fails.

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "tests/sim/record/answers.h"
#include "tests/sim/record/recorded_cases.h"

namespace strata {
namespace {

using strata::testing::Table;

void expect_as_recorded(std::string_view part, std::string_view network, const Table& empty,
                        const Table& now) {
  const char* accept = std::getenv("STRATA_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    strata::testing::write_record(part, network, now);
    ADD_FAILURE() << part << " of " << network << " is written anew; nothing was compared";
    return;
  }
  const Table before = strata::testing::recorded(part, network, empty);
  const std::string found = strata::testing::differences(before, now);
  EXPECT_TRUE(found.empty()) << part << " of " << network << ":\n" << found;
}

class RecordZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordZoo, PredictsWhatIsRecorded) {
  const auto now = strata::testing::predicted(GetParam(), strata::testing::recorded_clusters());
  expect_as_recorded("steps", GetParam(), strata::testing::empty_steps(), now.steps);
  expect_as_recorded("memory", GetParam(), strata::testing::empty_memory(), now.memory);
}

TEST_P(RecordZoo, FindsTheOptimaThatAreRecorded) {
  const Table now = strata::testing::optima(GetParam(), strata::testing::recorded_clusters());
  expect_as_recorded("optima", GetParam(), strata::testing::empty_optima(), now);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ZooEntry& entry : convolutional_zoo()) all.emplace_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, RecordZoo, ::testing::ValuesIn(names()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace strata
