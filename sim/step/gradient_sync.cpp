#include "sim/step/gradient_sync.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

void check(const GradientSync& sync) {
  if (sync.zero_group == 1 || (sync.zero_group > 1 && !sync.shares())) {
    throw InputError(fmt::format(
        "`zero_group` {} with `zero` {}: nothing is shared; allowed: groups of 2 and more, with "
        "`zero` 1, 2 or 3",
        sync.zero_group, name(sync.zero)));
  }
  if (!sync.shares() || sync.algorithm != SyncAlgorithm::ps) return;
  throw InputError(fmt::format(
      "`zero` {} shares the optimizer's state among replicas, of which `sync` ps leaves "
      "all to one; allowed: `sync` ring, tree, hierarchical or auto",
      name(sync.zero)));
}

}  // namespace strata
