#pragma once

// Least sums along the rows and the columns of a table: products of a dense table with a vector in
// the (min, +) algebra. A message of the dual bound is one of them, so they are its whole cost.
// Entries may be infinite; not NaN.

#include "sim/cost/cost_tables.h"

namespace strata {

/// least[c] = min over r of table[r][c] + add[r].
void column_minima(const CostTable& table, const double* add, double* least, unsigned threads = 1);

/// least[r] = min over c of table[r][c] + add[c].
void row_minima(const CostTable& table, const double* add, double* least, unsigned threads = 1);

/// The least entry of all.
double least_entry(const CostTable& table);

}  // namespace strata
