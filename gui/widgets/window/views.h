#pragma once

// All views there are.

#include <vector>

#include "gui/widgets/view.h"

namespace strata::gui {

/// In the order of the menu and of the keys Alt+1, Alt+2, ..., Alt+0; without parents yet.
std::vector<View*> make_views(Workspace& workspace);

}  // namespace strata::gui
