// Kernels of shards: what they wait for, and what they read and write.

#include <algorithm>

#include "sim/graph/regions.h"
#include "sim/plan/expansion.h"

namespace strata {
namespace {

/// The operands of one task.
class Operands {
 public:
  Operands(const Expansion& to, LayerId layer, std::size_t shard)
      : to_(to), layer_(layer), shard_(shard), at_(to.shards.slot(layer, shard)) {}

  void add(const std::vector<BufferId>& buffers, Role role, Access access,
           std::uint32_t input = 0) {
    if (buffers.empty() || !buffers[at_].valid()) return;
    all_.push_back({buffers[at_], input, role, access});
  }
  void add_inputs(const std::vector<std::vector<BufferId>>& inputs) {
    for (std::uint32_t input = 0; input < inputs.size(); ++input) {
      add(inputs[input], Role::input, Access::read, input);
    }
  }
  void add_parameters() {
    if (to_.parameters[layer_()].buffers.empty()) return;
    const Values values = parameters_of(to_, layer_, shard_);
    all_.push_back({values.buffer, 0, Role::parameters, Access::read, values.first});
  }
  void add_parameter_gradients(const Values& gradients, bool adds) {
    all_.push_back({gradients.buffer, 0, Role::parameter_gradients,
                    adds ? Access::update : Access::write, gradients.first});
  }
  std::span<const Operand> all() const { return all_; }

