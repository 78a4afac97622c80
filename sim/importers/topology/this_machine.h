#pragma once

// The machine that the program runs on, as libhwloc sees it.

#include <string>

namespace strata {

/// Whether this build has libhwloc.
bool has_hwloc();

/// hwloc's XML of this machine, with its PCI devices. Throws EnvironmentError.
std::string describe_this_machine();

}  // namespace strata
