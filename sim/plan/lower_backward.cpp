#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {

// Gradients of the boxes that were read go back to their owners, who add what arrives.
void Lowering::return_gradients(LayerId layer, std::size_t input) {
  if (!wants_gradient(layer, input) || is_read_by_another(layer, input)) return;
  const LayerId producer = graph_[layer].inputs[input];
  Edge& edge = edges_of(layer)[input];
  const std::span<const NeededBox> boxes = returned_boxes(edge);
  const std::vector<SharedGradient>& sums = backward_of(layer).shared;
  const bool shared = !sums.empty() && !sums[input].made.empty();
  const std::vector<TaskId>& made = shared ? sums[input].made : tasks_of(layer).backward_data;
  const std::vector<BufferId>& gradients =
      shared ? sums[input].buffers : buffers_of(layer).input_gradients[input];
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
    auto& delivered = delivered_of(producer)[at];
    delivered.insert(delivered.end(), arrivals[at].begin(), arrivals[at].end());
  }
}

void Lowering::sum_shared_gradients(LayerId layer, std::size_t shard) {
  const std::size_t inputs = graph_[layer].inputs.size(), at = slot(layer, shard);
  for (std::size_t input = 0; input < inputs; ++input) {
    const auto others = read_with_.find({layer, input});
    if (others == read_with_.end() || !wants_gradient(layer, input)) continue;
    std::vector<SharedGradient>& all = backward_of(layer).shared;
    all.resize(inputs);
    SharedGradient& sum = all[input];
    std::vector<TaskId> after = {tasks_of(layer).backward_data[at]};
    BufferId& buffer = sum.buffers.emplace_back(buffers_of(layer).input_gradients[input][at]);
    if (!buffer.valid()) {  // the shard reads nothing
      sum.made.push_back(after.front());
      continue;
    }
    const Box box = builder_.so_far().boxes(buffer).front();
    std::vector<BufferId> parts = {buffer};
    for (const Reading& other : others->second) {
      parts.push_back(buffers_of(other.layer).input_gradients[other.input][at]);
      after.push_back(tasks_of(other.layer).backward_data[at]);
    }
    buffer = add_tensor(BufferKind::activation_gradient, layer, shard, {&box, 1}, input);
    std::vector<Piece> pieces;
    pieces.reserve(parts.size());
    for (const BufferId part : parts) {
      pieces.push_back(
          {device_of(layer, shard), bytes_of(volume(box)), box, View{part}, View{buffer}});
    }
    const Operand operands[] = {{buffer, 0, Role::output_gradient, Access::write}};
    sum.made.push_back(builder_.add(task(TaskKind::compute, Phase::backward_sum, layer, shard),
                                    after, operands, pieces));
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
      const Edge& edge = edges_of(reader)[input];
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
                : buffers_of(reader).inputs[input][reads_at] == buffers_of(layer).output[at];
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
    BufferId& gradient = buffers_of(layer).output_gradient.emplace_back();
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
  const std::vector<BufferId> owned = std::move(buffers_of(layer).output_gradient);
  const auto parts_of_sums = boxes_of_sums(layer);
  const std::span<const NeededBox> boxes = parts_of_sums->returned;
  std::vector<TaskId> made;
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    std::vector<TaskId> delivered = std::move(delivered_of(layer)[at]);
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
  std::vector<BufferId>& spread = buffers_of(layer).output_gradient;
  spread.clear();
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    const Box all = shard_tile(layer, shard);
    spread.push_back(add_tensor(BufferKind::gathered_gradient, layer, shard, {&all, 1}));
    delivered_of(layer)[at] = arrivals.tasks[at];
    delivered_of(layer)[at].push_back(made[at]);
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
  const LayerBuffers& own = buffers_of(layer);
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
    const GatheredAgain& again = again_of(reader_for(layer));
    add_inputs(layer, shard, again.empty() ? own.inputs : again.inputs);
  }
  if (backward_reads_output(op)) add(own.output, Role::output, Access::read);
  add(own.saved, Role::saved, Access::read);
  add(own.output_gradient, Role::output_gradient, Access::read);
  if (phase != Phase::backward_weights) {
    add(own.backward_statistics, Role::statistics, takes_sums ? Access::write : Access::read);
  }
  if (phase == Phase::backward_data || (takes_sums && sums.weigh_by_parameters())) {
    if (!parameters_of(layer).buffers.empty()) {
      const Values values = parameters_of(layer, shard);
      operands_.push_back({values.buffer, 0, Role::parameters, Access::read, values.first});
    }
  }
  if (phase == Phase::backward_data) {
    const Access adds = own.adds_to.valid() ? Access::update : Access::write;
    for (std::uint32_t input = 0; input < own.input_gradients.size(); ++input) {
      add(own.input_gradients[input], Role::input_gradient, adds, input);
    }
  } else if (gives_parameter_gradients(layer, shard, phase)) {
    const Values gradients = gradients_of(layer, shard);
    const Access adds = last_added(layer, shard).valid() ? Access::update : Access::write;
    operands_.push_back({gradients.buffer, 0, Role::parameter_gradients, adds, gradients.first});
  }
  return operands_;
}

