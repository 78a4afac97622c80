#include "exec/runtime/task_work.h"

#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "exec/runtime/not_finite.h"
#include "sim/base/error.h"
#include "sim/plan/work_kind.h"

namespace strata {

TaskWork::TaskWork(Executor& executor, std::size_t steps, const BatchOf& batch_of)
    : executor_(executor),
      graph_(executor.graph_),
      plan_(executor.plan_),
      program_(executor.program_),
      backend_(executor.backend_),
      steps_(steps),
      loss_index_(program_.kernels().size()),
      users_(program_.buffers().size()),
      moved_(3) {
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t number = executor.steps_done_ + step;
    batches_.push_back(batch_of(number));
    contexts_.push_back({number, executor.options_.learning_rate, batches_.back().labels});
  }
  for (std::size_t k = 0; k < loss_index_.size(); ++k) {
    const Layer& layer = *program_.kernels()[k].spec;
    if (!is_loss(layer.op)) continue;
    loss_index_[k] = loss_shards_++;
  }
  std::size_t inputs = 0;
  for (const Layer& layer : graph_.layers()) {
    input_ordinals_.push_back(inputs);
    inputs += is_input(layer.op);
  }
  const std::size_t count = steps * loss_shards_;
  loss_memory_ = backend_.host_memory(static_cast<std::int64_t>(count * sizeof(LossPart)));
  losses_ = {static_cast<LossPart*>(loss_memory_.get()), count};
}

bool TaskWork::is_wanted(TaskId task) const {
  return executor_.options_.training || is_forward(plan_[task].phase);
}

void TaskWork::run(Turn turn) {
  perform(turn);
  let_go(turn.task);
}

void TaskWork::perform(Turn turn) {
  if (!is_wanted(turn.task)) return;
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
      throw InternalError("a collective is done by all of its participants at once");
    case TaskKind::join:
      return;
  }
}

std::string TaskWork::name_of(Turn turn) const {
  return fmt::format("step {}: {}", contexts_[turn.step].step, name_of(turn.task));
}

std::string TaskWork::name_of(TaskId id) const {
  const Task& task = plan_[id];
  const char* what = task.kind == TaskKind::compute    ? "shard"
                     : task.kind == TaskKind::transfer ? "transfer to shard"
                     : task.kind == TaskKind::gather   ? "gather from replicas, shard"
                                                       : "sum over replicas, shard";
  return fmt::format("layer {}: {}, {} {} on {}", graph_[task.layer].name, name(task.phase), what,
                     task.shard, backend_.device_name(task.device));
}

void TaskWork::explain(const LossNotFinite& error) const {
  const std::string first = first_not_finite(graph_, plan_, program_, executor_.memory_, backend_);
  if (first.empty()) throw error;
  throw RunFailed(error.message() + "; first not finite: " + first);
}

Execution TaskWork::result(std::vector<Span> spans) const {
  Execution result;
  result.timeline = Timeline(plan_.size(), std::move(spans));
  for (std::size_t step = 0; step < steps_ && loss_shards_ > 0; ++step) {
    result.losses.push_back(0);
    result.correct.push_back(0);
    for (std::size_t k = 0; k < loss_shards_; ++k) {
      result.losses.back() += losses_[step * loss_shards_ + k].loss;
      result.correct.back() += losses_[step * loss_shards_ + k].correct;
    }
  }
  result.moved = {{moved_[0]}, {moved_[1]}, {moved_[2]}};
  return result;
}

// Memory of a step's tensor is there from the first task that touches it. All who write to a
// buffer run on its own device, so no two threads come first at once.
void* TaskWork::ready(BufferId id) {
  void*& memory = executor_.memory_[id()];
  if (memory == nullptr) {
    memory = executor_.allocate(id);
    users_[id()] = program_.buffers()[id()].users;
  }
  return memory;
}

void TaskWork::let_go(TaskId id) {
  for (BufferId buffer : program_[id].releases) {
    // Without training, some never are made.
    if (!executor_.holds(buffer) || executor_.memory_[buffer()] == nullptr) continue;
    if (--users_[buffer()] > 0) continue;
    release(buffer, executor_.memory_[buffer()]);
    executor_.memory_[buffer()] = nullptr;
  }
}

void TaskWork::release(BufferId id, void* memory) {
  backend_.release(program_.buffers()[id()].device, memory);
}

Region TaskWork::region(Slot slot) {
  if (!slot.valid()) return {};
  const ProgramBuffer& buffer = program_.buffers()[slot.buffer()];
  auto* data = static_cast<std::byte*>(ready(slot.buffer));
  for (std::uint32_t k = 0; k < slot.box; ++k) data += backend_.bytes(buffer.boxes[k]);
  return {data, buffer.boxes[slot.box]};
}

float* TaskWork::values_of(BufferId id) {
  return id.valid() ? static_cast<float*>(ready(id)) : nullptr;
}

