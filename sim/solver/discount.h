#pragma once

// Eq. 1 of machines that hide some of what they exchange. It adds up what a simulated step
// overlaps, so its optimum pays too much for communication that nobody waits for; how much is
// hidden depends on the strategy. The optima under a few discounts are where a search under
// simulation starts.

#include <span>
#include <vector>

#include "sim/cost/cost_tables.h"

namespace strata {

/// What is left of t_X and of t_S, 0 to 1.
struct Discount {
  double transfer = 1, sync = 1;
};

/// `compute`: t_C by variable and choice, at most the tables' t_C + t_S. What is infinite stays so.
CostTables discounted(const CostTables& tables, std::span<const std::vector<double>> compute,
                      const Discount& discount);

}  // namespace strata
