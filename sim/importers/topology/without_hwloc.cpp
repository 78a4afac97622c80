// In place of libhwloc, where libhwloc-dev was not there to build with.

#include "sim/base/error.h"
#include "sim/importers/topology/this_machine.h"

namespace strata {

bool has_hwloc() {
  return false;
}

std::string describe_this_machine() {
  throw EnvironmentError(
      "this build has no libhwloc to look at this machine with; allowed: a file, as lstopo --of "
      "xml "
      "writes it");
}

}  // namespace strata
