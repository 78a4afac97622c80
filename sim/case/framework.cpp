#include "sim/case/framework.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/case_settings.h"
#include "sim/case/expert_load_text.h"
#include "sim/case/what_ifs.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/what_if.h"
#include "sim/scenario/settings.h"
#include "sim/text/diagnostics.h"
#include "sim/text/embedded.h"
#include "sim/text/file.h"
#include "sim/text/toml.h"
#include "sim/text/value.h"

namespace strata {

std::span<const EmbeddedFile> framework_files();  // generated: profiles/frameworks/*.toml

namespace {

// What of a step a framework may decide; the rest is the network, the machine and its use.
constexpr std::array<std::string_view, 11> kSettings = {
    "sync",      "bucket",    "zero",     "zero_group", "offload",  "dtype",
    "gradients", "optimizer", "schedule", "overlap",    "recompute"};

// A value by itself, or with its source.
FrameworkEntry read_entry(const SettingSpec& setting, const std::string& key, const Value& value) {
  if (!value.is(ValueKind::table)) return {key, read_single(setting, value), {}};
  Table table = value.as_table();
  FrameworkEntry entry{key, read_single(setting, table.required("value")), table.string("source")};
  table.finish();
  return entry;
}

void read_settings(Table table, Framework& framework, Diagnostics& errors) {
  for (const std::string_view key : kSettings) {
    errors.attempt([&] {
      const auto value = table.optional(key);
      if (!value) return;
      framework.settings.push_back(read_entry(setting(key), std::string(key), *value));
    });
  }
  table.finish(errors);
}

constexpr std::string_view kOfExperts = "experts";

// Layers in fp32 move more bytes, and convert nothing.
FrameworkEntry read_what_if(const std::string& key, const Value& value) {
  const SettingSpec& of = what_if_setting();
  if (!value.is(ValueKind::table)) return {key, read_single(of, value), {}};
  Table table = value.as_table();
  FrameworkEntry entry{key, read_single(of, table.required("value")), table.string("source")};
  if (const auto fp32 = table.optional("fp32")) entry.fp32 = read_single(of, *fp32);
  if (const auto networks = table.optional("networks")) {
    entry.of_experts = networks->as_string() == kOfExperts;
    if (!entry.of_experts) networks->fail(fmt::format("'networks' must be \"{}\"", kOfExperts));
  }
  table.finish();
  return entry;
}

// Layers by op: what their names are, each network says.
void check_selector(const std::string& key, const Value& value) {
  const auto selector = selector_in(key, "layer.SELECTOR.speed");
  if (!selector || *selector == "*") return;
  const std::vector<Op>& ops = op_prototypes();
  const auto is_of = [&](const Op& op) { return name(op) == *selector; };
  if (std::ranges::any_of(ops, is_of)) return;
  value.fail(fmt::format("'{}' is no op; allowed: *, {}", *selector, op_names()));
}

std::vector<std::string> texts_of(const FrameworkEntry& entry) {
  return entry.fp32.empty() ? std::vector{entry.value} : std::vector{entry.value, entry.fp32};
}

template <class Use>
void at(const Value& value, const Use& use) try {
  use();
} catch (const InputError& error) {
  value.fail(error.message());
}

void read_what_ifs(Table table, const std::string& folder, Framework& framework,
                   Diagnostics& errors) {
  for (const auto& member : table.members()) {
    errors.attempt([&] {
      const auto& [key, value] = member;
      const WhatIfSpec* const what_if = find_what_if(key);
      if (what_if == nullptr) {
        value.fail(fmt::format("unknown key '{}'; allowed: {}", key, what_if_keys()));
      }
      check_selector(key, value);
      framework.what_ifs.push_back(read_what_if(key, value));
      std::string& said = framework.what_ifs.back().value;
      said = seen_from(folder, key, said);
      for (const std::string& text : texts_of(framework.what_ifs.back())) {
        at(value, [&] { check_value(*what_if, text); });
      }
    });
  }
}

template <class Use>
void naming(const Framework& framework, const FrameworkEntry& entry, const Use& use) try {
  use();
} catch (InputError& error) {
  error.add_context(fmt::format("`as` {}: {}={}", framework.name, entry.key, entry.value));
  throw;
}

bool selects_no_layer(const Graph& graph, const std::string& key) {
  const auto selector = selector_in(key, "layer.SELECTOR.speed");
  return selector && !has_layer(graph, *selector);
}

bool is_of_no_experts(const Graph& graph, const FrameworkEntry& entry) {
  return (entry.of_experts || entry.key.starts_with("experts.")) && !has_experts(graph);
}

bool is_unknown_dispatch(const Cluster& cluster, const FrameworkEntry& entry) {
  const auto at = std::ranges::find(kTokenDispatchNames, entry.value);
  return entry.key == "experts.dispatch" && at != kTokenDispatchNames.end() &&
         !knows(cluster, static_cast<TokenDispatch>(at - kTokenDispatchNames.begin()));
}

bool is_unknown_attention(const Case& input, const FrameworkEntry& entry) {
  const auto at = std::ranges::find(kAttentionKernelNames, entry.value);
  if (entry.key != "attention" || at == kAttentionKernelNames.end()) return false;
  const auto kernel = static_cast<AttentionKernel>(at - kAttentionKernelNames.begin());
  return std::ranges::any_of(input.models, [&](const auto& model) { return !model->has(kernel); });
}

// What its kernels take of an attention says nothing of another one.
bool is_of_another_attention(const Framework& framework, const FrameworkEntry& entry,
                             const WhatIfs& asked) {
  if (entry.key != "layer.attention.speed") return false;
  const auto own = std::ranges::find(framework.what_ifs, "attention", &FrameworkEntry::key);
  return std::ranges::any_of(asked, [&](const auto& set) {
    return set.first == "attention" &&
           (own == framework.what_ifs.end() || set.second != own->value);
  });
}

FrameworkEntry in_type(FrameworkEntry entry, DType dtype) {
  if (!entry.fp32.empty() && element_bytes(dtype) == 4) entry.value = entry.fp32;
  return entry;
}

}  // namespace

Framework parse_framework(std::string_view toml, const std::string& file) {
  const Document document = parse_toml(toml, file);
  Table root = document.table();
  Framework framework;
  Diagnostics errors;
  errors.attempt([&] { framework.name = root.string("name"); });
  errors.attempt([&] { framework.description = root.string_or("description", ""); });
  errors.attempt([&] {
    if (auto settings = root.optional_table("settings")) {
      read_settings(*settings, framework, errors);
    }
  });
  errors.attempt([&] {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    if (auto set = root.optional_table("set")) read_what_ifs(*set, folder, framework, errors);
  });
  root.finish(errors);
  errors.throw_if_any();
  return framework;
}

std::vector<Framework> shipped_frameworks() {
  std::vector<Framework> frameworks;
  for (const EmbeddedFile& file : framework_files()) {
    frameworks.push_back(parse_framework(file.text, fmt::format("{}.toml", file.name)));
  }
  return frameworks;
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names = {std::string(kNoFramework)};
  for (const EmbeddedFile& file : framework_files()) names.emplace_back(file.name);
  return names;
}

// A framework's second name, and the first one, by which it is listed.
constexpr std::array<std::string_view, 2> kOtherName = {"megatron-2021", "megatron"};

Framework load_framework(const std::string& name_or_file) {
  if (name_or_file == kNoFramework) return {};
  if (name_or_file.ends_with(".toml")) {
    Framework own = parse_framework(read_file(name_or_file), name_or_file);
    const std::vector<std::string> names = framework_names();
    if (std::ranges::find(names, own.name) == names.end() && own.name != kOtherName[0]) return own;
    throw InputError(fmt::format(
        "{}: 'name' is \"{}\", which comes with Strata and has steps that judge it; expected "
        "another",
        name_or_file, own.name));
  }
  const std::string_view name = name_or_file == kOtherName[0] ? kOtherName[1] : name_or_file;
  for (const EmbeddedFile& file : framework_files()) {
    if (file.name == name) {
      return parse_framework(file.text, fmt::format("{}.toml", file.name));
    }
  }
  throw InputError(fmt::format("unknown framework \"{}\"; allowed: {}, or a .toml file",
                               name_or_file, fmt::join(framework_names(), ", ")));
}

void choose_settings(CaseRequest& request, const std::function<bool(std::string_view)>& given) {
  const Framework framework = load_framework(request.framework);
  for (const FrameworkEntry& entry : framework.settings) {
    if (given(entry.key)) continue;
    each_setting(request, [&](std::string_view key, auto& value) {
      if (key == entry.key) {
        naming(framework, entry, [&] { read_setting(key, entry.value, value); });
      }
    });
  }
}

void run_as(const Framework& framework, Case& input, const WhatIfs& asked) {
  input.framework = framework.name;
  for (const FrameworkEntry& own : framework.what_ifs) {
    const FrameworkEntry entry = in_type(own, input.dtypes.values);
    if (selects_no_layer(input.graph, entry.key) || is_of_no_experts(input.graph, entry) ||
        is_unknown_attention(input, entry) || is_unknown_dispatch(input.cluster, entry) ||
        is_of_another_attention(framework, entry, asked)) {
      continue;
    }
    naming(framework, entry, [&] { change(input, entry.key, entry.value); });
  }
}

}  // namespace strata
