#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/lowering.h"

namespace strata {
namespace {

// The boxes that cross devices, by receiver and then by sender.
std::vector<const NeededBox*> crossing(std::span<const NeededBox> boxes, bool forward) {
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

}  // namespace

// Of shards, those for which others stand included.
std::size_t Lowering::count_pairs(const std::vector<const NeededBox*>& boxes, bool forward) const {
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NeededBox& b = *boxes[i];
    const bool same_pair = i > 0 && b.consumer_shard == boxes[i - 1]->consumer_shard &&
                           b.producer_shard == boxes[i - 1]->producer_shard;
    if (same_pair) continue;
    const DeviceId receiver = forward ? b.reader : b.owner;
    pairs += classes_ ? b.copies * classes_->members(receiver) : 1;
  }
  return static_cast<std::size_t>(pairs);
}

Lowering::Arrivals Lowering::move_boxes(const Moves& moves) {
  const bool forward = moves.forward;
  Arrivals arrivals{std::vector<std::vector<TaskId>>(lowered(moves.to).size()),
                    std::vector<View>(moves.target ? 0 : moves.boxes.size())};
  const std::vector<const NeededBox*> boxes = crossing(moves.boxes, forward);
  // However many are lowered: a class that splits must not change the form.
  const bool by_receiver = count_pairs(boxes, forward) > options_.max_flows_per_edge;
  // Where every receiver hears from very many, one join of all senders stands for them.
  TaskId joined;
  if (by_receiver) {
    builder_.join_transfers();
    joined = builder_.add({TaskKind::join, Phase::forward, moves.layer, {}, 0, 0, Stream::links},
                          moves.made_by);
  }

  const auto receiver = [&](const NeededBox& b) {
    return forward ? b.consumer_shard : b.producer_shard;
  };
  const auto sender = [&](const NeededBox& b) {
    return forward ? b.producer_shard : b.consumer_shard;
  };
  for (std::size_t i = 0; i < boxes.size();) {
    const NeededBox& first = *boxes[i];
    const std::size_t first_box = i;
    const std::uint32_t copies = by_receiver ? 1 : first.copies;
    std::vector<Piece> pieces;
    for (; i < boxes.size() && receiver(*boxes[i]) == receiver(first) &&
           (by_receiver || sender(*boxes[i]) == sender(first));
         ++i) {
      const NeededBox& b = *boxes[i];
      const Bytes bytes = b.copies / copies * bytes_of(volume(b.box));
      const DeviceId from = forward ? b.owner : b.reader;
      if (by_receiver && !pieces.empty() && pieces.back().from == from) {
        pieces.back().bytes += bytes;
        continue;
      }
      pieces.push_back({from, bytes, by_receiver ? Box{} : b.box, moves.source(b)});
      if (moves.target) pieces.back().target = moves.target(b);
    }
    if (!moves.target) {
      const BufferId received = receive(moves.kind, moves.to, receiver(first), pieces, copies);
      for (std::size_t k = first_box; k < i; ++k) {
        const auto box = static_cast<std::uint32_t>(by_receiver ? 0 : k - first_box);
        arrivals.views[static_cast<std::size_t>(boxes[k] - moves.boxes.data())] = {received, box};
      }
    }
    const DeviceId to = forward ? first.reader : first.owner;
    const Task task{TaskKind::transfer, moves.phase, moves.layer,      to,
                    receiver(first),    0,           moving_stream(to)};
    const TaskId made = by_receiver ? joined : moves.made_by[slot(moves.from, sender(first))];
    arrivals.tasks[slot(moves.to, receiver(first))].push_back(builder_.add_transfer(
        task, static_cast<std::uint32_t>(moves.input), pieces, std::span(&made, 1), copies));
  }
  return arrivals;
}

std::shared_ptr<const ClassBoxes> Lowering::boxes_of_edge(LayerId layer, std::size_t input) {
  auto& edges = shared_by_rounds_.edges[layer()];
  edges.resize(graph_[layer].inputs.size());
  if (edges[input] == nullptr) {
    const LayerId producer = graph_[layer].inputs[input];
    edges[input] = memo_.boxes(layer, input, strategy_[producer], strategy_[layer],
                               gets_whole_gradient_[producer()], classes_.get());
  }
  return edges[input];
}

std::shared_ptr<const ClassBoxes> Lowering::boxes_of_sums(LayerId layer) {
  auto& sums = shared_by_rounds_.sums[layer()];
  if (sums == nullptr) sums = memo_.sums(layer, strategy_[layer], classes_.get());
  return sums;
}

Edge Lowering::lower_edge(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  Edge edge;
  if (const auto first = earlier_reading(graph_[layer], input)) {
    buffers_of(layer).inputs.push_back(buffers_of(layer).inputs[*first]);
    return edges_of(layer)[*first];
  }
  if (const LayerId first = shared_reader(layer); first.valid()) {
    buffers_of(layer).inputs.push_back(buffers_of(first).inputs[input]);
    return edges_of(first)[input];
  }
  if (const auto shared = shared_readings_.find({layer, input}); shared != shared_readings_.end()) {
    const Reading first = shared->second;
    buffers_of(layer).inputs.push_back(buffers_of(first.layer).inputs[first.input]);
    return edges_of(first.layer)[first.input];
  }
  if (recomputes_after_.valid() && comes_from_another_stage(layer, input)) {  // and was kept
    buffers_of(layer).inputs.push_back(buffers_of(layer).data[input]);
    return std::move(round_->edges_before[layer()][input]);
  }
  if (!is_input(producer)) {
    edge.boxes = boxes_of_edge(layer, input);
    edge.returns_otherwise = classes_ != nullptr || repeats(producer) || repeats(layer);
  }
  place_inputs(layer, input, edge);
  if (!is_input(producer)) {
    const auto lies = [&](const NeededBox& b) {
      return View{buffers_of(producer).output[slot(producer, b.producer_shard)]};
    };
    const auto gathered = [&](const NeededBox& b) {
      return holding(buffers_of(layer).inputs[input][slot(layer, b.consumer_shard)], b.box);
    };
    const bool crosses = std::any_of(edge.read().begin(), edge.read().end(),
                                     [](const NeededBox& b) { return !b.local(); });
    const bool kept =
        recomputes_after_.valid() &&
        (!is_computed_again(producer) || strategy_.segment(producer) != strategy_.segment(layer));
    // What is there all the time is sent when it is wanted.
    const std::vector<TaskId> made = crosses && kept ? about_to_go_back(recomputes_after_, producer)
                                                     : tasks_of(producer).output();
    edge.arrivals = move_boxes({layer, input, Phase::forward, edge.read(), true, producer, layer,
                                made, lies, gathered})
                        .tasks;
  }
  return edge;
}

void Lowering::add_input_ready(LayerId layer, std::size_t shard, std::vector<TaskId>& ready) const {
  for (std::size_t input = 0; input < edges_of(layer).size(); ++input) {
    const Edge& edge = edges_of(layer)[input];
    if (edge.read().empty()) continue;
    const LayerId producer = graph_[layer].inputs[input];
    const std::vector<TaskId>& made = tasks_of(producer).output();
    for (const NeededBox& needed : edge.read_by(shard)) {
      if (needed.local()) ready.push_back(made[slot(producer, needed.producer_shard)]);
    }
    const std::vector<TaskId>& arrived = edge.arrivals[slot(layer, shard)];
    ready.insert(ready.end(), arrived.begin(), arrived.end());
  }
  // Which may put together what both read.
  const LayerId first = shared_reader(layer);
  if (first.valid()) ready.push_back(tasks_of(first).forward[slot(layer, shard)]);
}

// What a shard gathers of its own device's buffers, before its first kernel.
std::vector<Piece> Lowering::gather_inputs(LayerId layer, std::size_t shard) const {
  std::vector<Piece> pieces;
  if (shared_reader(layer).valid()) return pieces;
  for (std::size_t input = 0; input < edges_of(layer).size(); ++input) {
    if (earlier_reading(graph_[layer], input)) continue;
    const BufferId to = buffers_of(layer).inputs[input][slot(layer, shard)];
    for (const NeededBox& needed : edges_of(layer)[input].read_by(shard)) {
      const LayerId producer = graph_[layer].inputs[input];
      const BufferId from = buffers_of(producer).output[slot(producer, needed.producer_shard)];
      if (!needed.local() || from == to) continue;
      pieces.push_back({needed.owner, bytes_of(volume(needed.box)), needed.box, View{from},
                        holding(to, needed.box)});
    }
  }
  return pieces;
}

void Lowering::add_inputs(LayerId layer, std::size_t shard,
                          const std::vector<std::vector<BufferId>>& inputs) {
  for (std::uint32_t input = 0; input < inputs.size(); ++input) {
    const BufferId buffer = inputs[input][slot(layer, shard)];
    if (buffer.valid()) operands_.push_back({buffer, input, Role::input, Access::read});
  }
}

std::span<const Operand> Lowering::forward_operands(LayerId layer, std::size_t shard, Phase phase) {
  const LayerBuffers& own = buffers_of(layer);
  operands_.clear();
  add_inputs(layer, shard, own.inputs);
  const bool sums = phase == Phase::forward_statistics;
  const auto add = [&](const std::vector<BufferId>& buffers, Role role, Access access) {
    if (!buffers.empty()) operands_.push_back({buffers[slot(layer, shard)], 0, role, access});
  };
  add(own.forward_statistics, Role::statistics, sums ? Access::write : Access::read);
  if (sums) return operands_;
  if (!parameters_of(layer).buffers.empty()) {
    const Values values = parameters_of(layer, shard);
    operands_.push_back({values.buffer, 0, Role::parameters, Access::read, values.first});
  }
  add(own.partial.empty() ? own.output : own.partial, Role::output, Access::write);
  add(own.saved, Role::saved, Access::write);
  return operands_;
}

void Lowering::lower_forward(LayerId layer) {
  if (is_input(layer)) return;
  for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
    edges_of(layer).push_back(lower_edge(layer, input));
  }
  const bool has_statistics =
      step_phases(graph_, layer, requires_gradient_)[Phase::forward_statistics];
  const bool placed = !parameters_of(layer).added.empty() ||
                      (holders_[layer()] != layer && !parameters_of(layer).buffers.empty());
  if (graph_[layer].parameters.total() > 0 && !placed) place_parameters(layer);
  open_parameters(layer, Pass::forward);
  if (has_statistics) place_statistics(layer, Phase::forward_statistics);
  place_outputs(layer);
  place_saved(layer);

