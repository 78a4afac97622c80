#pragma once

// Where everything of a cluster's map stands. Hosts stand in a grid, and what joins them on a
// street through its middle, level or upright: the grid is the one that shows the most in a window
// of the given shape. Pure; in points, y downwards.

#include <string>
#include <vector>

#include "gui/models/cluster/cluster_map.h"

namespace strata::gui {

/// Gives the nodes their boxes, the hosts their frames, and the map its bounds. `hosts`: by name,
/// as the nodes number them. `aspect`: the window's width by its height.
void lay_out(ClusterMap& map, const std::vector<std::string>& hosts, double aspect);

}  // namespace strata::gui
