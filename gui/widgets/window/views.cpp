#include "gui/widgets/window/views.h"

#include "gui/widgets/cluster/cluster_view.h"
#include "gui/widgets/compare/compare_view.h"
#include "gui/widgets/measured/error_view.h"
#include "gui/widgets/memory/memory_view.h"
#include "gui/widgets/network/network_view.h"
#include "gui/widgets/phase_map/map_view.h"
#include "gui/widgets/scoreboard/scoreboard_view.h"
#include "gui/widgets/sweep/sweep_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/what_if_view.h"
#include "gui/widgets/why/why_view.h"

namespace strata::gui {

std::vector<View*> make_views(Workspace& workspace) {
  auto* network = new NetworkView(workspace);
  auto* why = new WhyView(workspace);
  QObject::connect(network, &NetworkView::why_wanted, why, &View::wanted);
  return {network,
          new TimelineView(workspace),
          new ScoreboardView(workspace),
          new ClusterView(workspace),
          new WhatIfView(workspace),
          why,
          new CompareView(workspace),
          new MemoryView(workspace),
          new ErrorView(workspace),
          new SweepView(workspace),
          new MapView(workspace)};
}

}  // namespace strata::gui