  LayerTasks& tasks = tasks_of(layer);
  const auto add = [&](Phase phase, std::size_t shard, std::span<const Piece> gathered) {
    return builder_.add(task(TaskKind::compute, phase, layer, shard), after_,
                        forward_operands(layer, shard, phase), gathered);
  };
  std::vector<TaskId> summed;
  if (has_statistics) {
    for (std::uint32_t shard : lowered(layer)) {
      after_.clear();
      add_input_ready(layer, shard, after_);
      wait_to_recompute(layer, shard);
      tasks.forward_statistics.push_back(
          add(Phase::forward_statistics, shard, gather_inputs(layer, shard)));
    }
    summed = exchange_statistics(layer, Phase::forward_statistics, tasks.forward_statistics);
  }
  for (std::uint32_t shard : lowered(layer)) {
    after_.clear();
    add_input_ready(layer, shard, after_);
    wait_to_recompute(layer, shard);
    std::vector<Piece> gathered;
    if (has_statistics) {
      after_.push_back(summed[slot(layer, shard)]);
    } else {
      gathered = gather_inputs(layer, shard);
    }
    wait_for_parameters(layer, shard);
    tasks.forward.push_back(add(Phase::forward, shard, gathered));
  }
  if (divides_sums(layer)) lower_sums(layer);
}

