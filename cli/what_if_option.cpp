#include "cli/what_if_option.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

std::pair<std::string, std::string> split_set(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(
        fmt::format("--set {}: no KEY=VALUE; allowed: link.SELECTOR.bandwidth=, "
                    "link.SELECTOR.latency=, device.SELECTOR.speed=, layer.SELECTOR.speed=, "
                    "overlap=",
                    text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

void add_set_option(CLI::App& command, std::vector<std::string>& sets) {
  command
      .add_option(
          "--set", sets,
          "a what-if, KEY=VALUE: link.SELECTOR.bandwidth, link.SELECTOR.latency, "
          "device.SELECTOR.speed, layer.SELECTOR.speed; a value or a factor (2x); overlap, on or "
          "off; as link.inter.bandwidth=0.5x (docs/clusters.md); repeatable")
      ->allow_extra_args(false);
}

WhatIfs parse_sets(const std::vector<std::string>& sets) {
  WhatIfs changes;
  changes.reserve(sets.size());
  for (const std::string& set : sets) changes.push_back(split_set(set));
  return changes;
}

}  // namespace strata
