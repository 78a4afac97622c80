#include "gui/widgets/views.h"

#include "gui/widgets/network_view.h"
#include "gui/widgets/timeline_view.h"
#include "gui/widgets/what_if_view.h"
#include "gui/widgets/why_view.h"

namespace strata::gui {

std::vector<View*> make_views(Workspace& workspace) {
  return {new NetworkView(workspace), new TimelineView(workspace), new WhatIfView(workspace),
          new WhyView(workspace)};
}

}  // namespace strata::gui
