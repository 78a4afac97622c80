#pragma once

// Which parts of a layer's work one training step runs: lowering makes a task for each, and Eq. 1
// sums them. Pure; thread-safe.

#include <array>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"

namespace strata {

class PhaseSet {
 public:
  constexpr bool operator[](Phase phase) const { return has_[static_cast<std::size_t>(phase)]; }
  /// Whether some phase needs what the forward pass has left.
  constexpr bool any_backward() const {
    return (*this)[Phase::backward_statistics] || (*this)[Phase::backward_data] ||
           (*this)[Phase::backward_weights];
  }
  constexpr void add(Phase phase, bool has) { has_[static_cast<std::size_t>(phase)] = has; }
  bool operator==(const PhaseSet&) const = default;

 private:
  std::array<bool, kKernelPhases> has_{};
};

/// `needs_gradient`: what requires_gradient() says of the graph. Nothing for a network input; no
/// backward phase for a layer that gets no gradient. Where the backward statistics are the gradient
/// of the parameters, too (a batch norm's), that has no phase of its own.
PhaseSet step_phases(const Graph& graph, LayerId layer, const std::vector<bool>& needs_gradient);

}  // namespace strata