bool Lowering::gives_parameter_gradients(LayerId layer, std::size_t shard, Phase phase) const {
  if (parameters_of(layer).gradients.empty()) return false;
  if (phase == Phase::backward_weights) return true;
  return phase == Phase::backward_statistics &&
         statistics(graph_[layer].op, held_box(layer, shard)).give_parameter_gradients();
}

TaskId& Lowering::last_added(LayerId layer, std::size_t shard) {
  const LayerId holder = holders_[layer()];
  const std::size_t at = holder == layer ? slot(layer, shard) : slot_beside(holder, layer, shard);
  if (gradients_shared_at(holder, at) == nullptr) return parameters_of(holder).added[at];
  std::vector<TaskId>& added = round_->added[holder()];
  added.resize(lowered(holder).size());
  return added[at];
}

void Lowering::begin_backward(LayerId layer) {
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  Backward& backward = backward_of(layer);
  backward.sums = sum_gradient_parts(layer);
  const bool has_readers = !graph_.consumers(layer).empty();
  if (spreads_gradient(layer) && has_readers) {
    backward.sums = spread_gradients(layer, std::move(backward.sums));
  }
  recompute_segment_of(layer);
  if (phases[Phase::backward_statistics]) place_statistics(layer, Phase::backward_statistics);
  if (phases[Phase::backward_data]) {
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      place_input_gradients(layer, input);
    }
  }
  if (backward.gathers.empty() && !is_computed_again(layer)) backward.gathers = gather_again(layer);
  open_parameters(layer, Pass::backward);
  if (!phases[Phase::backward_statistics]) return;
  LayerTasks& tasks = tasks_of(layer);
  for (std::uint32_t shard : lowered(layer)) {
    wait_for_gradient(layer, shard);
    tasks.backward_statistics.push_back(add_backward(layer, shard, Phase::backward_statistics));
  }
  backward.summed =
      exchange_statistics(layer, Phase::backward_statistics, tasks.backward_statistics);
}

void Lowering::wait_for_gradient(LayerId layer, std::size_t shard) {
  const std::size_t at = slot(layer, shard);
  after_ = delivered_of(layer)[at];
  after_.push_back(tasks_of(layer).forward[at]);
  const GatheredAgain& gathered = again_of(reader_for(layer));
  if (!gathered.empty()) {
    after_.insert(after_.end(), gathered.ready[at].begin(), gathered.ready[at].end());
  }
  const LayerId before = buffers_of(layer).adds_to;
  if (before.valid()) after_.push_back(tasks_of(before).backward_data[at]);
}

// The first of a shard's tasks puts the gradient of its output together, and what it gathers again.
TaskId Lowering::add_backward(LayerId layer, std::size_t shard, Phase phase) {
  const std::size_t at = slot(layer, shard);
  Backward& backward = backward_of(layer);
  std::vector<Piece>& parts = backward.sums[at];
  const bool gathers = !backward.gathers.empty() && !backward.gathers[at].empty();
  wait_for_parameters(layer, shard);
  if (gathers) {
    std::vector<Piece>& own = backward.gathers[at];
    parts.insert(parts.end(), own.begin(), own.end());
    own.clear();
  }
  const bool adds = gives_parameter_gradients(layer, shard, phase);
  if (adds && last_added(layer, shard).valid()) after_.push_back(last_added(layer, shard));
  if (adds) wait_for_last_round(layer, shard);
  const TaskId id = builder_.add(task(TaskKind::compute, phase, layer, shard), after_,
                                 backward_operands(layer, shard, phase), parts);
  parts.clear();
  if (gathers) again_of(reader_for(layer)).ready[at].push_back(id);
  if (adds) last_added(layer, shard) = id;
  return id;
}

void Lowering::lower_backward(LayerId layer, BackwardPass pass) {
  if (is_input(layer) || !requires_gradient_[layer()]) return;
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  if (pass.data) begin_backward(layer);
  const bool data = pass.data && phases[Phase::backward_data];
  const bool weights = pass.weights && phases[Phase::backward_weights];
  LayerTasks& tasks = tasks_of(layer);
  const std::vector<TaskId>& summed = backward_of(layer).summed;
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    wait_for_gradient(layer, shard);
    if (!summed.empty()) after_.push_back(summed[at]);
    if (data) {
      tasks.backward_data.push_back(add_backward(layer, shard, Phase::backward_data));
      sum_shared_gradients(layer, shard);
    }
    // Where the device itself does it, the first of the two adds up what came back.
    const bool first = cluster_[device_of(layer, shard)].puts_together() || !pass.data;
    if (first && !tasks.backward_data.empty()) after_.push_back(tasks.backward_data[at]);
    if (weights) {
      tasks.backward_weights.push_back(add_backward(layer, shard, Phase::backward_weights));
    }
  }
  if (data) {
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      return_gradients(layer, input);
    }
    if (!parameters_of(layer).buffers.empty()) parameters_of(layer).read = tasks.backward_data;
  }
}

}  // namespace strata
