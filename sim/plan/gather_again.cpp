// Inputs that are gathered a second time: what a shard's products read of other devices is dropped
// after the forward pass, and comes again when the gradient of the output is about to go back.

#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/plan/lowering.h"

namespace strata {

// Whether each device that sends has a shard of the layer: it sends once more when the gradient
// of that is there. Others would not know when, and what they send at once would lie there as long.
bool Lowering::knows_when(LayerId layer, const Edge& edge) const {
  const ShardDevices& devices = strategy_[layer].devices;
  return std::all_of(edge.read().begin(), edge.read().end(), [&](const NeededBox& b) {
    return b.local() || std::find(devices.begin(), devices.end(), b.owner) != devices.end();
  });
}

// By the producer's slot: a task after which it may send once more, when the layer's own shard on
// the same device has its gradient.
std::vector<TaskId> Lowering::about_to_go_back(LayerId layer, LayerId producer) {
  std::vector<TaskId> ready;
  const ShardDevices& devices = strategy_[layer].devices;
  for (std::uint32_t shard : lowered(producer)) {
    const std::size_t at = slot(producer, shard);
    const DeviceId device = device_of(producer, shard);
    after_ = {tasks_of(producer).output()[at]};
    const auto beside = std::find(devices.begin(), devices.end(), device);
    if (beside != devices.end()) {
      const auto own = static_cast<std::size_t>(beside - devices.begin());
      const std::vector<TaskId>& delivered = delivered_of(layer)[slot(layer, own)];
      after_.insert(after_.end(), delivered.begin(), delivered.end());
    }
    ready.push_back(
        builder_.add({TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links}, after_));
  }
  return ready;
}

std::vector<std::vector<Piece>> Lowering::gather_again(LayerId layer) {
  const Layer& l = graph_[layer];
  const LayerId reader = reader_for(layer);
  const bool at_end = graph_.consumers(layer).empty();
  if (!options_.gathers_again || !backward_reads_input(l.op) || at_end) return {};
  GatheredAgain& again = again_of(reader);
  const std::vector<Edge>& edges = edges_of(reader);
  const auto gathers = [&](const Edge& edge) {
    return std::any_of(edge.arrivals.begin(), edge.arrivals.end(),
                       [](const std::vector<TaskId>& tasks) { return !tasks.empty(); }) &&
           knows_when(layer, edge);
  };
  if (!again.empty() || std::none_of(edges.begin(), edges.end(), gathers)) return {};

  again.inputs = buffers_of(reader).inputs;
  again.ready.resize(lowered(layer).size());
  std::vector<std::vector<Piece>> own(lowered(layer).size());
  for (std::size_t input = 0; input < l.inputs.size(); ++input) {
    if (const auto first = earlier_reading(l, input)) {
      again.inputs[input] = again.inputs[*first];
      continue;
    }
    const Edge& edge = edges[input];
    if (!gathers(edge)) continue;
    const LayerId producer = l.inputs[input];
    std::vector<BufferId>& buffers = again.inputs[input];
    for (std::uint32_t shard : lowered(layer)) {
      const std::size_t at = slot(layer, shard);
      if (edge.arrivals[at].empty()) continue;
      const auto read = builder_.so_far().boxes(buffers[at]);
      const std::vector<Box> boxes(read.begin(), read.end());
      buffers[at] = add_tensor(BufferKind::input, layer, shard, boxes, input);
    }
    const auto lies = [&](const NeededBox& b) {
      return View{buffers_of(producer).output[slot(producer, b.producer_shard)]};
    };
    const auto gathered = [&](const NeededBox& b) {
      return holding(buffers[slot(layer, b.consumer_shard)], b.box);
    };
    const std::vector<TaskId> ready = about_to_go_back(layer, producer);
    const Arrivals arrivals = move_boxes({layer, input, Phase::backward_weights, edge.read(), true,
                                          producer, layer, ready, lies, gathered});
    for (std::uint32_t shard : lowered(layer)) {
      const std::size_t at = slot(layer, shard);
      if (edge.arrivals[at].empty()) continue;
      again.ready[at].insert(again.ready[at].end(), arrivals.tasks[at].begin(),
                             arrivals.tasks[at].end());
      for (const NeededBox& needed : edge.read_by(shard)) {
        if (!needed.local()) continue;
        own[at].push_back({needed.owner, bytes_of(volume(needed.box)), needed.box, lies(needed),
                           gathered(needed)});
      }
    }
  }
  return own;
}

}  // namespace strata
