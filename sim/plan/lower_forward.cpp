#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {
namespace {

// The boxes that cross devices, by receiver and then by sender.
std::vector<const NeededBox*> crossing(const std::vector<NeededBox>& boxes, bool forward) {
  std::vector<const NeededBox*> result;
  for (const NeededBox& needed : boxes) {
    if (!needed.local()) result.push_back(&needed);
  }
  const auto order = [forward](const NeededBox* b) {
    return forward ? std::pair(b->consumer_shard, b->producer_shard)
                   : std::pair(b->producer_shard, b->consumer_shard);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const NeededBox* a, const NeededBox* b) { return order(a) < order(b); });
  return result;
}

std::size_t count_pairs(const std::vector<const NeededBox*>& boxes) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    pairs += i == 0 || boxes[i]->consumer_shard != boxes[i - 1]->consumer_shard ||
             boxes[i]->producer_shard != boxes[i - 1]->producer_shard;
  }
  return pairs;
}

}  // namespace

std::vector<std::vector<TaskId>> Lowering::move_boxes(LayerId layer, std::size_t input,
                                                      const Edge& edge, bool forward,
                                                      std::size_t receivers,
                                                      const std::vector<TaskId>& made_by) {
  std::vector<std::vector<TaskId>> arrivals(receivers);
  const std::vector<const NeededBox*> boxes = crossing(edge.boxes, forward);
  const bool by_receiver = count_pairs(boxes) > options_.max_flows_per_edge;
  // Where every receiver hears from very many, one join of all senders stands for them.
  TaskId joined;
  if (by_receiver) {
    builder_.put_flows_together();
    joined =
        builder_.add({TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links}, made_by);
  }

  const auto receiver = [&](const NeededBox& b) {
    return forward ? b.consumer_shard : b.producer_shard;
  };
  const auto sender = [&](const NeededBox& b) {
    return forward ? b.producer_shard : b.consumer_shard;
  };
  for (std::size_t i = 0; i < boxes.size();) {
    const NeededBox& first = *boxes[i];
    std::vector<Piece> pieces;
    for (; i < boxes.size() && receiver(*boxes[i]) == receiver(first) &&
           (by_receiver || sender(*boxes[i]) == sender(first));
         ++i) {
      const NeededBox& b = *boxes[i];
      const Bytes bytes = bytes_of(volume(b.box));
      const DeviceId from = forward ? b.owner : b.reader;
      if (by_receiver && !pieces.empty() && pieces.back().from == from) {
        pieces.back().bytes += bytes;
      } else {
        pieces.push_back({from, bytes, by_receiver ? Box{} : b.box});
      }
    }
    const DeviceId to = forward ? first.reader : first.owner;
    const Task task{TaskKind::transfer,
                    forward ? Phase::forward : Phase::backward_data,
                    layer,
                    to,
                    receiver(first),
                    0,
                    moving_stream(to)};
    arrivals[receiver(first)].push_back(
        builder_.add_transfer(task, static_cast<std::uint32_t>(input), pieces,
                              {by_receiver ? joined : made_by[sender(first)]}));
  }
  return arrivals;
}

Edge Lowering::lower_edge(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  Edge edge;
  if (is_input(producer)) return edge;
  if (const auto first = earlier_reading(graph_[layer], input)) return edges_[layer()][*first];
  edge.boxes = needed_boxes(graph_, layer, input, strategy_[producer], strategy_[layer]);
  edge.arrivals =
      move_boxes(layer, input, edge, true, shard_count(layer), tasks_[producer()].forward);
  return edge;
}

std::vector<TaskId> Lowering::input_ready(LayerId layer, std::size_t shard) const {
  std::vector<TaskId> ready;
  for (std::size_t input = 0; input < edges_[layer()].size(); ++input) {
    const Edge& edge = edges_[layer()][input];
    if (edge.boxes.empty()) continue;
    const std::vector<TaskId>& made = tasks_[graph_[layer].inputs[input]()].forward;
    const auto less = [](const NeededBox& b, std::size_t s) { return b.consumer_shard < s; };
    auto at = std::lower_bound(edge.boxes.begin(), edge.boxes.end(), shard, less);
    for (; at != edge.boxes.end() && at->consumer_shard == shard; ++at) {
      if (at->local()) ready.push_back(made[at->producer_shard]);
    }
    const std::vector<TaskId>& arrived = edge.arrivals[shard];
    ready.insert(ready.end(), arrived.begin(), arrived.end());
  }
  return ready;
}

void Lowering::lower_forward(LayerId layer) {
  if (is_input(layer)) return;
  for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
    edges_[layer()].push_back(lower_edge(layer, input));
  }
  LayerTasks& tasks = tasks_[layer()];
  std::vector<TaskId> summed;
  if (step_phases(graph_, layer, requires_gradient_)[Phase::forward_statistics]) {
    for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
      tasks.forward_statistics.push_back(
          builder_.add(task(TaskKind::compute, Phase::forward_statistics, layer, shard),
                       input_ready(layer, shard)));
    }
    summed = exchange_statistics(layer, Phase::forward_statistics, tasks.forward_statistics);
  }
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    std::vector<TaskId> after = input_ready(layer, shard);
    if (!summed.empty()) after.push_back(summed[shard]);
    tasks.forward.push_back(
        builder_.add(task(TaskKind::compute, Phase::forward, layer, shard), std::move(after)));
  }
}

}  // namespace strata
