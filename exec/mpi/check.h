#pragma once

// Internal to exec/mpi.

namespace strata::mpi {

/// Throws EnvironmentError for what an MPI function returned; names the function that called it.
/// (clang 14 has no std::source_location.)
void check(int code, const char* caller = __builtin_FUNCTION());

}  // namespace strata::mpi
