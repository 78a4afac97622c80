#pragma once

// How a file becomes a connection to a store of our version: made, refused, or brought up to date.

#include <string>

#include "sim/store/sqlite.h"

namespace strata {

/// As Store's constructor says.
Database open_store(const std::string& file, OpenMode mode, const StoreLimits& limits);

/// Throws InputError for a file that is missing or not Strata's, without a trace on it.
void check_identity(const std::string& file);

/// Whether the file can be read as an immutable one alone: readers of a WAL file need a place for
/// their locks. Where its folder gives none and no log is left, nobody writes there, and the file
/// is the whole truth. Throws EnvironmentError where it can't be read at all.
bool only_immutable(const std::string& file, const StoreLimits& limits);

}  // namespace strata