 private:
  const Expansion& to_;
  LayerId layer_;
  std::size_t shard_, at_;
  std::vector<Operand> all_;
};

Operands forward_operands(const Expansion& to, const LayerBuffers& own, LayerId layer,
                          std::size_t shard, Phase phase) {
  Operands operands(to, layer, shard);
  operands.add_inputs(own.inputs);
  const bool sums = phase == Phase::forward_statistics;
  operands.add(own.forward_statistics, Role::statistics, sums ? Access::write : Access::read);
  if (sums) return operands;
  operands.add_parameters();
  operands.add(own.partial.empty() ? own.output : own.partial, Role::output, Access::write);
  operands.add(own.saved, Role::saved, Access::write);
  return operands;
}

bool gives_parameter_gradients(const Expansion& to, LayerId layer, std::size_t shard, Phase phase) {
  if (to.parameters[layer()].gradients.empty()) return false;
  if (phase == Phase::backward_weights) return true;
  return phase == Phase::backward_statistics &&
         statistics(to.graph[layer].op, to.shards.held(layer, shard)).give_parameter_gradients();
}

Operands backward_operands(Expansion& to, Round& round, LayerId layer, std::size_t shard,
                           Phase phase) {
  const LayerBuffers& own = round.buffers[layer()];
  const Op& op = to.graph[layer].op;
  Operands operands(to, layer, shard);
  const bool takes_sums = phase == Phase::backward_statistics;
  const Statistics sums = takes_sums ? statistics(op, to.shards.held(layer, shard)) : Statistics{};
  if (backward_reads_input(to.graph[layer])) {
    const GatheredAgain& again = round.again[to.step.reader_for(layer)()];
    operands.add_inputs(again.empty() ? own.inputs : again.inputs);
  }
  if (backward_reads_output(op)) operands.add(own.output, Role::output, Access::read);
  operands.add(own.saved, Role::saved, Access::read);
  operands.add(own.output_gradient, Role::output_gradient, Access::read);
  if (phase != Phase::backward_weights) {
    operands.add(own.backward_statistics, Role::statistics,
                 takes_sums ? Access::write : Access::read);
  }
  if (phase == Phase::backward_data || (takes_sums && sums.weigh_by_parameters()) ||
      (phase == Phase::backward_weights && backward_reads_parameters(op))) {
    operands.add_parameters();
  }
  if (phase == Phase::backward_data) {
    const Access adds = own.adds_to.valid() ? Access::update : Access::write;
    for (std::uint32_t input = 0; input < own.input_gradients.size(); ++input) {
      operands.add(own.input_gradients[input], Role::input_gradient, adds, input);
    }
  } else if (gives_parameter_gradients(to, layer, shard, phase)) {
    operands.add_parameter_gradients(gradients_of(to, round, layer, shard),
                                     last_added(to, round, layer, shard).valid());
  }
  return operands;
}

// Of a bucket, the whole gradients of one round are there at a time.
void wait_for_last_round(const Expansion& to, LayerId layer, std::size_t shard,
                         std::vector<TaskId>& after) {
  const HeldAt held = held_at(to, layer, shard);
  const InBucket* lies = gradients_shared_at(to, held.holder, held.slot);
  if (lies == nullptr) return;
  const TaskId reduced = to.shared[lies->bucket].reduced[lies->replica];
  if (reduced.valid()) after.push_back(reduced);
}

void wait_for_parameters(const Expansion& to, LayerId layer, std::size_t shard,
                         std::vector<TaskId>& after) {
  const HeldAt held = held_at(to, layer, shard);
  const LayerParameters& own = to.parameters[held.holder()];
  if (own.ready.empty()) return;
  if (own.ready[held.slot].valid()) after.push_back(own.ready[held.slot]);
}

void place_before(Expansion& to, Round& round, const Compute& compute) {
  const LayerId layer = compute.layer;
  if (compute.phase == Phase::forward) {
    if (to.graph[layer].parameters.total() > 0) place_parameters(to, layer);
    place_outputs(to, round, layer);
  } else if (compute.phase == Phase::forward_statistics ||
             compute.phase == Phase::backward_statistics) {
    place_statistics(to, round, layer, compute.phase);
  }
}

void expand_forward(Expansion& to, const Action& action, const Compute& compute) {
  Round& round = to.round_of(action);
  const LayerId layer = compute.layer;
  const Phase phase = compute.phase;
  LayerTasks& tasks = round.tasks[layer()];
  const bool takes_sums = phase == Phase::forward_statistics;
  const bool has_sums = to.step[layer].phases[Phase::forward_statistics];
  for (const std::uint32_t shard : to.shards.of(layer)) {
    std::vector<TaskId> after;
    wait_for_inputs(to, round, layer, shard, after);
    wait_to_recompute(to, round, layer, shard, action.again_for, after);
    std::vector<Piece> gathered;
    if (takes_sums || !has_sums) gathered = gather_inputs(to, round, layer, shard);
    if (!takes_sums) {
      if (has_sums) after.push_back(tasks.summed[to.shards.slot(layer, shard)]);
      wait_for_parameters(to, layer, shard, after);
    }
    const Operands operands = forward_operands(to, round.buffers[layer()], layer, shard, phase);
    (takes_sums ? tasks.forward_statistics : tasks.forward)
        .push_back(to.builder.add(to.task(TaskKind::compute, phase, layer, shard), after,
                                  operands.all(), gathered));
  }
}

// The first of a shard's tasks puts the gradient of its output together, and what it gathers again.
TaskId add_backward(Expansion& to, Round& round, LayerId layer, std::size_t shard, Phase phase,
                    std::vector<TaskId>& after) {
  const std::size_t at = to.shards.slot(layer, shard);
  Backward& backward = round.backward[layer()];
  std::vector<Piece>& parts = backward.sums[at];
  const bool gathers = !backward.gathers.empty() && !backward.gathers[at].empty();
  wait_for_parameters(to, layer, shard, after);
  if (gathers) {
    std::vector<Piece>& own = backward.gathers[at];
    parts.insert(parts.end(), own.begin(), own.end());
    own.clear();
  }
  const bool adds = gives_parameter_gradients(to, layer, shard, phase);
  if (adds) {
    const TaskId last = last_added(to, round, layer, shard);
    if (last.valid()) after.push_back(last);
    wait_for_last_round(to, layer, shard, after);
  }
  const Operands operands = backward_operands(to, round, layer, shard, phase);
  const TaskId id =
      to.builder.add(to.task(TaskKind::compute, phase, layer, shard), after, operands.all(), parts);
  parts.clear();
  if (gathers) round.again[to.step.reader_for(layer)()].ready[at].push_back(id);
  if (adds) last_added(to, round, layer, shard) = id;
  return id;
}

// Adds up what the shard and those that share a reading with it give back.
void sum_shared_gradients(Expansion& to, Round& round, LayerId layer, std::size_t shard) {
  const std::size_t inputs = to.graph[layer].inputs.size(), at = to.shards.slot(layer, shard);
  for (std::size_t input = 0; input < inputs; ++input) {
    const auto others = to.step.read_with.find({layer, input});
    if (others == to.step.read_with.end() || !wants_gradient(to.graph, to.step, layer, input)) {
      continue;
    }
    std::vector<SharedGradient>& all = round.backward[layer()].shared;
    all.resize(inputs);
    SharedGradient& sum = all[input];
    std::vector<TaskId> after = {round.tasks[layer()].backward_data[at]};
    BufferId& buffer = sum.buffers.emplace_back(round.buffers[layer()].input_gradients[input][at]);
    if (!buffer.valid()) {  // the shard reads nothing
      sum.made.push_back(after.front());
      continue;
    }
    const Box box = to.builder.so_far().boxes(buffer).front();
    std::vector<BufferId> parts = {buffer};
    for (const Reading& other : others->second) {
      parts.push_back(round.buffers[other.layer()].input_gradients[other.input][at]);
      after.push_back(round.tasks[other.layer()].backward_data[at]);
    }
    buffer = add_tensor(to, BufferKind::activation_gradient, layer, shard, {&box, 1}, input);
    const BoxId moved = to.builder.number_of(box);
    std::vector<Piece> pieces;
    pieces.reserve(parts.size());
    for (const BufferId part : parts) {
      pieces.push_back({to.shards.device(layer, shard), moved, to.bytes_of(volume(box)), View{part},
                        View{buffer}});
    }
    const Operand operands[] = {{buffer, 0, Role::output_gradient, Access::write}};
    sum.made.push_back(to.builder.add(to.task(TaskKind::compute, Phase::backward_sum, layer, shard),
                                      after, operands, pieces));
  }
}

void expand_backward(Expansion& to, const Action& action, const Compute& compute) {
  Round& round = to.round_of(action);
  const LayerId layer = compute.layer;
  const Phase phase = compute.phase;
  LayerTasks& tasks = round.tasks[layer()];
  const bool takes_sums = phase == Phase::backward_statistics;
  const bool has_sums = !takes_sums && to.step[layer].phases[Phase::backward_statistics];
  const bool data = phase == Phase::backward_data;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    std::vector<TaskId> after;
    wait_for_gradient(to, round, layer, shard, after);
    if (has_sums) after.push_back(tasks.summed[at]);
    if (takes_sums) {
      tasks.backward_statistics.push_back(add_backward(to, round, layer, shard, phase, after));
      continue;
    }
    if (data) {
      tasks.backward_data.push_back(add_backward(to, round, layer, shard, phase, after));
      sum_shared_gradients(to, round, layer, shard);
    }
    if (data && !compute.and_weights) continue;
    // Where the device itself does it, the first of the two adds up what came back.
    const bool first = to.cluster[to.shards.device(layer, shard)].puts_together() || !data;
    if (first && !tasks.backward_data.empty()) after.push_back(tasks.backward_data[at]);
    tasks.backward_weights.push_back(
        add_backward(to, round, layer, shard, Phase::backward_weights, after));
  }
  LayerParameters& parameters = to.parameters[layer()];
  if (data && !parameters.buffers.empty()) parameters.read = tasks.backward_data;
}

}  // namespace

