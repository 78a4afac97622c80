#pragma once

// What a search says of a step: how far it may be from the fastest, as far as that is proved
// (Solved::lower_bound), and how far the search is. Pure.

#include <QString>
#include <optional>

#include "sim/base/units.h"
#include "sim/solver/solution.h"

namespace strata::gui {

/// How much of `seconds` the fastest strategy saves at most, as Solved::gap(). Nothing where the
/// bound says nothing: it is 0, or above the step of a strategy that no search considers.
std::optional<double> gap_to(Seconds lower_bound, Seconds seconds);
/// "3.9 %", with as many digits as it is worth.
QString gap_share(double gap);
/// "at most 3.9 % from the fastest", "proved to be the fastest"; empty where nothing is proved.
QString gap_text(Seconds lower_bound, Seconds seconds);

/// "245 ms so far, at most 3.9 % from the fastest"; the stage where nothing was found yet.
QString found_so_far(const SolveProgress& at);

}  // namespace strata::gui
