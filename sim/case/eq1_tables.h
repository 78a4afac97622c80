#pragma once

// A Case's search space with its cost tables.

#include <vector>

#include "sim/case/predict.h"
#include "sim/cost/cost_tables.h"

namespace strata {

std::vector<const CostModel*> cost_models(const Case& input);

/// Whether the tables would fit in memory.
bool eq1_tables_fit(const Case& input, const SearchSpace& space);
/// Whether the routes between all devices alone would, which Eq. 1 of a strategy may ask for.
bool routes_fit(const Cluster& cluster);
/// Throws InputError where they would not.
void refuse_tables(const Case& input, const SearchSpace& space);
/// Of a case without micro-batches, or one that is cut in rounds (rounds.h), and of strategies that
/// compute again what the case says. Throws InputError where the tables would not fit in memory,
/// Cancelled when called off.
CostTables eq1_tables(const Case& input, const SearchSpace& space,
                      const CostTableOptions& options = {});

}  // namespace strata
