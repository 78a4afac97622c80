#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {

// Gradients of the boxes that were read go back to their owners, who add what arrives.
void Lowering::return_gradients(LayerId layer, std::size_t input) {
  if (!wants_gradient(layer, input) || shared_reader(layer).valid()) return;
  const LayerId producer = graph_[layer].inputs[input];
  Edge& edge = edges_[layer()][input];
  const std::span<const NeededBox> boxes = returned_boxes(edge);
  const std::vector<TaskId>& made = tasks_[layer()].backward_data;
  const auto& gradients = buffers_[layer()].input_gradients[input];
  const auto lies = [&](const NeededBox& b) {
    const BufferId buffer = gradients[slot(layer, b.consumer_shard)];
    return is_lowered(b.reader) ? holding(buffer, b.box) : View{buffer};
  };
  Arrivals moved =
      move_boxes({layer, input, Phase::backward_data, boxes, false, layer, producer, made, lies});
  edge.gradients = std::move(moved.views);
  auto& arrivals = moved.tasks;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NeededBox& needed = boxes[i];
    if (!needed.local()) continue;
    arrivals[slot(producer, needed.producer_shard)].push_back(
        made[slot(layer, needed.consumer_shard)]);
    edge.gradients[i] = lies(needed);
  }
  for (std::size_t at = 0; at < arrivals.size(); ++at) {
    auto& delivered = gradient_[producer()][at];
    delivered.insert(delivered.end(), arrivals[at].begin(), arrivals[at].end());
  }
}

// Whether the buffer has that box alone.
bool Lowering::lies_alone(const View& view, const Box& box) const {
  const std::span<const Box> boxes = builder_.so_far().boxes(view.buffer);
  return boxes.empty() || (boxes.size() == 1 && boxes.front() == box);
}

std::vector<std::vector<GradientPart>> Lowering::gradient_parts(LayerId layer) const {
  std::vector<std::vector<GradientPart>> parts(lowered(layer).size());
  const auto readers = graph_.consumers(layer);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const LayerId reader = readers[i];
    if (i > 0 && readers[i - 1] == reader) continue;
    for (std::size_t input = 0; input < graph_[reader].inputs.size(); ++input) {
      const Edge& edge = edges_[reader()][input];
      if (graph_[reader].inputs[input] != layer || edge.gradients.empty()) continue;
      const std::span<const NeededBox> boxes = returned_boxes(edge);
      for (std::size_t k = 0; k < boxes.size(); ++k) {
        const NeededBox& needed = boxes[k];
        const std::size_t at = slot(layer, needed.producer_shard);
        const std::size_t reads_at = slot(reader, needed.consumer_shard);
        const bool all = needed.box == owned_box(layer, needed.producer_shard);
        const bool whole =
            !needed.local() || strategy_[layer].degrees.r > 1
                ? all && lies_alone(edge.gradients[k], needed.box)
                : buffers_[reader()].inputs[input][reads_at] == buffers_[layer()].output[at];
        parts[at].push_back({edge.gradients[k], needed.box, needed.copies, whole});
      }
    }
  }
  return parts;
}

// Decides where the gradient of each shard's output lies: in the one part that is all of it, or in
// a buffer of its own. Returns what goes into that, by shard.
std::vector<std::vector<Piece>> Lowering::sum_gradient_parts(LayerId layer) {
  std::vector<std::vector<Piece>> sums(lowered(layer).size());
  if (graph_.consumers(layer).empty()) return sums;
  const auto parts = gradient_parts(layer);
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    BufferId& gradient = buffers_[layer()].output_gradient.emplace_back();
    const bool single = parts[at].size() == 1 && parts[at].front().copies == 1;
    if (single && parts[at].front().whole) {
      gradient = parts[at].front().view.buffer;
      continue;
    }
    const Box whole = owned_box(layer, shard);
    gradient = add_tensor(BufferKind::gathered_gradient, layer, shard, {&whole, 1});
    for (const GradientPart& part : parts[at]) {
      const Piece piece{device_of(layer, shard), bytes_of(volume(part.box)), part.box, part.view,
                        View{gradient}};
      sums[at].insert(sums[at].end(), spreads_gradient(layer) ? part.copies : 1, piece);
    }
  }
  return sums;
}

