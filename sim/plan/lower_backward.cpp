#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {

// Gradients of the boxes that were read go back to their owners, who add what arrives.
void Lowering::return_gradients(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  if (is_input(producer) || !requires_gradient_[producer()]) return;
  if (earlier_reading(graph_[layer], input)) return;  // both gradients are one sum
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
  LayerTasks& tasks = tasks_[layer()];
  const auto after = [&](std::size_t shard) {
    std::vector<TaskId> ready = gradient_[layer()][shard];
    ready.push_back(tasks.forward[shard]);
    return ready;
  };
  const auto add = [&](Phase phase, std::size_t shard, std::vector<TaskId> ready) {
    return builder_.add(task(TaskKind::compute, phase, layer, shard), std::move(ready));
  };

  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  std::vector<TaskId> summed;
  if (phases[Phase::backward_statistics]) {
    for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
      tasks.backward_statistics.push_back(add(Phase::backward_statistics, shard, after(shard)));
    }
    summed = exchange_statistics(layer, Phase::backward_statistics, tasks.backward_statistics);
  }
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    std::vector<TaskId> ready = after(shard);
    if (!summed.empty()) ready.push_back(summed[shard]);
    for (Phase phase : {Phase::backward_data, Phase::backward_weights}) {
      if (!phases[phase]) continue;
      auto& made = phase == Phase::backward_data ? tasks.backward_data : tasks.backward_weights;
      made.push_back(add(phase, shard, ready));
      // Where the device itself does it, the first of the two adds up what came back.
      if (cluster_[device_of(layer, shard)].puts_together()) ready.push_back(made.back());
    }
  }
  if (phases[Phase::backward_data]) {
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      return_gradients(layer, input);
    }
  }
  if (phases[Phase::update]) synchronise(layer);
}

}  // namespace strata
