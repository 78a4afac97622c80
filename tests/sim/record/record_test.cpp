// The everyday part of the record: a few cases of every kind, and that it has all cases and no
// others. record_zoo_test holds all of it, and writes it anew.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "tests/paths.h"
#include "tests/sim/record/answers.h"
#include "tests/sim/record/recorded_cases.h"

namespace strata {
namespace {

using strata::testing::Table;

struct Everyday {
  std::string_view network;
  std::vector<std::string_view> clusters;
};
std::vector<Everyday> everyday() {
  return {{"lenet5", {"p100-1x1", "p100-1x2", "p100-1x4", "p100-4x4", "cpu:4"}},
          {"alexnet", {"p100-4x4"}},
          {"resnet18", {"p100-1x4", "cpu:4"}},
          {"googlenet", {"p100-1x2"}},
          {"densenet121", {"p100-1x1"}},
          {"mobilenet_v2", {"p100-1x2"}},
          {"r3d_18", {"p100-1x2"}},
          {"textcnn", {"p100-4x4"}}};
}

void expect_recorded(std::string_view part, std::string_view network, const Table& empty,
                     const Table& now) {
  const Table all = strata::testing::recorded(part, network, empty);
  const Table asked = strata::testing::rows_named_by(all, now);
  const std::string found = strata::testing::differences(asked, now);
  EXPECT_TRUE(found.empty()) << part << " of " << network << ":\n" << found;
}

TEST(Record, PredictionsAreThoseRecorded) {
  for (const auto& [network, clusters] : everyday()) {
    const auto now = strata::testing::predicted(network, clusters);
    expect_recorded("steps", network, strata::testing::empty_steps(), now.steps);
    expect_recorded("memory", network, strata::testing::empty_memory(), now.memory);
  }
}

TEST(Record, OptimaAreThoseRecorded) {
  for (const auto& [network, clusters] : everyday()) {
    const Table now = strata::testing::optima(network, clusters);
    expect_recorded("optima", network, strata::testing::empty_optima(), now);
  }
}

void expect_names(std::string_view part, std::string_view network, const Table& empty,
                  const Table& cases) {
  const Table all = strata::testing::recorded(part, network, empty);
  const std::string found = strata::testing::different_names(all, cases);
  EXPECT_TRUE(found.empty()) << part << " of " << network << ":\n" << found;
}

TEST(Record, HasEveryCaseOfTheZooAndNoOther) {
  for (const ZooEntry& entry : convolutional_zoo()) {
    const Table cases =
        strata::testing::case_names(entry.name, strata::testing::recorded_clusters());
    expect_names("steps", entry.name, strata::testing::empty_steps(), cases);
    expect_names("memory", entry.name, strata::testing::empty_memory(), cases);
  }
}

TEST(Record, HasEveryNetworkOfTheZooAndNoOther) {
  std::vector<std::string> networks;
  for (const ZooEntry& entry : convolutional_zoo())
    networks.push_back(std::string(entry.name) + ".tsv");
  for (const char* part : {"steps", "memory", "optima"}) {
    std::vector<std::string> files;
    const std::string folder = source_path("tests/golden/record/") + part;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      files.push_back(file.path().filename());
    }
    EXPECT_THAT(files, ::testing::UnorderedElementsAreArray(networks)) << part;
  }
}

}  // namespace
}  // namespace strata
