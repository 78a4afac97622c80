// Terms that become outputs, and what readers give back that becomes gradients of outputs.

#include <algorithm>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"

namespace strata {
namespace {

/// What one shard's readers give back of its output, in their order.
struct GradientPart {
  View view;
  Box box;
  std::uint32_t copies = 1;  ///< so many are alike
  bool whole = false;        ///< covers the shard, lying as the shard does
};

// Whether the buffer has that box alone.
bool lies_alone(const Expansion& to, const View& view, const Box& box) {
  const std::span<const Box> boxes = to.builder.so_far().boxes(view.buffer);
  return boxes.empty() || (boxes.size() == 1 && boxes.front() == box);
}

std::vector<std::vector<GradientPart>> gradient_parts(const Expansion& to, const Round& round,
                                                      LayerId layer) {
  std::vector<std::vector<GradientPart>> parts(to.shards.of(layer).size());
  const auto readers = to.graph.consumers(layer);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const LayerId reader = readers[i];
    if (i > 0 && readers[i - 1] == reader) continue;
    for (std::size_t input = 0; input < to.graph[reader].inputs.size(); ++input) {
      const Edge& edge = round.edges[reader()][input];
      if (to.graph[reader].inputs[input] != layer || edge.gradients.empty()) continue;
      const std::span<const NeededBox> boxes = edge.returned();
      for (std::size_t k = 0; k < boxes.size(); ++k) {
        const NeededBox& needed = boxes[k];
        const std::size_t at = to.shards.slot(layer, needed.producer_shard);
        const std::size_t reads_at = to.shards.slot(reader, needed.consumer_shard);
        const bool all = needed.box == to.shards.owned(layer, needed.producer_shard);
        const bool whole = !needed.local() || to.strategy[layer].degrees.r > 1
                               ? all && lies_alone(to, edge.gradients[k], needed.box)
                               : round.buffers[reader()].inputs[input][reads_at] ==
                                     round.buffers[layer()].output[at];
        parts[at].push_back({edge.gradients[k], needed.box, needed.copies, whole});
      }
    }
  }
  return parts;
}

// Decides where the gradient of each shard's output lies: in the one part that is all of it, or in
// a buffer of its own. Returns what goes into that, by shard.
std::vector<std::vector<Piece>> sum_gradient_parts(Expansion& to, Round& round, LayerId layer) {
  std::vector<std::vector<Piece>> sums(to.shards.of(layer).size());
  if (to.graph.consumers(layer).empty()) return sums;
  const auto parts = gradient_parts(to, round, layer);
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    BufferId& gradient = round.buffers[layer()].output_gradient.emplace_back();
    const bool single = parts[at].size() == 1 && parts[at].front().copies == 1;
    if (single && parts[at].front().whole) {
      gradient = parts[at].front().view.buffer;
      continue;
    }
    const Box whole = to.shards.owned(layer, shard);
    gradient = add_tensor(to, BufferKind::gathered_gradient, layer, shard, {&whole, 1});
    for (const GradientPart& part : parts[at]) {
      const Piece piece{to.shards.device(layer, shard), to.builder.number_of(part.box),
                        to.bytes_of(volume(part.box)), part.view, View{gradient}};
      sums[at].insert(sums[at].end(), to.step[layer].spreads_gradient ? part.copies : 1, piece);
    }
  }
  return sums;
}

// What the owners of a gradient put together before it goes to others.
std::vector<TaskId> sum_at_owners(Expansion& to, Round& round, LayerId layer,
                                  std::span<const BufferId> owned,
                                  std::span<const std::vector<Piece>> sums) {
  std::vector<TaskId> made;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    const std::vector<TaskId> delivered = std::move(round.delivered[layer()][at]);
    const Buffer& gradient = to.builder.so_far()[owned[at]];
    if (gradient.kind == BufferKind::gathered_gradient && gradient.layer == layer) {
      const Operand operands[] = {{owned[at], 0, Role::output_gradient, Access::write}};
      made.push_back(to.builder.add(to.task(TaskKind::compute, Phase::backward_sum, layer, shard),
                                    delivered, operands, sums[at]));
    } else if (delivered.size() == 1) {
      made.push_back(delivered.front());
    } else {
      made.push_back(to.builder.add(
          {TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links}, delivered));
    }
  }
  return made;
}

