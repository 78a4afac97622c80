#pragma once

// `strata import`: each kind of file that it makes adds its own subcommand.

#include <CLI/CLI.hpp>

namespace strata {

void add_import_profile(CLI::App& import);

}  // namespace strata
