#pragma once

// What is wrong with a scenario beyond its form: names, files and what-ifs of its sweeps, and the
// SQL of its report.

#include "sim/ask/answers.h"
#include "sim/scenario/scenario.h"

namespace strata {

/// Throws InputError with a line for each thing that is wrong, "FILE:LINE: 'KEY' = "VALUE": ...",
/// in the order of lines. Looks at every value of every axis with the others at their first: what
/// is wrong by itself is found before hours are spent; what does not fit together becomes a row.
/// Throws EnvironmentError for devices that are not there.
void check_scenario(Answers& answers, const Scenario& scenario);

}  // namespace strata
