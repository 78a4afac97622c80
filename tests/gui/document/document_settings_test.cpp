// Settings of a document as texts: which there are, what an edit of one brings along, what is saved
// and what a command says of them.

#include "gui/document/document_settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "tests/gui/document/documents.h"

namespace strata::gui {
namespace {

using ::testing::HasSubstr;

constexpr std::array kGroups = {SettingGroup::network, SettingGroup::training, SettingGroup::costs,
                                SettingGroup::simulation, SettingGroup::search};

// Another value than the usual one.
std::string other_text(const SettingSpec& spec) {
  switch (spec.form) {
    case ValueForm::choice:
    case ValueForm::flag:
    case ValueForm::strategy:
      return std::string(*std::ranges::find_if(spec.choices, [&](std::string_view word) {
        return word != usual_setting_text(spec.key);
      }));
    case ValueForm::files:
      return "a.toml,b.toml";
    case ValueForm::size:
      return "1 GiB";
    case ValueForm::rate:
    case ValueForm::seconds:
      return "0.25";
    case ValueForm::positive:
    case ValueForm::natural:
      return "7";
    case ValueForm::dims:
      return "height=7";
    case ValueForm::training:
      return "lora:r=7";
    default:
      return spec.key == "as" ? "megatron" : spec.key == "schedule" ? "gpipe" : "p100-1x4";
  }
}

Document lenet() {
  return document_of("lenet5", "p100-1x2");
}

TEST(DocumentSettings, EachIsChangedSavedAndTakenBack) {
  for (const SettingGroup group : kGroups) {
    for (const std::string_view key : keys_of(group)) {
      const std::string text = other_text(setting(key));
      const Document next = with_setting(lenet(), key, text);
      EXPECT_EQ(setting_text(next, key), text) << key;
      EXPECT_EQ(parse_desk(print_desk({next}), "a.json").document, next) << key;
      if (group == SettingGroup::network || key == "as") continue;
      EXPECT_EQ(with_setting(next, key, ""), lenet()) << key;
    }
  }
}

TEST(DocumentSettings, WhatIsNoValueIsRefusedAsOnTheCommandLine) {
  for (const auto& [key, text] :
       std::array<std::pair<const char*, const char*>, 5>{{{"gradients", "fp8"},
                                                           {"memory_limit", "much"},
                                                           {"jitter", "-1"},
                                                           {"gap", "x"},
                                                           {"as", "nobody"}}}) {
    EXPECT_THROW(with_setting(lenet(), key, text), InputError) << key;
  }
}

// What was chosen otherwise stays, and the next framework takes the place of all that the first
// one brought.
TEST(DocumentSettings, AFrameworkBringsItsSettings) {
  const Document usual = lenet();
  const Document megatron = with_setting(usual, "as", "megatron");
  EXPECT_EQ(setting_text(megatron, "optimizer"), "adam");
  EXPECT_EQ(with_setting(megatron, "as", "none"), usual);
  const Document own = with_setting(with_setting(usual, "optimizer", "lion"), "as", "megatron");
  EXPECT_EQ(setting_text(own, "optimizer"), "lion");
  EXPECT_EQ(with_setting(own, "as", ""), with_setting(usual, "optimizer", "lion"));
}

// A command of a framework says what the framework would have otherwise.
TEST(DocumentSettings, ACommandSaysWhatItsFrameworkDoesNot) {
  Document document = with_setting(lenet(), "as", "megatron");
  EXPECT_EQ(case_arguments(document), "lenet5 --cluster p100-1x2 --as megatron");
  document = with_setting(document, "optimizer", "sgd");
  EXPECT_THAT(case_arguments(document), HasSubstr(" --optimizer sgd"));
  document = with_setting(with_setting(document, "steps", "8"), "jitter", "1");
  EXPECT_EQ(simulation_options(document), " --steps 8 --jitter 1");
}

TEST(DocumentSettings, TheBatchThatWasSaidLastCounts) {
  Document document = with_setting(lenet(), "batch", "64");
  EXPECT_EQ(document.input.training.batch, 64);
  document = with_setting(document, "batch_per_device", "16");
  EXPECT_EQ(document.input.training.batch, std::nullopt);
  EXPECT_EQ(document.input.training.batch_per_device, 16);
}

// Sessions of earlier versions say nothing of searches and of how a step is simulated.
TEST(DocumentSettings, OlderSessionsHaveTheUsualOnes) {
  const std::string saved = print_desk({lenet()});
  EXPECT_EQ(saved.find("\"settings\""), std::string::npos);
  const Document read = parse_desk(saved, "a.json").document;
  EXPECT_EQ(read.search, SearchSettings());
  EXPECT_EQ(read.simulation, SimulationSettings());
}

}  // namespace
}  // namespace strata::gui
