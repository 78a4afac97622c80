#pragma once

// What if a better kernel made a layer faster? A copy of the network whose layers have other
// speeds; what they compute stays. Thread-safe.

#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

/// `selector`: "*", an op ("conv2d", as `strata show` prints it) or a layer's name. `speed`: by
/// what the layers' costs are divided, positive. Throws InputError for a selector that selects
/// nothing, with what there is.
Graph with_layer_speed(const Graph& graph, std::string_view selector, double speed);

/// Whether the selector selects something.
bool has_layer(const Graph& graph, std::string_view selector);

/// A number or a factor: both are of the profile's own costs. Throws InputError.
double parse_layer_speed(std::string_view text);

}  // namespace strata
