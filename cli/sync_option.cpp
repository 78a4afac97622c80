#include "cli/sync_option.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

void add_sync_option(CLI::App& command, std::string& sync) {
  command.add_option("--sync", sync,
                     "how replicas sum gradients: ps (a parameter server on one of them, as in the "
                     "paper), ring, tree, hierarchical, or auto, the cheapest of these for each "
                     "layer (default ring)");
}

SyncAlgorithm sync_of(const std::string& sync) {
  if (const auto known = parse_sync(sync)) return *known;
  throw InputError(
      fmt::format("--sync {}: unknown; allowed: ps, ring, tree, hierarchical, auto", sync));
}

}  // namespace strata
