#pragma once

// All that the command line can say: `strata`'s own options and its commands, on one application.
// The program parses with it; the manual and the completions are read from it (cli/manual).

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/study/case/runner.h"

namespace strata {

/// The runner must outlive the application. `typed` is the command line, for a result's provenance;
/// `version` answers --version.
std::unique_ptr<CLI::App> program(Runner& runner, const std::string& typed,
                                  std::function<std::string()> version);

}  // namespace strata