// The gradient of the output goes from those who own it to all shards of the same sums. `sums`:
// what the owners put together first. Returns what goes into each shard's.
std::vector<std::vector<Piece>> Lowering::spread_gradients(LayerId layer,
                                                           std::vector<std::vector<Piece>> sums) {
  const std::vector<BufferId> owned = std::move(buffers_[layer()].output_gradient);
  const auto parts_of_sums = memo_.sums(layer, strategy_[layer], classes_.get());
  const std::span<const NeededBox> boxes = parts_of_sums->returned;
  std::vector<TaskId> made;
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    std::vector<TaskId> delivered = std::move(gradient_[layer()][at]);
    const Buffer& gradient = builder_.so_far()[owned[at]];
    const bool sums_parts =
        gradient.kind == BufferKind::gathered_gradient && gradient.layer == layer;
    if (!sums_parts) {
      made.push_back(
          delivered.size() == 1
              ? delivered.front()
              : builder_.add({TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links},
                             delivered));
      continue;
    }
    const Operand operands[] = {{owned[at], 0, Role::output_gradient, Access::write}};
    made.push_back(builder_.add(task(TaskKind::compute, Phase::backward_sum, layer, shard),
                                delivered, operands, sums[at]));
  }
  const auto lies = [&](const NeededBox& b) { return View{owned[slot(layer, b.consumer_shard)]}; };
  const Arrivals arrivals =
      move_boxes({layer, 0, Phase::backward_sum, boxes, false, layer, layer, made, lies});
  std::vector<BufferId>& spread = buffers_[layer()].output_gradient;
  spread.clear();
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    const Box all = shard_tile(layer, shard);
    spread.push_back(add_tensor(BufferKind::gathered_gradient, layer, shard, {&all, 1}));
    gradient_[layer()][at] = arrivals.tasks[at];
    gradient_[layer()][at].push_back(made[at]);
  }
  std::vector<std::vector<Piece>> parts(owned.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const std::uint32_t shard = boxes[k].producer_shard;
    const std::size_t at = slot(layer, shard);
    parts[at].push_back({device_of(layer, shard), bytes_of(volume(boxes[k].box)), boxes[k].box,
                         boxes[k].local() ? lies(boxes[k]) : arrivals.views[k], View{spread[at]}});
  }
  return parts;
}

std::span<const Operand> Lowering::backward_operands(LayerId layer, std::size_t shard,
                                                     Phase phase) {
  const LayerBuffers& own = buffers_[layer()];
  const Op& op = graph_[layer].op;
  const std::size_t at = slot(layer, shard);
  operands_.clear();
  const auto add = [&](const std::vector<BufferId>& buffers, Role role, Access access,
                       std::uint32_t input = 0) {
    if (buffers.empty() || !buffers[at].valid()) return;
    operands_.push_back({buffers[at], input, role, access});
  };
  const bool takes_sums = phase == Phase::backward_statistics;
  const Statistics sums = takes_sums ? statistics(op, held_box(layer, shard)) : Statistics{};
  if (backward_reads_input(op)) {
    const GatheredAgain& again = again_[reader_for(layer)()];
    add_inputs(layer, shard, again.empty() ? own.inputs : again.inputs);
  }
  if (backward_reads_output(op)) add(own.output, Role::output, Access::read);
  add(own.saved, Role::saved, Access::read);
  add(own.output_gradient, Role::output_gradient, Access::read);
  if (phase != Phase::backward_weights) {
    add(own.backward_statistics, Role::statistics, takes_sums ? Access::write : Access::read);
  }
  if (phase == Phase::backward_data || (takes_sums && sums.weigh_by_parameters())) {
    add(own.parameters, Role::parameters, Access::read);
  }
  if (phase == Phase::backward_data) {
    const Access adds = own.adds_to.valid() ? Access::update : Access::write;
    for (std::uint32_t input = 0; input < own.input_gradients.size(); ++input) {
      add(own.input_gradients[input], Role::input_gradient, adds, input);
    }
  } else if (!own.parameter_gradients.empty() && (!takes_sums || sums.give_parameter_gradients())) {
    const Values& gradients = own.parameter_gradients[at];
    const Access adds = own.weight_adds_to.valid() ? Access::update : Access::write;
    operands_.push_back({gradients.buffer, 0, Role::parameter_gradients, adds, gradients.first});
  }
  return operands_;
}

