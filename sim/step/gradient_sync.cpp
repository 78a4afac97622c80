#include "sim/step/gradient_sync.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

void check(const GradientSync& sync) {
  if (!sync.shares() || sync.algorithm != SyncAlgorithm::ps) return;
  throw InputError(fmt::format(
      "`zero` {} shares the optimizer's state among replicas, of which `sync` ps leaves "
      "all to one; allowed: `sync` ring, tree, hierarchical or auto",
      name(sync.zero)));
}

}  // namespace strata
