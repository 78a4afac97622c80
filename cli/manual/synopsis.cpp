#include "cli/manual/synopsis.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/framework.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"
#include "sim/scenario/settings.h"

namespace strata {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  facts.names = names_of(option);
  facts.description = option.get_description();
  facts.group = option.get_group();
  facts.required = option.get_required();
  facts.repeatable = option.get_positional() && option.get_items_expected_max() > 1;
  facts.flag = option.get_items_expected_max() == 0;
  if (!facts.flag) facts.value = value_kind(facts.names.back(), option.get_type_name());
  return facts;
}

// Of the command and of the option groups within it, which have no name, and a --help of their own
// that nobody reaches.
void add_options(const CLI::App& command, CommandFacts& facts) {
  for (const CLI::Option* option : command.get_options()) {
    const bool unreached = command.get_name().empty() && option == command.get_help_ptr();
    if (option->get_group().empty() || unreached) continue;
    auto& list = option->get_positional() ? facts.arguments : facts.options;
    list.push_back(facts_of(*option));
  }
  for (const CLI::App* group : command.get_subcommands(nullptr)) {
    if (group->get_name().empty()) add_options(*group, facts);
  }
}

void add_commands(const CLI::App& command, const std::string& above,
                  std::vector<CommandFacts>& all) {
  CommandFacts facts;
  facts.path = above + command.get_name();
  facts.description = command.get_description();
  add_options(command, facts);
  std::vector<const CLI::App*> below;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) {
    if (sub->get_name().empty() || sub->get_group().empty()) continue;
    facts.commands.push_back(sub->get_name());
    below.push_back(sub);
  }
  const std::string path = facts.path + " ";
  all.push_back(std::move(facts));
  for (const CLI::App* sub : below) add_commands(*sub, path, all);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.emplace_back(entry.name);
  return names;
}

// Families have members of any size: an example of each, and the paper's.
std::vector<std::string> cluster_names() {
  std::vector<std::string> names{"p100-1x4", "p100-4x4"};
  for (const Preset& preset : presets()) names.push_back(preset.example);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

ArgumentKind kind_of(const SettingSpec& setting) {
  ArgumentKind kind{std::string(setting.placeholder), {}, {}};
  kind.words.assign(setting.choices.begin(), setting.choices.end());
  if (setting.form == ValueForm::strategy) kind.endings = {"json"};
  if (setting.form == ValueForm::files) kind.endings = {"toml"};
  kind.list = setting.form == ValueForm::strategy;
  return kind;
}

// "--memory-limit" is `memory_limit`; null for options that are no setting or take a number.
const SettingSpec* setting_of(const std::string& option) {
  if (!option.starts_with("--")) return nullptr;
  std::string key = option.substr(2);
  std::replace(key.begin(), key.end(), '-', '_');
  const SettingSpec* const found = find_setting(key);
  return found != nullptr && !found->placeholder.empty() ? found : nullptr;
}

struct Known {
  std::vector<std::string_view> names;
  ArgumentKind kind;
};

// Text that the shell knows nothing about is what has neither words nor endings.
std::vector<Known> known_kinds() {
  const ArgumentKind strategies = kind_of(setting("strategy"));
  return {
      {{"MODEL", "--model"}, {"MODEL", model_names(), {"toml", "onnx"}}},
      {{"--cluster"}, {"CLUSTER", cluster_names(), {"toml"}}},
      {{"FRAMEWORK", "--as"}, {"FRAMEWORK", framework_names(), {"toml"}}},
      {{"BEFORE", "AFTER"}, strategies},
      {{"--strategies"}, {"STRATEGIES", strategies.words, strategies.endings, true}},
      {{"--devices"}, {"DEVICES", {"cpu:1", "cpu:2", "cpu:4", "cuda:0"}, {}}},
      {{"--output", "SOURCE", "FILE"}, {"FILE", {}, {kAnyFile}}},
      {{"--kind"}, {"KIND", shipped_profiles(), {}}},
      {{"--node"}, {"CLUSTER", cluster_names(), {"toml"}}},
      {{"--format"}, {"FORMAT", {"nccl", "smi", "hwloc", "slurm"}, {}}},
      {{"SCENARIO"}, {"SCENARIO", {}, {"toml"}}},
      {{"PLAN"}, {"PLAN", {}, {"json", "jsonl"}}},
      {{"DB", "BESIDE", "INTO", "FROM", "--db"}, {"DB", {}, {"db"}}},
      {{"--trace", "--plan", "--beside"}, {"FILE", {}, {"json"}}},
      {{"--csv"}, {"FILE", {}, {"csv"}}},
      {{"--data", "--test-data", "--weights", "--save-weights", "-o"}, {"FOLDER", {}, {kFolder}}},
      {{"--layer"}, {"LAYER", {}, {}}},
      {{"--keep"}, {"LAYERS", {}, {}}},
      {{"--scenario", "--name"}, {"NAME", {}, {}}},
      {{"--bandwidth", "--uplink", "--nvlink", "--pcie", "--socket"}, {"BANDWIDTH", {}, {}}},
      {{"--latency"}, {"TIME", {}, {}}},
      {{"--seconds"}, {"SECONDS", {}, {}}},
      {{"--shard"}, {"I/N", {}, {}}},
      {{"--x", "--y"}, {"AXIS", {"batch_per_device", "batch", "hosts", "devices_per_host"}, {}}},
      {{"SQL"}, {"SQL", {}, {}}},
      {{"--source", "--licence"}, {"TEXT", {}, {}}},
      {{"--date"}, {"DATE", {}, {}}},
      {{"--overhead"}, {"KIND", {"none", "constant", "growing"}, {}}},
  };
}

bool is_whole(const std::string& type) {
  return type.starts_with("INT") || type.starts_with("UINT");
}

}  // namespace

std::vector<CommandFacts> commands_of(const CLI::App& app) {
  std::vector<CommandFacts> all;
  add_commands(app, "", all);
  return all;
}

const CommandFacts& below(const CommandFacts& command, const std::string& name,
                          std::span<const CommandFacts> all) {
  const std::string path = command.path + " " + name;
  return *std::find_if(all.begin(), all.end(),
                       [&](const auto& other) { return other.path == path; });
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

ArgumentKind value_kind(const std::string& name, const std::string& type) {
  const bool argument = !name.starts_with("-");
  for (const Known& known : known_kinds()) {
    if (std::find(known.names.begin(), known.names.end(), name) == known.names.end()) continue;
    ArgumentKind kind = known.kind;
    if (argument) kind.placeholder = name;
    if (argument) kind.list = false;
    return kind;
  }
  if (const SettingSpec* const known = setting_of(name)) return kind_of(*known);
  if (is_whole(type)) return {argument ? name : "N", {}, {}};
  if (type.starts_with("FLOAT")) return {argument ? name : "X", {}, {}};
  throw InternalError(fmt::format("no setting and no row of known_kinds says what {} takes", name));
}

}  // namespace strata
