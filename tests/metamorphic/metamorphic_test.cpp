// Cases of fixed seeds, all relations held to each. STRATA_CASES=N tries N others, from STRATA_SEED
// on (1 if there is none). STRATA_KEEP=FOLDER keeps the files of cases in which something does not
// hold, so that the command line can repeat them.

#include "tests/metamorphic/metamorphic.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/case/framework.h"
#include "sim/case/what_ifs.h"
#include "sim/scenario/settings.h"
#include "tests/folder.h"
#include "tests/metamorphic/anomaly.h"
#include "tests/metamorphic/relation.h"
#include "tests/sanitized.h"

namespace strata {
namespace {

using strata::testing::Metamorphic;

std::uint64_t number_in(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// All that cases may have which has a few values: "sync=ps".
// But for those of experts, which few networks have.
std::vector<std::string> values_of_choices() {
  std::vector<std::string> all;
  const auto add = [&](std::string_view key, std::span<const std::string_view> values) {
    for (const std::string_view value : values) all.push_back(fmt::format("{}={}", key, value));
  };
  for (const SettingSpec& setting : settings()) {
    const bool chosen = setting.form == ValueForm::choice && goes_with(setting, Job::predict);
    if (chosen) add(setting.key, setting.choices);
  }
  for (const WhatIfSpec& what_if : what_ifs()) {
    const bool chosen = what_if.form == WhatIfForm::word && what_if.key != "attention" &&
                        !what_if.key.starts_with("experts.");
    if (chosen) add(what_if.key, what_if.words);
  }
  add("attention", std::array<std::string_view, 2>{"fused", "unfused"});  // of every device
  for (const std::string& name : strata::framework_names()) all.push_back("as=" + name);
  return all;
}

std::string key_of(const std::string& value) {
  return value.substr(0, value.find('='));
}

// Replicas share nothing that a server has, and their hosts update nothing; nor do its updates wait
// for all gradients.
bool are_refused(const std::string& a, const std::string& b) {
  const bool has_no_server = b == "gradient.clip=norm" || b == "gradient.unscale=pass" ||
                             b == "offload=optimizer" || (key_of(b) == "zero" && b != "zero=0");
  return a == "sync=ps" && has_no_server;
}

// A framework sets what the others are, and types of products alone train as bf16 does.
bool is_met_alone(const std::string& value) {
  if (key_of(value) == "as") return true;
  if (key_of(value) != "dtype") return false;
  return strata::is_of_products(*strata::parse_dtype(value.substr(value.find('=') + 1)));
}

// Whether some case must have both.
bool must_meet(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (key_of(a) == key_of(b) || is_met_alone(a) || is_met_alone(b)) return false;
  return !are_refused(a, b) && !are_refused(b, a);
}

constexpr std::uint64_t kManyCases = 3'000;  // in which every relation and every pair is met
constexpr std::uint64_t kUsualCases = strata::testing::kSanitized ? 40
                                      : strata::testing::kRelease ? kManyCases
                                                                  : 400;
constexpr std::size_t kMostShown = 20;

TEST(Metamorphic, RelationsHoldOfEveryCase) {
  const strata::testing::Folder folder("metamorphic");
  const std::uint64_t count = number_in("STRATA_CASES", kUsualCases),
                      first = number_in("STRATA_SEED", 1);
  const char* const kept = std::getenv("STRATA_KEEP");
  if (kept != nullptr) std::filesystem::create_directories(kept);
  Metamorphic room(kept == nullptr ? folder.path() : kept);
  const bool all = std::getenv("STRATA_FIRST") == nullptr;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    room.try_case(seed);
    if (!all && !room.faults().empty()) break;
  }
  fmt::print("{}", room.report());
  for (const auto& [reason, cases] : room.reasons()) fmt::print("{:9} {}\n", cases, reason);
  for (std::size_t i = 0; i < room.faults().size() && i < kMostShown; ++i) {
    const auto& fault = room.faults()[i];
    ADD_FAILURE() << fmt::format("seed {}, {}: {}\n  {}", fault.seed, fault.relation, fault.what,
                                 fault.text);
  }
  EXPECT_EQ(room.faults().size(), 0U);
  EXPECT_LE(room.refused(), count * 9 / 20) << "more cases are refused than were";
  const std::vector<std::string> values = values_of_choices();
  for (const std::string& a : values) {
    for (const std::string& b : values) {
      if (!all || count < kManyCases || !must_meet(a, b)) continue;
      EXPECT_TRUE(room.pairs().contains({a, b})) << "no case has " << a << " and " << b;
    }
  }
  for (const auto& relation : strata::testing::relations()) {
    if (!all || count < kManyCases) continue;
    const auto tally = room.tallies().find(relation.name);
    ASSERT_NE(tally, room.tallies().end()) << relation.name << " was tried on no case";
    EXPECT_GT(tally->second.applied, 0U) << relation.name << " was held to no case";
    EXPECT_LE(20 * tally->second.anomalies, tally->second.applied) << relation.name;
  }
}

using strata::testing::Answer;
using strata::testing::DrawnCase;

// More bandwidth, or less latency, and a slower step: each device keeps busy with another task.
TEST(Metamorphic, KnownSlowerStepsOfFasterMachinesAreAnomalies) {
  struct Known {
    DrawnCase slower;
    Setting faster;
  };
  const std::string llama = "llama:layers=2,hidden=64,heads=4,kv_heads=2,ffn=128,seq=32,vocab=100";
  const Known known[] = {{{{{"model", "googlenet"},
                            {"cluster", "p100-1x7"},
                            {"strategy", "data"},
                            {"optimizer", "adam"},
                            {"sync", "ps"},
                            {"batch", "14"}}},
                          {"set.link.*.bandwidth", "4x"}},
                         {{{{"model", "r3d_18"},
                            {"cluster", "a100-2x8"},
                            {"strategy", "data"},
                            {"optimizer", "momentum"},
                            {"sync", "ps"},
                            {"batch", "32"}}},
                          {"set.link.*.bandwidth", "4x"}},
                         {{{{"model", llama},
                            {"cluster", "h200-4x2"},
                            {"strategy", "owt"},
                            {"sync", "ps"},
                            {"batch", "16"}}},
                          {"set.link.*.latency", "0.5x"}}};
  CaseLoader loader;
  int slower_steps = 0;
  for (const auto& [drawn, change] : known) {
    const Answer slower = ask(loader, drawn), faster = ask(loader, drawn.with({change}));
    if (faster.found.step <= slower.found.step) continue;
    ++slower_steps;
    EXPECT_TRUE(is_anomaly(slower, faster)) << drawn.text();
  }
  EXPECT_GT(slower_steps, 0);
}

}  // namespace
}  // namespace strata
