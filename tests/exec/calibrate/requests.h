#pragma once

// What the tests of measuring ask for.

#include <vector>

#include "sim/graph/step_phases.h"
#include "sim/measure/runner.h"

namespace strata::testing {

/// Every layer whole, and its first half by samples.
inline std::vector<MeasureRequest> requests_for(const Graph& graph) {
  std::vector<MeasureRequest> requests;
  const std::vector<bool> needs_gradient = requires_gradient(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const PhaseSet phases = step_phases(graph, LayerId(i), needs_gradient);
    Box box = whole(graph[LayerId(i)].output);
    for (int halves = 0; halves < 2; ++halves) {
      for (std::size_t p = 0; p < kKernelPhases; ++p) {
        const auto phase = static_cast<Phase>(p);
        if (phases[phase]) requests.push_back({LayerId(i), box, phase});
      }
      if (box[Dim::n].size() == 1) break;
      box[Dim::n].end /= 2;
    }
  }
  return requests;
}

}  // namespace strata::testing