void Lowering::lower_backward(LayerId layer) {
  if (is_input(layer) || !requires_gradient_[layer()]) return;
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  std::vector<std::vector<Piece>> sums = sum_gradient_parts(layer);
  const bool has_readers = !graph_.consumers(layer).empty();
  if (spreads_gradient(layer) && has_readers) sums = spread_gradients(layer, std::move(sums));
  if (phases[Phase::backward_statistics]) place_statistics(layer, Phase::backward_statistics);
  if (phases[Phase::backward_data]) {
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      place_input_gradients(layer, input);
    }
  }

  if (phases[Phase::backward_weights]) {
    const LayerId owner = graph_[layer].weight_of;
    LayerId& summed_by = buffers_[owner.valid() ? owner() : layer()].weight_summed_by;
    buffers_[layer()].weight_adds_to = std::exchange(summed_by, layer);
  }

  std::vector<std::vector<Piece>> again = gather_again(layer);
  GatheredAgain& gathered = again_[reader_for(layer)()];
  LayerTasks& tasks = tasks_[layer()];
  const auto after_gradient = [&](std::size_t shard) {
    after_ = gradient_[layer()][slot(layer, shard)];
    after_.push_back(tasks.forward[slot(layer, shard)]);
    if (!gathered.empty()) {
      const std::vector<TaskId>& ready = gathered.ready[slot(layer, shard)];
      after_.insert(after_.end(), ready.begin(), ready.end());
    }
    const LayerId before = buffers_[layer()].adds_to;
    if (before.valid()) after_.push_back(tasks_[before()].backward_data[slot(layer, shard)]);
  };
  // The first of a shard's tasks puts the gradient of its output together, and what it gathers
  // again.
  const auto add = [&](Phase phase, std::size_t shard) {
    std::vector<Piece>& parts = sums[slot(layer, shard)];
    const bool gathers = !again.empty() && !again[slot(layer, shard)].empty();
    if (gathers) {
      std::vector<Piece>& own = again[slot(layer, shard)];
      parts.insert(parts.end(), own.begin(), own.end());
      own.clear();
    }
    const TaskId id = builder_.add(task(TaskKind::compute, phase, layer, shard), after_,
                                   backward_operands(layer, shard, phase), parts);
    parts.clear();
    if (gathers) gathered.ready[slot(layer, shard)].push_back(id);
    return id;
  };
  std::vector<TaskId> summed;
  if (phases[Phase::backward_statistics]) {
    for (std::uint32_t shard : lowered(layer)) {
      after_gradient(shard);
      tasks.backward_statistics.push_back(add(Phase::backward_statistics, shard));
    }
    summed = exchange_statistics(layer, Phase::backward_statistics, tasks.backward_statistics);
  }
  for (std::uint32_t shard : lowered(layer)) {
    after_gradient(shard);
    if (!summed.empty()) after_.push_back(summed[slot(layer, shard)]);
    for (Phase phase : {Phase::backward_data, Phase::backward_weights}) {
      if (!phases[phase]) continue;
      const LayerId weight = buffers_[layer()].weight_adds_to;
      if (phase == Phase::backward_weights && weight.valid()) {
        after_.push_back(tasks_[weight()].backward_weights[slot_beside(weight, layer, shard)]);
      }
      auto& made = phase == Phase::backward_data ? tasks.backward_data : tasks.backward_weights;
      made.push_back(add(phase, shard));
      // Where the device itself does it, the first of the two adds up what came back.
      if (cluster_[device_of(layer, shard)].puts_together()) after_.push_back(made.back());
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