// The gradient of the output goes from those who own it to all shards of the same sums. `sums`:
// what the owners put together first. Returns what goes into each shard's.
std::vector<std::vector<Piece>> spread_gradients(Expansion& to, Round& round, LayerId layer,
                                                 std::span<const std::vector<Piece>> sums) {
  const std::vector<BufferId> owned = std::move(round.buffers[layer()].output_gradient);
  const auto parts_of_sums = boxes_of_sums(to, layer);
  const std::span<const NeededBox> boxes = parts_of_sums->returned;
  const std::vector<TaskId> made = sum_at_owners(to, round, layer, owned, sums);
  const auto lies = [&](const NeededBox& b) {
    return View{owned[to.shards.slot(layer, b.consumer_shard)]};
  };
  Moves moves{layer, 0, Phase::backward_sum, boxes, false, layer, layer, made, lies};
  moves.groups = groups_of_sums(to, layer);
  const Arrivals arrivals = move_boxes(to, moves);
  std::vector<BufferId>& spread = round.buffers[layer()].output_gradient;
  spread.clear();
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    const Box all = to.shards.tile(layer, shard);
    spread.push_back(add_tensor(to, BufferKind::gathered_gradient, layer, shard, {&all, 1}));
    round.delivered[layer()][at] = arrivals.tasks[at];
    round.delivered[layer()][at].push_back(made[at]);
  }
  std::vector<std::vector<Piece>> parts(owned.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const std::uint32_t shard = boxes[k].producer_shard;
    const std::size_t at = to.shards.slot(layer, shard);
    parts[at].push_back({to.shards.device(layer, shard), to.builder.number_of(boxes[k].box),
                         to.bytes_of(volume(boxes[k].box)),
                         boxes[k].local() ? lies(boxes[k]) : arrivals.views[k], View{spread[at]}});
  }
  return parts;
}

// Whether each device that sends has a shard of the layer: it sends once more when the gradient
// of that is there. Others would not know when, and what they send at once would lie there as long.
bool knows_when(const Expansion& to, LayerId layer, const Edge& edge) {
  const ShardDevices& devices = to.strategy[layer].devices;
  return std::all_of(edge.read().begin(), edge.read().end(), [&](const NeededBox& b) {
    return b.local() || std::find(devices.begin(), devices.end(), b.owner) != devices.end();
  });
}

bool can_gather_again(const Expansion& to, LayerId layer, const Edge& edge) {
  return std::any_of(edge.arrivals.begin(), edge.arrivals.end(),
                     [](const std::vector<TaskId>& tasks) { return !tasks.empty(); }) &&
         knows_when(to, layer, edge);
}

// Into new buffers, of which `own` gets what lies on the shard's device.
void gather_input_again(Expansion& to, Round& round, LayerId layer, std::size_t input,
                        const Edge& edge, std::vector<std::vector<Piece>>& own) {
  const LayerId producer = to.graph[layer].inputs[input];
  GatheredAgain& again = round.again[to.step.reader_for(layer)()];
  std::vector<BufferId>& buffers = again.inputs[input];
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    if (edge.arrivals[at].empty()) continue;
    const auto read = to.builder.so_far().boxes(buffers[at]);
    const std::vector<Box> boxes(read.begin(), read.end());
    buffers[at] = add_tensor(to, BufferKind::input, layer, shard, boxes, input);
  }
  const auto lies = [&](const NeededBox& b) {
    return View{round.buffers[producer()].output[to.shards.slot(producer, b.producer_shard)]};
  };
  const auto gathered = [&](const NeededBox& b) {
    return holding(to, buffers[to.shards.slot(layer, b.consumer_shard)], b.box);
  };
  const std::vector<TaskId> ready = about_to_go_back(to, round, layer, producer);
  Moves moves{layer, input,   Phase::backward_weights, edge.read(), true, producer, layer, ready,
              lies,  gathered};
  moves.groups = groups_of_edge(to, layer, input, false);
  const Arrivals arrivals = move_boxes(to, moves);
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    if (edge.arrivals[at].empty()) continue;
    again.ready[at].insert(again.ready[at].end(), arrivals.tasks[at].begin(),
                           arrivals.tasks[at].end());
    for (const NeededBox& needed : edge.read_by(shard)) {
      if (!needed.local()) continue;
      own[at].push_back({needed.owner, to.builder.number_of(needed.box),
                         to.bytes_of(volume(needed.box)), lies(needed), gathered(needed)});
    }
  }
}

}  // namespace

// Every shard adds up what all shards of its sums made of its part of the output.
void expand(Expansion& to, const Action& action, const SumPartialOutputs& sum) {
  const LayerId layer = sum.layer;
  Round& round = to.round_of(action);
  const LayerBuffers& own = round.buffers[layer()];
  LayerTasks& tasks = round.tasks[layer()];
  const auto sums = boxes_of_sums(to, layer);
  const std::span<const NeededBox> boxes = sums->read;
  const auto partial = [&](const NeededBox& b) {
    return View{own.partial[to.shards.slot(layer, b.producer_shard)]};
  };
  const Moves moves{layer,
                    0,
                    Phase::forward_sum,
                    boxes,
                    true,
                    layer,
                    layer,
                    tasks.forward,
                    partial,
                    {},
                    BufferKind::partial_output,
                    groups_of_sums(to, layer),
                    GroupWork::reduce_scatter};
  const Arrivals arrivals = move_boxes(to, moves);
  const auto terms = static_cast<std::size_t>(to.strategy[layer].degrees.r);
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    std::vector<Piece> parts;
    for (std::size_t k = at * terms; k < (at + 1) * terms; ++k) {
      parts.push_back({to.shards.device(layer, shard), to.builder.number_of(boxes[k].box),
                       to.bytes_of(volume(boxes[k].box)),
                       boxes[k].local() ? partial(boxes[k]) : arrivals.views[k],
                       View{own.output[at]}});
    }
    std::vector<TaskId> after = arrivals.tasks[at];
    after.push_back(tasks.forward[at]);
    const Operand operands[] = {{own.output[at], 0, Role::output, Access::write}};
    tasks.forward_sum.push_back(to.builder.add(
        to.task(TaskKind::compute, Phase::forward_sum, layer, shard), after, operands, parts));
  }
}

