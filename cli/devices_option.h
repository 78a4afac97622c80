#pragma once

// What commands that use this machine's devices take: which of them, and the type that they compute
// in.

#include <string>

#include <CLI/CLI.hpp>

namespace strata {

void add_devices_option(CLI::App& command, std::string& devices);

/// As devices compute, not as a prediction may.
void add_device_dtype_option(CLI::App& command, std::string& dtype);

}  // namespace strata
