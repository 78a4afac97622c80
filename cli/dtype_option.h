#pragma once

// --dtype, as every command that lowers a plan for it has it.

#include <string>

#include <CLI/CLI.hpp>

#include "sim/graph/phase.h"

namespace strata {

/// `help`: which types the command takes.
void add_dtype_option(CLI::App& command, std::string& dtype, const std::string& help);

/// Throws InputError for a name that is none.
DType dtype_of(const std::string& dtype);

}  // namespace strata
