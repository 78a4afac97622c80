#pragma once

// Where and when a command was given, for the provenance of what it measures.

#include <string>

namespace strata {

/// "unknown" where the system does not tell.
std::string host_name();

/// "2026-11-21", in UTC.
std::string today();

}  // namespace strata
