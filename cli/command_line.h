#pragma once

// A command line as text: what the provenance of a result records, and a shell repeats.

#include <string>

namespace strata {

/// "strata sweep 'my case.toml' -j 2": the arguments as they were given, quoted where a shell needs
/// it; the program by its name, wherever it stood.
std::string command_line(int argc, const char* const* argv);

}  // namespace strata
