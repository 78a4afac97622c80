#pragma once

// Costs that scatter. A measured time is the median of several; in a step every task takes its own,
// and where devices meet all wait for the one that was slowest. Pure; thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cost/cost_model.h"

namespace strata {

/// `steps` times the costs, by step and task, each drawn by itself from a log-normal distribution
/// whose median is the cost's time and whose quartiles lie the cost's spread away from it (on the
/// whole: the distribution leans to the right, as times do). Costs without a spread stay. The same
/// seed gives the same costs, those of a step however many steps follow.
std::vector<Cost> drawn_costs(std::span<const Cost> costs, std::size_t steps, std::uint64_t seed);

}  // namespace strata
