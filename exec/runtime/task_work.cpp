#include "exec/runtime/task_work.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "exec/runtime/not_finite.h"
#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/plan/task_title.h"
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
      users_(plan_.buffers().size()),
      moved_(3) {
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
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t number = executor.steps_done_ + step;
    add_batch(batch_of(number), number);
  }
  const std::size_t count = steps * losses_of_step();
  loss_memory_ = backend_.host_memory(static_cast<std::int64_t>(count * sizeof(LossPart)));
  losses_ = {static_cast<LossPart*>(loss_memory_.get()), count};
}

// Each round has its part of the labels.
void TaskWork::add_batch(Batch batch, std::uint64_t number) {
  const std::uint32_t rounds = plan_.rounds();
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const Layer& layer = graph_[LayerId(i)];
    if (!is_input(layer.op)) continue;
    const auto wanted = static_cast<std::size_t>(rounds * volume(layer.output));
    if (batch.inputs[input_ordinals_[i]].size() >= wanted) continue;
    throw InternalError("a batch has fewer samples than a step's rounds take");
  }
  const std::size_t labels = batch.labels.size() / rounds;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    contexts_.push_back({number, executor_.options_.learning_rate,
                         batch.labels.subspan(round * labels, labels), plan_.optimizer(),
                         executor_.options_.constants.value_or(traits(plan_.optimizer()).usual),
                         round, rounds});
  }
  batches_.push_back(std::move(batch));
}

StepContext TaskWork::context(std::uint32_t step) const {
  StepContext whole = contexts_[std::size_t{step} * plan_.rounds()];
  whole.labels = batches_[step].labels;
  return whole;
}

bool TaskWork::is_wanted(TaskId task) const {
  return executor_.options_.training || (is_forward(plan_[task].phase) && !plan_[task].again);
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
  return fmt::format("step {}: {}", context_of(turn).step, name_of(turn.task));
}

std::string TaskWork::name_of(TaskId id) const {
  const Task& task = plan_[id];
  if (task.kind == TaskKind::join) return fmt::format("layer {}: join", graph_[task.layer].name);
  const char* what = task.kind == TaskKind::compute    ? "shard"
                     : task.kind == TaskKind::transfer ? "transfer to shard"
                     : task.kind == TaskKind::gather   ? "gather from replicas, shard"
                                                       : "sum over replicas, shard";
  return fmt::format("layer {}: {}{}{}, {} {} on {}", graph_[task.layer].name, name(task.phase),
                     task.again ? " again" : "", round_text(plan_, task), what, task.shard,
                     backend_.device_name(task.device));
}

void TaskWork::explain(const LossNotFinite& error) const {
  const std::string first = first_not_finite(graph_, plan_, executor_.memory_, backend_);
  if (first.empty()) throw error;
  throw RunFailed(error.message() + "; first not finite: " + first);
}

