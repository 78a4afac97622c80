#pragma once

// A comparison of strategies whose files say what it is of. Thread-safe.

#include "sim/ask/request.h"

namespace strata {

/// The request with the network and the cluster that its strategy files name, where it names none.
/// Throws InputError where they name none, two, or what does not come with Strata.
DiffRequest completed(DiffRequest request);

}  // namespace strata
