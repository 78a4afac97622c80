#pragma once

// Which layers a search leaves alone: --keep, and --strategy, which says how they are cut.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/search/solve.h"

namespace strata {

struct KeepFlags {
  std::string layers, strategy;  ///< both, or neither
};

void add_keep_options(CLI::App& command, KeepFlags& flags);

/// Throws InputError for one without the other.
void check(const KeepFlags& flags);
std::vector<std::string> kept_names(const KeepFlags& flags);
/// Throws InputError for layers that the network has not.
KeptLayers kept_layers(const KeepFlags& flags, const SearchOptions& space, const Case& input);

}  // namespace strata
