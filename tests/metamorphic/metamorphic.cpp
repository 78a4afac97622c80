#include "tests/metamorphic/metamorphic.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/scenario/settings.h"
#include "tests/metamorphic/relation.h"

namespace strata::testing {
namespace {

// What has a few values, by value; of other settings, that the case has them.
std::vector<Said> said(const DrawnCase& drawn) {
  std::vector<Said> all;
  for (const Setting& setting : drawn.settings) {
    const SettingSpec* const spec = find_setting(setting.key);
    if (spec == nullptr) {
      const WhatIfSpec* const what_if = find_what_if(setting.key.substr(4));
      if (what_if == nullptr) continue;
      all.push_back(what_if->words.empty() ? Said(what_if->key)
                                           : fmt::format("{}={}", what_if->key, setting.value));
    } else if (spec->form == ValueForm::choice || setting.key == "schedule" ||
               setting.key == "as") {
      all.push_back(fmt::format("{}={}", setting.key, setting.value));
    } else {
      all.push_back(setting.key);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// What is said of several cases, whatever their numbers.
std::string kind_of(const std::string& message) {
  std::string kind;
  for (const char c : message.substr(message.rfind(": ") + 1)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) kind += c;
    if (digit && !kind.ends_with('#')) kind += '#';
  }
  return kind;
}

void hold(const Relation& relation, Trial& trial, Tally& tally) {
  trial.verdict = {};
  ++tally.tried;
  try {
    relation.check(trial);
    tally.applied += trial.verdict.applied ? 1 : 0;
  } catch (const InputError& error) {
    ++tally.refused;
    if (!relation.may_be_refused) trial.verdict.faults.push_back(error.message());
  }
  tally.anomalies += trial.verdict.anomalies.size();
  for (const double size : trial.verdict.anomalies) {
    tally.largest_anomaly = std::max(tally.largest_anomaly, size);
  }
}

}  // namespace

std::vector<Relation> relations() {
  std::vector<Relation> all;
  for (const auto& some : {account_relations(), asking_relations(), machine_relations(),
                           training_relations(), search_relations()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void Metamorphic::try_case(std::uint64_t seed) {
  ++cases_;
  Random random(seed);
  const std::string folder = fmt::format("{}/{}", folder_, seed);
  std::filesystem::create_directory(folder);
  DrawnCase drawn = drawn_case(random, folder, seed);
  std::optional<Trial> trial;
  try {
    trial.emplace(loader_, drawn, folder, random());
  } catch (const InputError& error) {
    ++refused_;
    ++reasons_[kind_of(error.message())];
  }
  if (trial) {
    const std::vector<Said> all = said(drawn);
    for (const Said& one : all) {
      for (const Said& other : all) pairs_.emplace(one, other);
    }
    for (const Relation& relation : relations()) {
      if (trial->random() % relation.one_in != 0) continue;
      hold(relation, *trial, tallies_[std::string(relation.name)]);
      if (trial->verdict.faults.empty()) continue;
      faults_.push_back(
          {seed, std::string(relation.name), trial->verdict.faults.front(), drawn.text()});
    }
  }
  if (faults_.empty() || faults_.back().seed != seed) std::filesystem::remove_all(folder);
}

std::string Metamorphic::report() const {
  std::string text =
      fmt::format("{} cases, {} of them refused\n{:40} {:>9} {:>9} {:>9} {:>9}  {}\n", cases_,
                  refused_, "relation", "tried", "applied", "refused", "anomalies", "largest");
  for (const auto& [name, tally] : tallies_) {
    text += fmt::format("{:40} {:9} {:9} {:9} {:9}", name, tally.tried, tally.applied,
                        tally.refused, tally.anomalies);
    text += tally.anomalies > 0 ? fmt::format("  {:.2g} %\n", 100 * tally.largest_anomaly) : "\n";
  }
  return text;
}

}  // namespace strata::testing
