// Forward passes that are computed again: into new buffers, which the backward passes of their
// segment read in place of those that were not kept.

#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/step/passes.h"

namespace strata {

// The layers of its segment, of which it is the last one that the backward pass comes to.
std::vector<LayerId> Recomputation::segment_until(LayerId layer) const {
  const std::uint32_t segment = to_.strategy.segment(layer);
  std::vector<LayerId> layers;
  for (std::size_t i = layer() + 1; i-- > 0;) {
    const std::uint32_t own = to_.strategy.segment(LayerId(i));
    if (own == segment) layers.emplace_back(i);
    if (own != segment && own != 0) break;
  }
  std::reverse(layers.begin(), layers.end());
  return layers;
}

bool Recomputation::reads_of_segment(LayerId layer, std::uint32_t segment) const {
  const Layer& l = to_.graph[layer];
  if (to_.step[layer].again || !to_.step[layer].needs_gradient || !backward_reads_input(l)) {
    return false;
  }
  return std::any_of(l.inputs.begin(), l.inputs.end(), [&](LayerId input) {
    return to_.strategy.segment(input) == segment && to_.step[input].again;
  });
}

void Recomputation::add(LayerId layer, std::uint32_t round) {
  const std::uint32_t segment = to_.strategy.segment(layer);
  if (segment == 0) return;
  std::vector<bool>& done = done_[round];
  if (done.size() <= segment) done.resize(segment + 1);
  if (done[segment]) return;
  done[segment] = true;
  const std::vector<LayerId> layers = segment_until(layer);
  for (const LayerId again : layers) {
    if (!to_.step[again].again) continue;
    to_.add(Forget{again}, round, layer);
    add_forward(to_, again, round, layer);
  }
  for (const LayerId other : layers) {
    if (!reads_of_segment(other, segment)) continue;
    to_.add(Forget{other, true}, round, layer);
    add_reads(to_, other, round, layer);
    to_.add(PutTogetherAgain{other}, round, layer);
    put_together_[round].resize(to_.graph.size());
    put_together_[round][other()] = true;
  }
}

}  // namespace strata
