#pragma once

// The manual pages of `strata` and the shells' completions, as text, from the commands themselves:
// what the program takes and what they say cannot drift apart.

#include <span>
#include <string>
#include <vector>

#include "cli/manual/synopsis.h"

namespace strata {

struct Release {
  std::string version;  ///< "0.1.0"
  std::string date;     ///< "2026-11-22"
};

struct ManPage {
  std::string name;  ///< "strata-predict"; its file ends in .1
  std::string text;  ///< in the man macros of roff
};

/// One of each command; commands_of() makes them.
std::vector<ManPage> man_pages(std::span<const CommandFacts> commands, const Release& release);

std::string bash_completion(std::span<const CommandFacts> commands);
std::string zsh_completion(std::span<const CommandFacts> commands);
std::string fish_completion(std::span<const CommandFacts> commands);

}  // namespace strata