void expand(Expansion& to, const Action& action, const SumOutputGradient& sum) {
  const LayerId layer = sum.layer;
  Round& round = to.round_of(action);
  Backward& backward = round.backward[layer()];
  backward.sums = sum_gradient_parts(to, round, layer);
  if (to.step[layer].spreads_gradient && !to.graph.consumers(layer).empty()) {
    backward.sums = spread_gradients(to, round, layer, backward.sums);
  }
  if (!to.step[layer].phases[Phase::backward_data]) return;
  for (std::size_t input = 0; input < to.graph[layer].inputs.size(); ++input) {
    place_input_gradients(to, round, layer, input);
  }
}

// Owners add what arrives.
void expand(Expansion& to, const Action& action, const ReturnGradient& back) {
  const LayerId layer = back.layer;
  const std::uint32_t input = back.input;
  Round& round = to.round_of(action);
  const LayerId producer = to.graph[layer].inputs[input];
  Edge& edge = round.edges[layer()][input];
  const std::span<const NeededBox> boxes = edge.returned();
  const std::vector<SharedGradient>& sums = round.backward[layer()].shared;
  const bool shared = !sums.empty() && !sums[input].made.empty();
  const std::vector<TaskId>& made = shared ? sums[input].made : round.tasks[layer()].backward_data;
  const std::vector<BufferId>& gradients =
      shared ? sums[input].buffers : round.buffers[layer()].input_gradients[input];
  const auto lies = [&](const NeededBox& b) {
    const BufferId buffer = gradients[to.shards.slot(layer, b.consumer_shard)];
    return to.shards.has_tasks(b.reader) ? holding(to, buffer, b.box) : View{buffer};
  };
  Moves moves{layer, input, Phase::backward_data, boxes, false, layer, producer, made, lies};
  moves.groups = groups_of_edge(to, layer, input, true);
  moves.work = GroupWork::reduce_scatter;
  Arrivals moved = move_boxes(to, moves);
  edge.gradients = std::move(moved.views);
  auto& arrivals = moved.tasks;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NeededBox& needed = boxes[i];
    if (!needed.local()) continue;
    arrivals[to.shards.slot(producer, needed.producer_shard)].push_back(
        made[to.shards.slot(layer, needed.consumer_shard)]);
    edge.gradients[i] = lies(needed);
  }
  for (std::size_t at = 0; at < arrivals.size(); ++at) {
    auto& delivered = round.delivered[producer()][at];
    delivered.insert(delivered.end(), arrivals[at].begin(), arrivals[at].end());
  }
}

// The first of its backward tasks does so.
void expand(Expansion& to, const Action& action, const PutTogetherAgain& put) {
  const LayerId layer = put.layer;
  Round& round = to.round_of(action);
  GatheredAgain& again = round.again[layer()];
  again.inputs = round.buffers[layer()].inputs;
  again.ready.resize(to.shards.of(layer).size());
  std::vector<std::vector<Piece>>& gathers = round.backward[layer()].gathers;
  gathers.resize(to.shards.of(layer).size());
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    wait_for_inputs(to, round, layer, shard, again.ready[at]);
    gathers[at] = gather_inputs(to, round, layer, shard);
  }
}

// What a shard's products read of other devices comes again when the gradient of the output is
// about to go back.
void expand(Expansion& to, const Action& action, const GatherInputsAgain& gather) {
  const LayerId layer = gather.layer;
  Round& round = to.round_of(action);
  const LayerId reader = to.step.reader_for(layer);
  GatheredAgain& again = round.again[reader()];
  const std::vector<Edge>& edges = round.edges[reader()];
  const auto gathers = [&](const Edge& edge) { return can_gather_again(to, layer, edge); };
  if (!again.empty() || std::none_of(edges.begin(), edges.end(), gathers)) return;
  again.inputs = round.buffers[reader()].inputs;
  again.ready.resize(to.shards.of(layer).size());
  std::vector<std::vector<Piece>> own(to.shards.of(layer).size());
  for (std::size_t input = 0; input < to.graph[layer].inputs.size(); ++input) {
    if (const auto first = earlier_reading(to.graph[layer], input)) {
      again.inputs[input] = again.inputs[*first];
    } else if (gathers(edges[input])) {
      gather_input_again(to, round, layer, input, edges[input], own);
    }
  }
  round.backward[layer()].gathers = std::move(own);
}

}  // namespace strata
