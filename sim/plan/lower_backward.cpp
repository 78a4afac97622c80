#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/plan/lowering.h"

namespace strata {

// Gradients of the boxes that were read go back to their owners, who add what arrives.
void Lowering::return_gradients(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  if (is_input(producer) || !requires_gradient_[producer()]) return;
  Edge& edge = edges_[layer()][input];
  const std::vector<TaskId>& made = tasks_[layer()].backward_data;
  edge.returns = move_boxes(layer, input, edge, false, shard_count(producer), made);
  auto arrivals = edge.returns;
  for (const NeededBox& needed : edge.boxes) {
    if (needed.local()) arrivals[needed.producer_shard].push_back(made[needed.consumer_shard]);
  }
  for (std::size_t shard = 0; shard < arrivals.size(); ++shard) {
    auto& delivered = gradient_[producer()][shard];
    delivered.insert(delivered.end(), arrivals[shard].begin(), arrivals[shard].end());
  }
}

void Lowering::lower_backward(LayerId layer) {
  if (is_input(layer) || !requires_gradient_[layer()]) return;
  const Layer& l = graph_[layer];
  LayerTasks& tasks = tasks_[layer()];
  const auto after = [&](std::size_t shard) {
    std::vector<TaskId> ready = gradient_[layer()][shard];
    ready.push_back(tasks.forward[shard]);
    return ready;
  };
  const auto add = [&](Phase phase, std::size_t shard, std::vector<TaskId> ready) {
    return builder_.add(task(TaskKind::compute, phase, layer, shard), std::move(ready));
  };

  std::vector<TaskId> summed;
  const bool has_statistics = statistics(l, shard_box(layer, 0)).backward_values > 0;
  if (has_statistics) {
    for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
      tasks.backward_statistics.push_back(add(Phase::backward_statistics, shard, after(shard)));
    }
    summed = exchange_statistics(layer, Phase::backward_statistics, tasks.backward_statistics);
  }
  const auto needs = [&](LayerId input) { return requires_gradient_[input()]; };
  const bool data = std::any_of(l.inputs.begin(), l.inputs.end(), needs);
  const bool weights = l.parameters.total() > 0 && !has_statistics;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    std::vector<TaskId> ready = after(shard);
    if (!summed.empty()) ready.push_back(summed[shard]);
    if (data) tasks.backward_data.push_back(add(Phase::backward_data, shard, ready));
    if (weights) tasks.backward_weights.push_back(add(Phase::backward_weights, shard, ready));
  }
  if (data) {
    for (std::size_t input = 0; input < l.inputs.size(); ++input) return_gradients(layer, input);
  }
  if (l.parameters.total() > 0) synchronise(layer);
}

}  // namespace strata
