#pragma once

// --sync, as every command that lowers a plan has it.

#include <string>

#include <CLI/CLI.hpp>

#include "sim/plan/plan.h"

namespace strata {

void add_sync_option(CLI::App& command, std::string& sync);

/// Throws InputError for a name that is none.
SyncAlgorithm sync_of(const std::string& sync);

}  // namespace strata
