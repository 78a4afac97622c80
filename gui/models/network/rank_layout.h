#pragma once

// A stretch of a network laid out by ranks alone: each node below all that it reads, edges that
// pass over others in arcs beside them. For what would keep dot busy for minutes. Pure.

#include <vector>

#include "gui/models/network/network_layout.h"

namespace strata::gui {

/// By node: the most edges on a way to it. Precondition: edges go to larger numbers.
std::vector<std::uint32_t> ranks(const Sketch& sketch);
/// How many ranks all edges pass over together: what dot's time grows with.
std::size_t ranks_passed(const Sketch& sketch);

Drawing lay_out_by_rank(const Sketch& sketch);

}  // namespace strata::gui