Execution TaskWork::result(std::vector<Span> spans) const {
  Execution result;
  result.timeline = Timeline(plan_.size(), std::move(spans));
  for (std::size_t step = 0; step < steps_ && loss_shards_ > 0; ++step) {
    result.losses.push_back(0);
    result.correct.push_back(0);
    for (const LossPart& part : losses_.subspan(step * losses_of_step(), losses_of_step())) {
      result.losses.back() += part.loss;
      result.correct.back() += part.correct;
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
    users_[id()] = static_cast<std::uint32_t>(plan_.last_users(id).size());
  }
  return memory;
}

void TaskWork::let_go(TaskId id) {
  for (BufferId buffer : program_.releases(id)) {
    // Without training, some never are made.
    if (!executor_.holds(buffer) || executor_.memory_[buffer()] == nullptr) continue;
    if (--users_[buffer()] > 0) continue;
    release(buffer, executor_.memory_[buffer()]);
    executor_.memory_[buffer()] = nullptr;
  }
}

void TaskWork::release(BufferId id, void* memory) {
  backend_.release(plan_[id].device, memory);
}

Region TaskWork::region(View view) {
  const auto boxes = plan_.boxes(view.buffer);
  auto* data = static_cast<std::byte*>(ready(view.buffer));
  for (std::uint32_t k = 0; k < view.box; ++k) data += backend_.bytes(boxes[k]);
  return {data, boxes[view.box]};
}

float* TaskWork::values_of(BufferId id) {
  return id.valid() ? static_cast<float*>(ready(id)) : nullptr;
}

Kernel& TaskWork::kernel(TaskId id) {
  const std::size_t at = program_.kernel(plan_[id]);
  std::unique_ptr<Kernel>& kernel = executor_.kernels_[at];
  if (!kernel) {
    const ProgramKernel& bound = program_.kernels()[at];
    ShardSpec spec = bound.spec;
    spec.seed = executor_.options_.seed;
    spec.training = executor_.options_.training;
    kernel = backend_.make_kernel(bound.device, spec);
  }
  return *kernel;
}

Operand TaskWork::find(TaskId id, Role role) const {
  const auto operands = plan_.operands(id);
  const auto at = std::find_if(operands.begin(), operands.end(),
                               [&](const Operand& operand) { return operand.role == role; });
  return at == operands.end() ? Operand{} : *at;
}

// By input of the layer, as many as the kernel's spec has boxes; without data where the task has
// no such operand.
std::vector<Region> TaskWork::regions(TaskId id, Role role) {
  const auto operands = plan_.operands(id);
  auto next = std::find_if(operands.begin(), operands.end(),
                           [&](const Operand& operand) { return operand.role == role; });
  std::vector<Region> all;
  const ShardSpec& spec = program_.kernels()[program_.kernel(plan_[id])].spec;
  for (std::size_t input = 0; input < spec.inputs.size(); ++input) {
    const bool has = next != operands.end() && next->role == role && next->input == input;
    for (std::uint32_t k = 0; k < spec.inputs[input].size(); ++k) {
      all.push_back(has ? region({next->buffer, k}) : Region{});
    }
    if (has) ++next;
  }
  return all;
}

void TaskWork::compute(Turn turn) {
  const TaskId id = turn.task;
  const Phase phase = plan_[id].phase;
  load_inputs(turn);
  put_together(turn);
  if (is_sum(phase)) return show_sum(id);
  if (phase == Phase::update && find(id, Role::parameters).values > 0) return update_interval(turn);

  std::vector<Region> inputs, input_gradients;
  if (phase != Phase::update) inputs = regions(id, Role::input);
  if (phase == Phase::backward_data) input_gradients = regions(id, Role::input_gradient);
  const auto tensor = [&](Role role) {
    const BufferId buffer = find(id, role).buffer;
    return buffer.valid() ? region({buffer}) : Region{};
  };
  const auto values = [&](Role role) -> float* {
    const Operand operand = find(id, role);
    return operand.buffer.valid() ? values_of(operand.buffer) + operand.first : nullptr;
  };
  LossPart* const loss = loss_of(turn);
  Operands operands;
  operands.inputs = inputs;
  operands.output = tensor(Role::output);
  operands.output_gradient = tensor(Role::output_gradient);
  operands.input_gradients = input_gradients;
  operands.parameters = values(Role::parameters);
  operands.parameter_gradients = values(Role::parameter_gradients);
  const auto adds = [&](Role role) { return find(id, role).access == Access::update; };
  operands.adds_input_gradients = adds(Role::input_gradient);
  operands.adds_parameter_gradients = phase != Phase::update && adds(Role::parameter_gradients);
  operands.optimizer_state = values(Role::optimizer_state);
  operands.statistics = values(Role::statistics);
  if (const BufferId saved = find(id, Role::saved).buffer; saved.valid()) {
    operands.saved = ready(saved);
  }
  operands.loss = loss;
  operands.step = &context_of(turn);
  if (phase == Phase::update && executor_.options_.keep_gradients && turn.step + 1 == steps_) {
    executor_.keep_gradient(plan_[id], operands.parameter_gradients);
  }
  if (executor_.options_.observer != nullptr) {
    show_before(id, operands);
    kernel(id).run(phase, operands);
    const LayerId layer = plan_[id].layer;
    const bool whole = plan_.placement(layer).degrees.r == 1 ||
                       graph_[layer].reduction == 1;  // else parts of sums
    if (phase == Phase::forward && whole && !plan_[id].again) {
      show(TensorRole::output, plan_[id], operands.output);
    }
  } else {
    kernel(id).run(phase, operands);
  }
  if (loss != nullptr && !backend_.is_asynchronous()) check_finite(*loss);
}

void TaskWork::update_interval(Turn turn) {
  const auto values = [&](Role role) -> float* {
    const Operand operand = find(turn.task, role);
    return operand.buffer.valid() ? values_of(operand.buffer) + operand.first : nullptr;
  };
  Operands operands;
  operands.parameters = values(Role::parameters);
  operands.parameter_gradients = values(Role::parameter_gradients);
  operands.optimizer_state = values(Role::optimizer_state);
  operands.step = &context_of(turn);
  if (executor_.options_.keep_gradients && turn.step + 1 == steps_) {
    executor_.keep_interval(turn.task, operands.parameter_gradients);
  }
  backend_.update(operands, find(turn.task, Role::parameters).values);
}

// What the kernel finds, put together.
void TaskWork::show_before(TaskId id, const Operands& operands) {
  const Task& task = plan_[id];
  if (task.phase == Phase::update) {
    // A parameter server may be a device that has a copy of the weight, not its owner.
    const HeldShard owner = owner_of_weight(graph_, plan_, {task.layer, task.shard});
    show_values(TensorRole::parameter_gradients, owner, operands.parameter_gradients);
  } else if (!program_.is_head(id) || task.again) {
    return;
  } else if (is_forward(task.phase)) {
    if (task.round > 0) return;  // the same parameters
    // The first task may be of statistics, which reads none.
    const std::span<const ParameterPart> parts = program_.parameters(task.layer, task.shard);
    if (parts.size() == 1) {
      const ParameterPart& all = parts.front();
      show_values(TensorRole::parameters, {task.layer, task.shard},
                  values_of(all.buffer) + all.first);
    }
  } else {
    show(TensorRole::output_gradient, task, operands.output_gradient);
  }
}

void TaskWork::show_sum(TaskId id) {
  const Task& task = plan_[id];
  if (executor_.options_.observer == nullptr || task.phase != Phase::forward_sum) return;
  if (task.again) return;
  show(TensorRole::output, task, region({find(id, Role::output).buffer}));
}

void TaskWork::show(TensorRole role, const Task& task, const Region& region) {
  if (region.data == nullptr) return;
  std::vector<float> values(static_cast<std::size_t>(volume(region.box)));
  backend_.pack(values.data(), region, region.box);
  const TensorKey tensor{role, task.layer, task.round};
  if (!executor_.options_.observer->see(tensor, task.shard, values)) return;
  backend_.unpack(region, values.data(), region.box);
  backend_.finish();
}

// As many values as the shard has parameters.
void TaskWork::show_values(TensorRole role, HeldShard of, float* values) {
  const Layer& layer = graph_[of.layer];
  const Tile shard = partition(layer, plan_.placement(of.layer).degrees).tile(of.shard);
  const std::int64_t count = shard_parameters(layer, shard).total();
  std::vector<float> seen = executor_.on_host(values, count);
  if (!executor_.options_.observer->see({role, of.layer}, of.shard, seen)) return;
  backend_.copy_values(values, seen.data(), count);
  backend_.finish();
}

LossPart* TaskWork::loss_of(Turn turn) {
  const Task& task = plan_[turn.task];
  if (task.phase != Phase::forward || !is_loss(graph_[task.layer].op)) return nullptr;
  const std::size_t of_rounds = turn.step * losses_of_step() + task.round * loss_shards_;
  return &losses_[of_rounds + loss_index_[program_.kernel(task)]];
}

void TaskWork::check_finite(const LossPart& part) {
  if (!std::isfinite(part.loss)) throw LossNotFinite(fmt::format("the loss is {}", part.loss));
}

void TaskWork::load(Turn turn) {
  if (is_wanted(turn.task)) load_inputs(turn);
}

void TaskWork::load_inputs(Turn turn) {
  const Batch& batch = batches_[turn.step];
  const std::uint32_t round = plan_[turn.task].round;
  const std::uint64_t part = 1 + batch.number * plan_.rounds() + round;
  for (BufferId data : program_.data(turn.task)) {
    if (executor_.loaded_[data()] == part) continue;
    const Buffer& buffer = plan_[data];
    const LayerId source = graph_[buffer.layer].inputs[buffer.input];
    const float* const values =
        batch.inputs[input_ordinals_[source()]].data() + round * volume(graph_[source].output);
    for (std::uint32_t k = 0; k < plan_.boxes(data).size(); ++k) {
      backend_.load(region({data, k}), values, graph_[source].output);
    }
    executor_.loaded_[data()] = part;
  }
}

// What a shard gathers from its own device, the parts of its output's gradient, what replicas sent
// to a server.
void TaskWork::put_together(Turn turn) {
  const TaskId id = turn.task;
  const Phase phase = plan_[id].phase;
  std::span<const Piece> pieces = plan_.moves(id);
  if (program_.parts_sum(id) != PartsSum::none) {
    sum_parts(id);
    pieces = pieces.subspan(program_.parts(id).size());
  }
  for (const Piece& piece : pieces) {
    if (phase == Phase::update) {
      backend_.add_values(values_of(piece.target.buffer), values_of(piece.source.buffer),
                          plan_[piece.source.buffer].values);
    } else {
      backend_.copy(region(piece.target), region(piece.source), plan_.box(piece));
    }
  }
}

void TaskWork::sum_parts(TaskId id) {
  const Region to = region({find(id, summed_role(plan_[id].phase)).buffer});
  const PartsSum how = program_.parts_sum(id);
  const auto parts = program_.parts(id);
  if (how == PartsSum::whole) {
    std::vector<Region> from;
    for (const Piece& part : parts) from.push_back(region(part.source));
    return backend_.sum(to, from);
  }
  if (how == PartsSum::overlapping) backend_.clear(to);
  for (const Piece& part : parts) {
    const bool first = how == PartsSum::covering && &part == &parts.front();
    const Box& box = plan_.box(part);
    first || how == PartsSum::disjoint ? backend_.copy(to, region(part.source), box)
                                       : backend_.add(to, region(part.source), box);
  }
}

void TaskWork::move(TaskId id) {
  for (const Piece& piece : plan_.moves(id)) {
    if (moves_values(piece)) {
      const std::int64_t values = plan_[piece.target.buffer].values;
      backend_.copy_values(values_of(piece.target.buffer), values_of(piece.source.buffer), values);
    } else {
      backend_.copy(region(piece.target), region(piece.source), plan_.box(piece));
    }
    count(id, values_in(plan_, piece));
  }
}

// Own part of the tensor, from everybody.
void TaskWork::reduce(TaskId id) {
  const Group& group = plan_.groups()[plan_[id].detail];
  const std::size_t me = group.participant(id);
  const Interval own = group.part_of(me);
  if (own.empty()) return;
  std::vector<const float*> parts;
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    parts.push_back(brought(group, k) + own.begin);
  }
  float* const to =
      group.results.empty() ? brought(group, me) + own.begin : values_of(group.results[me]);
  const auto others = static_cast<std::int64_t>(parts.size() - 1);
  if (group.adds) parts.push_back(to);
  backend_.combine(group.how, to, parts, group.counts, 0, own.size());
  count(id, others * own.size());
}

void TaskWork::gather(TaskId id) {
  const Group& group = plan_.groups()[plan_[id].detail];
  const std::size_t me = group.participant(id);
  const bool parts = group.brings_parts();
  float* to = parts ? values_of(group.results[me]) : brought(group, me);
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    const Interval part = group.part_of(k);
    if ((k == me && !parts) || part.empty()) continue;
    const float* from = brought(group, k);
    backend_.copy_values(to + part.begin, parts ? from : from + part.begin, part.size());
    if (k != me) count(id, part.size());
  }
}

void TaskWork::count(TaskId id, std::int64_t values) {
  const WorkKind work = work_kind(plan_[id]);
  const bool of_an_edge = work == WorkKind::transfer;
  const std::int64_t size = element_bytes(of_an_edge ? plan_.dtype() : DType::fp32);
  moved_[of_an_edge ? 0 : work == WorkKind::sync ? 1 : 2] += values * size;
}

}  // namespace strata
