#pragma once

// Internal to exec/mpi.

#include <source_location>

namespace strata::mpi {

/// Throws EnvironmentError for what an MPI function returned.
void check(int code, std::source_location at = std::source_location::current());

}  // namespace strata::mpi
