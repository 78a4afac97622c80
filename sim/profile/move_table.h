#pragma once

// The [moves] table of a profile's file: the text form of measured moves. Pure functions;
// thread-safe.

#include <string>
#include <vector>

#include "sim/profile/measured_move.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

/// The rows of a [moves] table, sorted by kind and bytes. What is wrong goes to `errors`, and so
/// does a row whose kind and bytes another has, too.
std::vector<MeasuredMove> read_moves(Table table, Diagnostics& errors);

/// The [moves] table; empty for no rows.
std::string print_moves(const std::vector<MeasuredMove>& moves);

}  // namespace strata
