// Forward passes that are computed again: into new buffers, which the backward passes of their
// segment read in place of those that were not kept.

#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {

// A network's data, and what another stage sent, stay where they are.
void Lowering::forget_inputs(LayerId layer) {
  round_->edges_before[layer()] = std::exchange(edges_of(layer), {});
  LayerBuffers& own = buffers_of(layer);
  own.data = std::exchange(own.inputs, {});
}

// What lower_forward() made of the layer.
void Lowering::forget_forward(LayerId layer) {
  LayerTasks& tasks = tasks_of(layer);
  tasks.forward_statistics.clear();
  tasks.forward.clear();
  tasks.forward_sum.clear();
  LayerBuffers& own = buffers_of(layer);
  own.output.clear();
  own.partial.clear();
  own.saved.clear();
  own.forward_statistics.clear();
  forget_inputs(layer);
}

// Where a layer reads what was not computed again, nothing else says that its time has come.
void Lowering::wait_to_recompute(LayerId layer, std::size_t shard) {
  if (!recomputes_after_.valid()) return;
  const LayerId last = recomputes_after_;
  bool all_come_again = true;
  for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
    const LayerId producer = graph_[layer].inputs[input];
    all_come_again = all_come_again && is_computed_again(producer) &&
                     strategy_.segment(producer) == strategy_.segment(layer) &&
                     !comes_from_another_stage(layer, input);
  }
  if (all_come_again) return;
  const auto add = [&](std::size_t at) {
    const std::vector<TaskId>& delivered = delivered_of(last)[at];
    after_.insert(after_.end(), delivered.begin(), delivered.end());
    after_.push_back(tasks_of(last).forward[at]);
  };
  const ShardDevices& devices = strategy_[last].devices;
  const auto beside = std::find(devices.begin(), devices.end(), device_of(layer, shard));
  if (beside != devices.end()) {
    return add(slot(last, static_cast<std::size_t>(beside - devices.begin())));
  }
  for (std::size_t at = 0; at < lowered(last).size(); ++at) add(at);
}

// A layer that is not computed again, but whose backward pass reads what others of its segment are:
// the first of its backward tasks puts that together.
void Lowering::read_again(LayerId layer) {
  forget_inputs(layer);
  const LayerBuffers& own = buffers_of(layer);
  for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
    edges_of(layer).push_back(lower_edge(layer, input));
  }
  GatheredAgain& again = again_of(layer);
  again.inputs = own.inputs;
  again.ready.resize(lowered(layer).size());
  std::vector<std::vector<Piece>>& gathers = backward_of(layer).gathers;
  gathers.resize(lowered(layer).size());
  for (std::uint32_t shard : lowered(layer)) {
    add_input_ready(layer, shard, again.ready[slot(layer, shard)]);
    gathers[slot(layer, shard)] = gather_inputs(layer, shard);
  }
}

// The layers of its segment, of which it is the last one that the backward pass comes to.
std::vector<LayerId> Lowering::segment_until(LayerId layer) const {
  const std::uint32_t segment = strategy_.segment(layer);
  std::vector<LayerId> layers;
  for (std::size_t i = layer() + 1; i-- > 0;) {
    const std::uint32_t own = strategy_.segment(LayerId(i));
    if (own == segment) layers.emplace_back(i);
    if (own != segment && own != 0) break;
  }
  std::reverse(layers.begin(), layers.end());
  return layers;
}

std::vector<LayerId> Lowering::recomputed_with(LayerId layer) const {
  std::vector<LayerId> again = segment_until(layer);
  std::erase_if(again, [this](LayerId of) { return !is_computed_again(of); });
  return again;
}

// When the backward pass comes to the last layer of a segment.
void Lowering::recompute_segment_of(LayerId layer) {
  const std::uint32_t segment = strategy_.segment(layer);
  if (segment == 0) return;
  std::vector<bool>& recomputed = round_->recomputed;
  if (recomputed.size() <= segment) recomputed.resize(segment + 1);
  if (recomputed[segment]) return;
  recomputed[segment] = true;
  builder_.recompute(true);
  recomputes_after_ = layer;
  for (LayerId again : recomputed_with(layer)) {
    forget_forward(again);
    lower_forward(again);
  }
  for (LayerId other : segment_until(layer)) {
    if (is_computed_again(other)) continue;
    const Layer& l = graph_[other];
    const bool reads = std::any_of(l.inputs.begin(), l.inputs.end(), [&](LayerId input) {
      return strategy_.segment(input) == segment && is_computed_again(input);
    });
    if (reads && requires_gradient_[other()] && backward_reads_input(l.op)) read_again(other);
  }
  recomputes_after_ = {};
  builder_.recompute(false);
}

}  // namespace strata
