#pragma once

// Settings (sim/scenario/settings.h) as options of commands: `memory_limit` is --memory-limit.

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/options/usage.h"
#include "cli/output/output.h"
#include "sim/base/units.h"
#include "sim/case/case.h"
#include "sim/graph/ops/phase.h"
#include "sim/scenario/settings.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Values that the parser of options reads, and refuses, by itself.
template <class Value>
inline constexpr bool kPlain =
    std::same_as<Value, std::string> || std::same_as<Value, std::vector<std::string>>;
template <class Value>
inline constexpr bool kPlain<std::optional<Value>> = kPlain<Value>;

template <class Value>
inline constexpr bool kCounts = std::integral<Value> && !std::same_as<Value, bool>;
template <class Value>
inline constexpr bool kCounts<std::optional<Value>> = kCounts<Value>;

/// An option that may stand there several times; `set` gets its texts with commas between.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            const std::function<void(const std::string&)>& set,
                            const std::string& help);

/// The option of a setting, with its help, that sets `value`. Throws InputError, while arguments
/// are parsed, for text that is none of its values for the job.
template <class Value>
CLI::Option* add_setting(CLI::App& command, std::string_view key, Value& value,
                         Job job = Job::predict) {
  const std::string name = option_name(key), help = with_options(setting(key).help);
  if constexpr (Choice<Value>) {
    const auto set = [&value] { value = static_cast<Value>(true); };
    const bool flag = setting(key).form == ValueForm::flag;
    if (flag) return command.add_flag_callback(name, set, help)->disable_flag_override();
  }
  if constexpr (kCounts<Value>) {
    return add_whole_number(command, name, value, whole_range(setting(key), job), help);
  } else if constexpr (kPlain<Value>) {
    return command.add_option(name, value, help);
  } else if constexpr (std::same_as<Value, OpenDims>) {
    const auto set = [key, &value](const std::string& text) { read_setting(key, text, value); };
    return add_repeatable(command, name, set, help);
  } else {
    const auto set = [key, &value](const std::string& text) { read_setting(key, text, value); };
    return command.add_option_function<std::string>(name, set, help);
  }
}

/// --dim and --seq: what is open of a network.
void add_network_options(CLI::App& command, CaseRequest& request);
/// MODEL, required, and those.
void add_model(CLI::App& command, CaseRequest& request);
/// The settings of a training, or those with these keys; of --batch and --batch-per-device one
/// excludes the other.
void add_training(CLI::App& command, Training& training,
                  std::span<const std::string_view> keys = {});
inline constexpr std::array<std::string_view, 2> kBatchKeys = {"batch", "batch_per_device"};
/// How a step on real devices trains.
inline constexpr std::array<std::string_view, 11> kStepKeys = {
    "sync",        "bucket",   "zero",    "zero_group", "offload", "optimizer",
    "micro_batch", "schedule", "overlap", "recompute",  "train"};
/// --set, repeatable, one change each.
void add_what_ifs(CLI::App& command, WhatIfs& changes);
/// --devices, required, and the --dtype that they compute in.
void add_device_settings(CLI::App& command, std::string& devices, DType& dtype);
/// --degrees, --reductions, --free-elementwise and --placement: which strategies a search may
/// choose from. `group`: the heading in the help where they count for one strategy alone.
void add_search_settings(CLI::App& command, SearchOptions& space,
                         const std::string& group = "Options");

}  // namespace strata
