#include "cli/manual/value_kind.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"

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

struct Known {
  std::vector<std::string_view> names;
  ValueKind kind;
};

// Text that the shell knows nothing about is what has neither words nor endings.
std::vector<Known> known_kinds() {
  const std::vector<std::string> strategies{"data", "model", "owt", "optimal"};
  return {
      {{"MODEL", "--model"}, {"MODEL", model_names(), {"toml", "onnx"}}},
      {{"--cluster"}, {"CLUSTER", cluster_names(), {"toml"}}},
      {{"--strategy", "BEFORE", "AFTER"}, {"STRATEGY", strategies, {"json"}, true}},
      {{"--strategies"}, {"STRATEGIES", strategies, {"json"}, true}},
      {{"--devices"}, {"DEVICES", {"cpu:1", "cpu:2", "cpu:4", "cuda:0"}, {}}},
      {{"--sync"}, {"HOW", {"ps", "ring", "tree", "hierarchical", "auto"}, {}}},
      {{"--dtype"}, {"TYPE", {"fp32", "tf32", "bf16", "fp16"}, {}}},
      {{"--degrees"}, {"DEGREES", {"pow2", "divisors", "all"}, {}}},
      {{"--placement"}, {"WHERE", {"first", "hosts"}, {}}},
      {{"--algorithm"}, {"ALGORITHM", {"elimination", "dfs"}, {}}},
      {{"--objective"}, {"OBJECTIVE", {"eq1", "simulated"}, {}}},
      {{"--output", "SOURCE", "FILE"}, {"FILE", {}, {kAnyFile}}},
      {{"--profile"}, {"FILE", {}, {"toml"}}},
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
      {{"--time-limit", "--seconds"}, {"SECONDS", {}, {}}},
      {{"--lr", "--tolerance"}, {"X", {}, {}}},
      {{"--set"}, {"KEY=VALUE", {}, {}}},
      {{"--shard"}, {"I/N", {}, {}}},
      {{"--memory-limit"}, {"BYTES", {}, {}}},
      {{"SQL"}, {"SQL", {}, {}}},
  };
}

bool is_whole(const std::string& type) {
  return type.starts_with("INT") || type.starts_with("UINT");
}

}  // namespace

ValueKind value_kind(const std::string& name, const std::string& type) {
  const bool argument = !name.starts_with("-");
  for (const Known& known : known_kinds()) {
    if (std::find(known.names.begin(), known.names.end(), name) == known.names.end()) continue;
    ValueKind kind = known.kind;
    if (argument) kind.placeholder = name;
    if (argument) kind.list = false;
    return kind;
  }
  if (is_whole(type)) return {argument ? name : "N", {}, {}};
  if (type.starts_with("FLOAT")) return {argument ? name : "X", {}, {}};
  throw InternalError(fmt::format("no row of known_kinds says what {} takes", name));
}

}  // namespace strata