HeldAt held_at(const Expansion& to, LayerId layer, std::size_t shard) {
  const LayerId holder = to.step[layer].holder;
  return {holder, holder == layer ? to.shards.slot(layer, shard)
                                  : to.shards.slot_beside(holder, layer, shard)};
}

void wait_for_inputs(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                     std::vector<TaskId>& after) {
  const std::vector<Edge>& edges = round.edges[layer()];
  for (std::size_t input = 0; input < edges.size(); ++input) {
    const Edge& edge = edges[input];
    if (edge.read().empty()) continue;
    const LayerId producer = to.graph[layer].inputs[input];
    const std::vector<TaskId>& made = round.tasks[producer()].output();
    for (const NeededBox& needed : edge.read_by(shard)) {
      if (needed.local()) after.push_back(made[to.shards.slot(producer, needed.producer_shard)]);
    }
    const std::vector<TaskId>& arrived = edge.arrivals[to.shards.slot(layer, shard)];
    after.insert(after.end(), arrived.begin(), arrived.end());
  }
  // Which may put together what both read.
  const LayerId first = to.step[layer].shared_reader;
  if (first.valid()) after.push_back(round.tasks[first()].forward[to.shards.slot(layer, shard)]);
}

void wait_to_recompute(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                       LayerId again_for, std::vector<TaskId>& after) {
  if (!again_for.valid()) return;
  bool all_come_again = true;
  for (std::size_t input = 0; input < to.graph[layer].inputs.size(); ++input) {
    const LayerId producer = to.graph[layer].inputs[input];
    all_come_again = all_come_again && to.step[producer].again &&
                     to.strategy.segment(producer) == to.strategy.segment(layer) &&
                     !comes_from_another_stage(to.graph, to.step.stages, layer, input);
  }
  if (all_come_again) return;
  const auto add = [&](std::size_t at) {
    const std::vector<TaskId>& delivered = round.delivered[again_for()][at];
    after.insert(after.end(), delivered.begin(), delivered.end());
    after.push_back(round.tasks[again_for()].forward[at]);
  };
  const auto beside = to.shards.slot_on(again_for, to.shards.device(layer, shard));
  if (beside) return add(*beside);
  for (std::size_t at = 0; at < to.shards.of(again_for).size(); ++at) add(at);
}

