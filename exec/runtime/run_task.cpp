#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "exec/runtime/run.h"
#include "sim/base/error.h"

namespace strata {

// Without training a step ends with the loss.
bool Run::is_wanted(const Task& task) const {
  return executor_.options_.training || task.phase == Phase::forward ||
         task.phase == Phase::forward_statistics;
}

void Run::run_task(Turn turn) {
  if (is_wanted(plan_[turn.task])) do_task(turn);
  let_go(turn.task);
}

void Run::do_task(Turn turn) {
  switch (plan_[turn.task].kind) {
    case TaskKind::compute:
      return compute(turn);
    case TaskKind::transfer:
      return move(turn.task);
    case TaskKind::reduce:
      return reduce(turn.task);
    case TaskKind::gather:
      return gather(turn.task);
    case TaskKind::collective:
    case TaskKind::join:
      return;
  }
}

// Memory of a step's tensor is there from the first task that touches it. All who write to a
// buffer run on its own device, so no two threads come first at once.
void* Run::ready(BufferId id) {
  void*& memory = executor_.memory_[id()];
  if (memory == nullptr) {
    memory = executor_.allocate(id);
    users_[id()] = program_.buffers()[id()].users;
  }
  return memory;
}

void Run::let_go(TaskId id) {
  for (BufferId buffer : program_[id].releases) {
    if (--users_[buffer()] > 0) continue;
    backend_.release(program_.buffers()[buffer()].device, executor_.memory_[buffer()]);
    executor_.memory_[buffer()] = nullptr;
  }
}

Region Run::region(Slot slot) {
  if (!slot.valid()) return {};
  const ProgramBuffer& buffer = program_.buffers()[slot.buffer()];
  auto* data = static_cast<std::byte*>(ready(slot.buffer));
  for (std::uint32_t k = 0; k < slot.box; ++k) data += backend_.bytes(buffer.boxes[k]);
  return {data, buffer.boxes[slot.box]};
}

float* Run::values_of(BufferId id) {
  return id.valid() ? static_cast<float*>(ready(id)) : nullptr;
}

Kernel& Run::kernel(const TaskProgram& task) {
  std::unique_ptr<Kernel>& kernel = executor_.kernels_[task.kernel];
  if (!kernel) {
    const ProgramKernel& bound = program_.kernels()[task.kernel];
    ShardSpec spec = bound.spec;
    spec.seed = executor_.options_.seed;
    spec.training = executor_.options_.training;
    kernel = backend_.make_kernel(bound.device, spec);
  }
  return *kernel;
}

void Run::compute(Turn turn) {
  const TaskProgram& task = program_[turn.task];
  const Phase phase = plan_[turn.task].phase;
  load_inputs(task, turn.step);
  for (const Move& m : task.moves) backend_.copy(region(m.to), region(m.from), m.box);
  if (task.gradient.to.valid()) sum_gradient(task.gradient);
  if (phase == Phase::update) add_to_gradient(task);

  std::vector<Region> inputs, input_gradients;
  for (Slot slot : task.inputs) inputs.push_back(region(slot));
  for (Slot slot : task.input_gradients) input_gradients.push_back(region(slot));
  LossPart loss;
  Operands operands;
  operands.inputs = inputs;
  operands.output = region(task.output);
  operands.output_gradient = region(task.output_gradient);
  operands.input_gradients = input_gradients;
  operands.parameters = values_of(task.parameters);
  const bool makes_gradient = phase == Phase::backward_weights ||
                              phase == Phase::backward_statistics || phase == Phase::update;
  if (makes_gradient) operands.parameter_gradients = values_of(task.parameter_gradients);
  operands.statistics = values_of(task.statistics);
  operands.loss = &loss;
  operands.step = &contexts_[turn.step];
  if (phase == Phase::update && executor_.options_.keep_gradients && turn.step + 1 == steps_) {
    executor_.keep_gradient(plan_[turn.task], operands.parameter_gradients);
  }
  kernel(task).run(phase, operands);
  keep_loss(turn, loss);
}

void Run::keep_loss(Turn turn, const LossPart& part) {
  const TaskProgram& task = program_[turn.task];
  const Layer& layer = *program_.kernels()[task.kernel].spec;
  if (plan_[turn.task].phase != Phase::forward) return;
  if (!std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) return;
  if (!std::isfinite(part.loss)) {
    throw RunFailed(fmt::format("the loss is {}", part.loss));
  }
  losses_[turn.step * loss_shards_ + loss_index_[task.kernel]] = part;
}

void Run::load_inputs(const TaskProgram& task, std::uint32_t step) {
  const Batch& batch = batches_[step];
  for (BufferId id : task.network_inputs) {
    if (executor_.loaded_[id()] == batch.number + 1) continue;
    const ProgramBuffer& buffer = program_.buffers()[id()];
    const float* data = batch.inputs[input_ordinals_[buffer.network_input()]].data();
    for (std::uint32_t k = 0; k < buffer.boxes.size(); ++k) {
      backend_.load(region({id, k}), data, graph_[buffer.network_input].output);
    }
    executor_.loaded_[id()] = batch.number + 1;
  }
}

void Run::sum_gradient(const GradientSum& sum) {
  const Region to = region(sum.to);
  if (sum.all_whole) {
    std::vector<Region> parts;
    for (const Move& part : sum.parts) parts.push_back(region(part.from));
    return backend_.sum(to, parts);
  }
  if (!sum.disjoint) backend_.clear(to);
  for (const Move& part : sum.parts) {
    sum.disjoint ? backend_.copy(to, region(part.from), part.box)
                 : backend_.add(to, region(part.from), part.box);
  }
}

void Run::add_to_gradient(const TaskProgram& task) {
  for (BufferId sent : task.add_to_gradient) {
    backend_.add_values(values_of(task.parameter_gradients), values_of(sent),
                        program_.buffers()[sent()].values);
  }
}

void Run::move(TaskId id) {
  const TaskProgram& task = program_[id];
  for (const Move& m : task.moves) {
    backend_.copy(region(m.to), region(m.from), m.box);
    count(plan_[id], {volume(m.box) * static_cast<std::int64_t>(sizeof(float))});
  }
  if (!task.to_values.valid()) return;
  const std::int64_t values = program_.buffers()[task.to_values()].values;
  backend_.copy_values(values_of(task.to_values), values_of(task.from_values), values);
  count(plan_[id], {values * static_cast<std::int64_t>(sizeof(float))});
}

// Own part of the tensor, from everybody.
void Run::reduce(TaskId id) {
  const GroupPart& group = program_[id].group;
  std::vector<const float*> parts;
  for (BufferId buffer : group.buffers) parts.push_back(values_of(buffer));
  const Interval own = group.part_of(group.own);
  backend_.combine(group.how, values_of(group.buffers[group.own]), parts, group.counts, own.begin,
                   own.end);
  const auto others = static_cast<std::int64_t>(parts.size() - 1);
  count(plan_[id], {others * own.size() * static_cast<std::int64_t>(sizeof(float))});
}

void Run::gather(TaskId id) {
  const GroupPart& group = program_[id].group;
  float* to = values_of(group.buffers[group.own]);
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    if (k == group.own) continue;
    const Interval part = group.part_of(k);
    backend_.copy_values(to + part.begin, values_of(group.buffers[k]) + part.begin, part.size());
    count(plan_[id], {part.size() * static_cast<std::int64_t>(sizeof(float))});
  }
}

void Run::count(const Task& task, Bytes bytes) {
  const bool values = task.kind != TaskKind::transfer || task.phase == Phase::update;
  const bool statistics = values && task.phase != Phase::update;
  moved_[statistics ? 2 : values ? 1 : 0] += bytes.value;
}

}  // namespace strata
