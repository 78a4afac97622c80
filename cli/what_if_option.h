#pragma once

// --set KEY=VALUE, which predict and replay share.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/study/case/predict.h"

namespace strata {

/// Repeatable, one change each; `sets` gets their texts, in order.
void add_set_option(CLI::App& command, std::vector<std::string>& sets);

/// Throws InputError for a text that is no KEY=VALUE.
WhatIfs parse_sets(const std::vector<std::string>& sets);

}  // namespace strata
