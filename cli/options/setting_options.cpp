#include "cli/options/setting_options.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/graph/ops/limits.h"

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

void add_batch_settings(CLI::App& command, std::optional<std::int64_t>& batch,
                        std::int64_t& batch_per_device) {
  CLI::Option* const whole = add_setting(command, "batch", batch);
  add_setting(command, "batch_per_device", batch_per_device)->excludes(whole);
}

void add_sync_settings(CLI::App& command, GradientSync& sync) {
  add_setting(command, "sync", sync.algorithm);
  add_setting(command, "bucket", sync.bucket);
  add_setting(command, "zero", sync.zero);
  add_setting(command, "offload", sync.offload);
}

void add_tokens(CLI::App& command, std::function<void(std::int64_t)> set) {
  const auto read = [set = std::move(set)](const std::string& text) { set(read_digits(text)); };
  command
      .add_option_function<std::string>("--seq", read,
                                        "tokens of a sequence, of a transformer that comes with "
                                        "Strata: `gpt2 --seq 256` is `gpt2:seq=256`")
      ->type_name("INT")
      ->check(whole_number({1, kMaxExtent}));
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