Kernel& TaskWork::kernel(const TaskProgram& task) {
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

void TaskWork::compute(Turn turn) {
  const TaskProgram& task = program_[turn.task];
  const Phase phase = plan_[turn.task].phase;
  load_inputs(task, turn.step);
  for (const Move& m : task.moves) backend_.copy(region(m.to), region(m.from), m.box);
  if (task.gradient.to.valid()) sum_gradient(task.gradient);
  if (phase == Phase::update) add_to_gradient(task);

  std::vector<Region> inputs, input_gradients;
  for (Slot slot : task.inputs) inputs.push_back(region(slot));
  for (Slot slot : task.input_gradients) input_gradients.push_back(region(slot));
  LossPart* const loss = loss_of(turn);
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
  operands.loss = loss;
  operands.step = &contexts_[turn.step];
  if (phase == Phase::update && executor_.options_.keep_gradients && turn.step + 1 == steps_) {
    executor_.keep_gradient(plan_[turn.task], operands.parameter_gradients);
  }
  if (executor_.options_.observer != nullptr) {
    show_before(plan_[turn.task], task, operands);
    kernel(task).run(phase, operands);
    if (phase == Phase::forward) show(TensorRole::output, plan_[turn.task], operands.output);
  } else {
    kernel(task).run(phase, operands);
  }
  if (loss != nullptr && !backend_.is_asynchronous()) check_finite(*loss);
}

// What the kernel finds, put together.
void TaskWork::show_before(const Task& task, const TaskProgram& bound, const Operands& operands) {
  if (task.phase == Phase::update) {
    show(TensorRole::parameter_gradients, task, bound.parameter_gradients);
  } else if (!bound.is_head) {
    return;
  } else if (task.phase == Phase::forward || task.phase == Phase::forward_statistics) {
    show(TensorRole::parameters, task, bound.parameters);
  } else {
    show(TensorRole::output_gradient, task, operands.output_gradient);
  }
}

void TaskWork::show(TensorRole role, const Task& task, const Region& region) {
  if (region.data == nullptr) return;
  std::vector<float> values(static_cast<std::size_t>(volume(region.box)));
  backend_.pack(values.data(), region, region.box);
  if (!executor_.options_.observer->see(role, task.layer, task.shard, values)) return;
  backend_.unpack(region, values.data(), region.box);
  backend_.finish();
}

void TaskWork::show(TensorRole role, const Task& task, BufferId id) {
  if (!id.valid()) return;
  const std::int64_t count = program_.buffers()[id()].values;
  std::vector<float> values = executor_.on_host(values_of(id), count);
  if (!executor_.options_.observer->see(role, task.layer, task.shard, values)) return;
  backend_.copy_values(values_of(id), values.data(), count);
  backend_.finish();
}

LossPart* TaskWork::loss_of(Turn turn) {
  const TaskProgram& task = program_[turn.task];
  const Layer& layer = *program_.kernels()[task.kernel].spec;
  if (plan_[turn.task].phase != Phase::forward) return nullptr;
  if (!is_loss(layer.op)) return nullptr;
  return &losses_[turn.step * loss_shards_ + loss_index_[task.kernel]];
}

void TaskWork::check_finite(const LossPart& part) {
  if (!std::isfinite(part.loss)) throw LossNotFinite(fmt::format("the loss is {}", part.loss));
}

void TaskWork::load(Turn turn) {
  if (is_wanted(turn.task)) load_inputs(program_[turn.task], turn.step);
}

void TaskWork::load_inputs(const TaskProgram& task, std::uint32_t step) {
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

void TaskWork::sum_gradient(const GradientSum& sum) {
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

void TaskWork::add_to_gradient(const TaskProgram& task) {
  for (BufferId sent : task.add_to_gradient) {
    backend_.add_values(values_of(task.parameter_gradients), values_of(sent),
                        program_.buffers()[sent()].values);
  }
}

void TaskWork::move(TaskId id) {
  const TaskProgram& task = program_[id];
  for (const Move& m : task.moves) {
    backend_.copy(region(m.to), region(m.from), m.box);
    count(id, volume(m.box));
  }
  if (!task.to_values.valid()) return;
  const std::int64_t values = program_.buffers()[task.to_values()].values;
  backend_.copy_values(values_of(task.to_values), values_of(task.from_values), values);
  count(id, values);
}

// Own part of the tensor, from everybody.
void TaskWork::reduce(TaskId id) {
  const GroupPart& group = program_[id].group;
  std::vector<const float*> parts;
  for (BufferId buffer : group.buffers) parts.push_back(values_of(buffer));
  const Interval own = group.part_of(group.own);
  backend_.combine(group.how, values_of(group.buffers[group.own]), parts, group.counts, own.begin,
                   own.end);
  const auto others = static_cast<std::int64_t>(parts.size() - 1);
  count(id, others * own.size());
}

void TaskWork::gather(TaskId id) {
  const GroupPart& group = program_[id].group;
  float* to = values_of(group.buffers[group.own]);
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    if (k == group.own) continue;
    const Interval part = group.part_of(k);
    backend_.copy_values(to + part.begin, values_of(group.buffers[k]) + part.begin, part.size());
    count(id, part.size());
  }
}

void TaskWork::count(TaskId id, std::int64_t values) {
  const WorkKind work = work_kind(plan_[id]);
  const bool of_an_edge = work == WorkKind::transfer;
  const std::int64_t size = element_bytes(of_an_edge ? plan_.dtype() : DType::fp32);
  moved_[of_an_edge ? 0 : work == WorkKind::sync ? 1 : 2] += values * size;
}

}  // namespace strata
