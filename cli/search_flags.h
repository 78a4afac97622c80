#pragma once

// Which strategies a search may choose from: --degrees, --free-elementwise, --placement.

#include <string>

#include <CLI/CLI.hpp>

#include "sim/strategy/search_space.h"

namespace strata {

struct SearchFlags {
  std::string degrees, placement = "first";  ///< no degrees: the usual ones
  bool free_elementwise = false;
};

/// `group`: the heading in the help where they count for one strategy alone.
void add_search_options(CLI::App& command, SearchFlags& flags,
                        const std::string& group = "Options");

/// Throws InputError for a value that is not allowed.
SearchOptions search_options(const SearchFlags& flags);

}  // namespace strata
