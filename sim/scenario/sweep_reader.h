#pragma once

// One [[sweep]] of a scenario file.

#include <cstddef>

#include "sim/scenario/scenario.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

/// `number`, from 1, names a sweep without a name. What is wrong goes to `errors`.
Sweep read_sweep(Table table, std::size_t number, ScenarioRoom& room, Diagnostics& errors);

}  // namespace strata
