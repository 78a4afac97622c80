#include "cli/options/setting_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"

namespace strata {
namespace {

std::pair<std::string, std::string> split_what_if(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("`set` {}: no KEY=VALUE; allowed keys: {}", text, what_if_keys()));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            const std::function<void(const std::string&)>& set,
                            const std::string& help) {
  const auto join = [set](const std::vector<std::string>& texts) {
    set(fmt::format("{}", fmt::join(texts, ",")));
  };
  return command.add_option_function<std::vector<std::string>>(name, join, help)
      ->allow_extra_args(false);
}

void add_training(CLI::App& command, Training& training, std::span<const std::string_view> keys) {
  each_setting(training, [&](std::string_view key, auto& value) {
    if (!keys.empty() && std::ranges::find(keys, key) == keys.end()) return;
    CLI::Option* const option = add_setting(command, key, value);
    if (key == "batch_per_device") option->excludes(command.get_option(option_name("batch")));
  });
}

void add_network_options(CLI::App& command, CaseRequest& request) {
  add_setting(command, "dim", request.dims);
  add_setting(command, "seq", request.seq);
}

void add_model(CLI::App& command, CaseRequest& request) {
  command.add_option("MODEL", request.model, std::string(setting("model").help))->required();
  add_network_options(command, request);
}

void add_what_ifs(CLI::App& command, WhatIfs& changes) {
  const SettingSpec& set = what_if_setting();
  const auto add = [&changes](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) changes.push_back(split_what_if(text));
  };
  command.add_option_function<std::vector<std::string>>(option_name(set.key), add, what_if_help())
      ->allow_extra_args(false);
}

void add_device_settings(CLI::App& command, std::string& devices, DType& dtype) {
  add_setting(command, "devices", devices)->required();
  add_setting(command, "dtype", dtype)
      ->description("fp32; on GPUs also tf32 or bf16 (default fp32)");
}

void add_search_settings(CLI::App& command, SearchOptions& space, const std::string& group) {
  add_setting(command, "degrees", space.degrees)->group(group);
  add_setting(command, "reductions", space.reductions)->group(group);
  add_setting(command, "free_elementwise", space.free_elementwise)->group(group);
  add_setting(command, "placement", space.host_placement)->group(group);
}

}  // namespace strata
