#pragma once

// How many tokens experts have, as a value of the what-if experts.load says it: in words or as the
// name of a file. Reads files; thread-safe.

#include <string>
#include <string_view>

#include "sim/graph/expert_load.h"

namespace strata {

/// Of "balanced", "zipf:S" or the name of a file, which has a count for each expert. Throws
/// InputError.
ExpertLoad read_expert_load(const std::string& text);

/// Whether a what-if's value is the name of a file of counts.
bool names_counts(std::string_view key, std::string_view value);
/// The value, or where it names a file in a text of `folder`, that file's path.
std::string seen_from(const std::string& folder, std::string_view key, const std::string& value);

}  // namespace strata