void wait_for_gradient(const Expansion& to, const Round& round, LayerId layer, std::size_t shard,
                       std::vector<TaskId>& after) {
  const std::size_t at = to.shards.slot(layer, shard);
  const std::vector<TaskId>& delivered = round.delivered[layer()][at];
  after.insert(after.end(), delivered.begin(), delivered.end());
  after.push_back(round.tasks[layer()].forward[at]);
  const GatheredAgain& gathered = round.again[to.step.reader_for(layer)()];
  if (!gathered.empty()) {
    after.insert(after.end(), gathered.ready[at].begin(), gathered.ready[at].end());
  }
  const LayerId before = round.buffers[layer()].adds_to;
  if (before.valid()) after.push_back(round.tasks[before()].backward_data[at]);
}

std::vector<Piece> gather_inputs(Expansion& to, const Round& round, LayerId layer,
                                 std::size_t shard) {
  std::vector<Piece> pieces;
  if (to.step[layer].shared_reader.valid()) return pieces;
  const std::vector<Edge>& edges = round.edges[layer()];
  for (std::size_t input = 0; input < edges.size(); ++input) {
    if (earlier_reading(to.graph[layer], input)) continue;
    const BufferId target = round.buffers[layer()].inputs[input][to.shards.slot(layer, shard)];
    for (const NeededBox& needed : edges[input].read_by(shard)) {
      const LayerId producer = to.graph[layer].inputs[input];
      const BufferId from =
          round.buffers[producer()].output[to.shards.slot(producer, needed.producer_shard)];
      if (!needed.local() || from == target) continue;
      pieces.push_back({needed.owner, to.builder.number_of(needed.box),
                        to.bytes_of(volume(needed.box)), View{from},
                        holding(to, target, needed.box)});
    }
  }
  return pieces;
}

void expand(Expansion& to, const Action& action, const Compute& compute) {
  place_before(to, to.round_of(action), compute);
  const bool forward =
      compute.phase == Phase::forward || compute.phase == Phase::forward_statistics;
  if (forward) {
    expand_forward(to, action, compute);
  } else {
    expand_backward(to, action, compute);
  }
}

}  // namespace strata