// Every shard adds up what all shards of its sums made of its part of the output.
void Lowering::lower_sums(LayerId layer) {
  const LayerBuffers& own = buffers_of(layer);
  LayerTasks& tasks = tasks_of(layer);
  const auto sums = boxes_of_sums(layer);
  const std::span<const NeededBox> boxes = sums->read;
  const auto partial = [&](const NeededBox& b) {
    return View{own.partial[slot(layer, b.producer_shard)]};
  };
  const Arrivals arrivals = move_boxes({layer,
                                        0,
                                        Phase::forward_sum,
                                        boxes,
                                        true,
                                        layer,
                                        layer,
                                        tasks.forward,
                                        partial,
                                        {},
                                        BufferKind::partial_output});
  const auto terms = static_cast<std::size_t>(strategy_[layer].degrees.r);
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    std::vector<Piece> parts;
    for (std::size_t k = at * terms; k < (at + 1) * terms; ++k) {
      parts.push_back({device_of(layer, shard), bytes_of(volume(boxes[k].box)), boxes[k].box,
                       boxes[k].local() ? partial(boxes[k]) : arrivals.views[k],
                       View{own.output[at]}});
    }
    std::vector<TaskId> after = arrivals.tasks[at];
    after.push_back(tasks.forward[at]);
    const Operand operands[] = {{own.output[at], 0, Role::output, Access::write}};
    tasks.forward_sum.push_back(builder_.add(
        task(TaskKind::compute, Phase::forward_sum, layer, shard), after, operands, parts));
  }
}

}  // namespace strata
