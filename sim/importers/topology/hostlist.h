#pragma once

// Names of hosts as SLURM writes many at once: "n[1-4,7]", "rack[0-3]node[01-16]", "a,b[1-2]-ib".
// Zeros in front are kept. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// In order, at most `limit` of them. Throws InputError without a place.
std::vector<std::string> expand_hosts(std::string_view list, std::size_t limit);

}  // namespace strata
