#include "cli/manual/value_kind.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"
#include "sim/scenario/settings.h"

namespace strata {
namespace {

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
      {{"--trace", "--plan"}, {"FILE", {}, {"json"}}},
      {{"--csv"}, {"FILE", {}, {"csv"}}},
      {{"--data", "--test-data", "--weights", "--save-weights", "-o"}, {"FOLDER", {}, {kFolder}}},
      {{"--layer"}, {"LAYER", {}, {}}},
      {{"--keep"}, {"LAYERS", {}, {}}},
      {{"--scenario", "--name"}, {"NAME", {}, {}}},
      {{"--bandwidth", "--uplink", "--nvlink", "--pcie", "--socket"}, {"BANDWIDTH", {}, {}}},
      {{"--latency"}, {"TIME", {}, {}}},
      {{"--seconds"}, {"SECONDS", {}, {}}},
      {{"--shard"}, {"I/N", {}, {}}},
      {{"SQL"}, {"SQL", {}, {}}},
  };
}

bool is_whole(const std::string& type) {
  return type.starts_with("INT") || type.starts_with("UINT");
}

}  // namespace

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
