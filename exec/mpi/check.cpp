#include "exec/mpi/check.h"

#include <string_view>

#include <fmt/format.h>
#include <mpi.h>

#include "sim/base/error.h"

namespace strata::mpi {

void check(int code, const char* caller) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw EnvironmentError(fmt::format(
      "MPI: {} (in {})", std::string_view(text, static_cast<std::size_t>(length)), caller));
}

}  // namespace strata::mpi
