#pragma once

// The [grid] of a cluster file: hosts with [grid.intra] and [grid.inter], or [[grid.level]] from
// the devices upwards (docs/clusters.md).

#include <optional>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/grid.h"
#include "sim/text/value.h"

namespace strata {

/// `size`: in place of what the file says. Throws InputError "FILE:LINE: ...".
Grid read_grid(Table table, const std::optional<GridSize>& size);

}  // namespace strata
