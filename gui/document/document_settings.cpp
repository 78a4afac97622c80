#include "gui/document/document_settings.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/case/case_settings.h"
#include "sim/case/framework.h"
#include "sim/case/rounds.h"
#include "sim/search/asked_strategy.h"

namespace strata::gui {
namespace {

constexpr std::string_view kModelKey = "model", kClusterKey = "cluster", kStrategyKey = "strategy";
constexpr std::string_view kFrameworkKey = "as", kProfileKey = "profile";

template <class AnyDocument, class Visit>
void each_of_document(AnyDocument& document, const Visit& visit) {
  each_setting(document.input, visit);
  visit(kStrategyKey, document.strategy.source);
  each_setting(document.simulation, visit);
  each_setting(document.search, visit);
}

std::string text_of_value(std::string_view /*key*/, const std::vector<std::string>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string text_of_value(std::string_view /*key*/, double value) {
  return fmt::format("{}", value);
}
std::string text_of_value(std::string_view /*key*/, const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}
template <class Value>
std::string text_of_value(std::string_view key, const Value& value) {
  return print_setting(key, value);
}

template <class Settings>
std::vector<std::string_view> keys_in(const Settings& settings) {
  std::vector<std::string_view> keys;
  each_setting(settings, [&](std::string_view key, const auto&) { keys.push_back(key); });
  return keys;
}

// A value as a new document has it, or that of a text.
void set_value(Document& document, std::string_view key, const std::string& text) {
  const Document usual;
  each_of_document(document, [&]<class Value>(std::string_view one, Value& value) {
    if (one != key) return;
    if (!text.empty()) return read_setting(key, text, value);
    each_of_document(usual, [&]<class Usual>(std::string_view other, const Usual& known) {
      if constexpr (std::same_as<Usual, Value>) {
        if (other == key) value = known;
      }
    });
  });
}

// What the framework before it brought goes with it; what was chosen otherwise stays.
void choose_framework(Document& document, const std::string& text) {
  const std::string next = text.empty() ? std::string(kNoFramework) : text;
  load_framework(next);  // throws before anything is changed
  Document brought;
  for (const FrameworkEntry& entry : load_framework(document.input.framework).settings) {
    set_value(brought, entry.key, entry.value);
    const bool chosen = setting_text(document, entry.key) != setting_text(brought, entry.key);
    if (!chosen) set_value(document, entry.key, "");
  }
  document.input.framework = next;
  choose_settings(document.input, [&](std::string_view key) {
    return setting_text(document, key) != usual_setting_text(key);
  });
}

bool is_offered(std::string_view key, const std::string& text) {
  const std::span<const std::string_view> choices = setting(key).choices;
  return std::ranges::find(choices, text) != choices.end();
}

// The settings that the case has where nobody says anything but its framework. One that is broken
// by now brings none.
Document usual_with_framework(const Document& document) {
  Document usual;
  usual.input.framework = document.input.framework;
  try {
    choose_settings(usual.input, [](std::string_view) { return false; });
  } catch (const InputError&) {
    usual.input.training = {};
  }
  usual.input.framework = std::string(kNoFramework);
  return usual;
}

}  // namespace

std::vector<std::string_view> keys_of(SettingGroup group) {
  const CaseRequest input;
  std::vector<std::string_view> training = keys_in(input.training);
  switch (group) {
    case SettingGroup::network:
      return {kModelKey, kClusterKey, kStrategyKey};
    case SettingGroup::training:
      return training;
    case SettingGroup::simulation:
      return keys_in(SimulationSettings());
    case SettingGroup::search:
      return keys_in(SearchSettings());
    case SettingGroup::costs:
      break;
  }
  std::vector<std::string_view> keys = keys_in(input);
  std::erase_if(keys, [&](std::string_view key) {
    return key == kModelKey || key == kClusterKey ||
           std::ranges::find(training, key) != training.end();
  });
  return keys;
}

std::string setting_text(const Document& document, std::string_view key) {
  std::string text;
  each_of_document(document, [&](std::string_view one, const auto& value) {
    if (one == key) text = text_of_value(key, value);
  });
  return text;
}

std::string usual_setting_text(std::string_view key) {
  return setting_text(Document(), key);
}

bool may_be_unset(std::string_view key) {
  return key != kModelKey && key != kClusterKey && usual_setting_text(key).empty();
}

Document with_setting(const Document& document, std::string_view key, const std::string& text) {
  if (key == kModelKey) return document.with_model(text);
  if (key == kClusterKey) return document.with_cluster(text);
  Document next = document;
  if (key == kStrategyKey) {
    next.strategy = {text, {}};
  } else if (key == kFrameworkKey) {
    choose_framework(next, text);
  } else {
    set_value(next, key, text);
  }
  // Of the two sizes of a batch the one that was said last counts, and no what-if resizes it.
  if (key == "batch_per_device") next.input.training.batch.reset();
  if (key == "batch_per_device" || key == "batch") next.base_batch.reset();
  return next;
}

bool needs_check(std::string_view key, const std::string& text) {
  if (key == kModelKey || key == kClusterKey) return true;
  if (text.empty()) return false;
  if (key == kStrategyKey) return !is_offered(key, text) && !searched_objective(text);
  return key == "schedule" || key == kProfileKey;
}

void check_setting(const Document& document, std::string_view key, CaseLoader& loader) {
  const CaseRequest& input = document.input;
  if (key == kModelKey || key == kClusterKey) {
    loader.load(input);
  } else if (key == kStrategyKey) {
    load_strategy(document.strategy.source, loader.load(input));
  } else if (key == "schedule") {
    read_schedule_choice(input.training.schedule);
  } else if (key == kProfileKey) {
    loader.cost_models(loader.cluster(input.cluster), input.profiles);
  }
}

std::string setting_options(const Document& document, const std::vector<std::string_view>& keys) {
  const Document usual = usual_with_framework(document);
  std::string options;
  for (const std::string_view key : keys) {
    const std::string text = setting_text(document, key);
    if (text.empty() || text == setting_text(usual, key)) continue;
    std::string option = fmt::format(" --{}", key);
    std::ranges::replace(option, '_', '-');
    if (setting(key).form == ValueForm::flag) {
      options += option;
    } else if (key == kProfileKey) {
      for (const std::string& file : document.input.profiles) {
        options += option + " " + shell_quoted(file);
      }
    } else {
      options += option + " " + shell_quoted(text);
    }
  }
  return options;
}

std::string setting_title(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOthers = {
      {{"zero", "ZeRO"}, {"as", "As framework"}, {"model", "Network"}, {"dtype", "Number type"}}};
  const auto* const known =
      std::ranges::find(kOthers, key, &std::pair<std::string_view, std::string_view>::first);
  if (known != kOthers.end()) return std::string(known->second);
  std::string title(key);
  std::ranges::replace(title, '_', ' ');
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return title;
}

std::string in_window_words(std::string_view text) {
  std::string words(text);
  std::erase(words, '`');
  return words;
}

}  // namespace strata::gui
