#include "exec/runtime/program.h"

#include <algorithm>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

bool pairwise_disjoint(const Plan& plan, std::span<const Piece> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!empty(intersect(plan.box(parts[i]), plan.box(parts[j])))) return false;
    }
  }
  return true;
}

}  // namespace

Program::Program(const Graph& graph, const Plan& plan)
    : graph_(graph), plan_(plan), is_head_(plan.size()), sums_(plan.size()) {
  if (!plan.runnable()) {
    throw InternalError("a plan with joined transfers or classes of devices can't be run");
  }
  if (!plan.products().empty()) {
    throw InternalError("a plan with merged products can't be run: layers are computed apart");
  }
  add_kernels();
  find_heads();
  find_releases();
}

void Program::find_heads() {
  enum Pass : std::size_t { forward, again, backward, passes };
  std::vector<bool> seen(passes * plan_.rounds() * kernels_.size());
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const TaskId id(i);
    const Task& task = plan_[id];
    if (task.kind != TaskKind::compute || task.phase == Phase::update) continue;
    if (is_sum(task.phase)) {
      sums_[i] = find_sum(id);
      continue;
    }
    const Pass pass = !is_forward(task.phase) ? backward : task.again ? again : forward;
    const std::size_t at = (pass * plan_.rounds() + task.round) * kernels_.size() + kernel(task);
    is_head_[i] = !seen[at];
    seen[at] = true;
    if (task.phase == Phase::forward) add_kernel(id);
    if (is_head_[i] && pass == backward) sums_[i] = find_sum(id);
  }
}

void Program::add_kernels() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    first_kernel_.push_back(count);
    if (!is_input(graph_[LayerId(i)].op)) count += plan_.placement(LayerId(i)).devices.size();
  }
  kernels_.resize(count);
  parameters_.resize(count);
}

// What each forward task of the shard says, whatever its round.
void Program::add_kernel(TaskId forward) {
  const Task& task = plan_[forward];
  ProgramKernel& added = kernels_[kernel(task)];
  if (added.spec.graph != nullptr) return;  // all rounds say the same
  added.device = task.device;
  added.shard = task.shard;
  added.spec.graph = &graph_;
  added.spec.layer = task.layer;
  added.spec.output =
      partition(graph_[task.layer], plan_.placement(task.layer).degrees).tile(task.shard);
  added.spec.inputs.assign(graph_[task.layer].inputs.size(), {Box{}});
  for (const Operand& operand : plan_.operands(forward)) {
    if (operand.role == Role::parameters) {
      parameters_[kernel(task)] = find_parameters(task, operand);
    }
    if (operand.role != Role::input) continue;
    const auto boxes = plan_.boxes(operand.buffer);
    added.spec.inputs[operand.input].assign(boxes.begin(), boxes.end());
  }
}

PartsSum Program::find_sum(TaskId task) const {
  const BufferId sum = summed(task);
  if (!sum.valid()) return PartsSum::none;
  // A layer that works in place hands the gradient on in the same buffer.
  const Buffer& buffer = plan_[sum];
  const bool gathers =
      buffer.kind == BufferKind::gathered_gradient && buffer.layer == plan_[task].layer;
  if (!gathers && !is_sum(plan_[task].phase)) return PartsSum::none;
  const Box& whole = plan_.boxes(sum).front();
  const auto parts = this->parts(task);
  const auto covers = [&](const Piece& part) { return plan_.box(part) == whole; };
  if (!parts.empty() && std::all_of(parts.begin(), parts.end(), covers)) {
    const bool alike = std::all_of(parts.begin(), parts.end(), [&](const Piece& part) {
      return plan_.box(part.source) == whole;
    });
    return alike ? PartsSum::whole : PartsSum::covering;
  }
  std::int64_t covered = 0;
  for (const Piece& part : parts) covered += volume(plan_.box(part));
  return covered == volume(whole) && pairwise_disjoint(plan_, parts) ? PartsSum::disjoint
                                                                     : PartsSum::overlapping;
}

BufferId Program::summed(TaskId task) const {
  const Role role = summed_role(plan_[task].phase);
  const auto operands = plan_.operands(task);
  const auto sum = std::find_if(operands.begin(), operands.end(),
                                [&](const Operand& operand) { return operand.role == role; });
  return sum == operands.end() ? BufferId{} : sum->buffer;
}

std::span<const Piece> Program::parts(TaskId task) const {
  const std::span<const Piece> moves = plan_.moves(task);
  const auto other = std::find_if(moves.begin(), moves.end(), [&](const Piece& piece) {
    return piece.target.buffer != summed(task);
  });
  return {moves.begin(), other};
}

// What the plan has by buffer, by task.
void Program::find_releases() {
  release_ends_.resize(plan_.size() + 1);
  const auto for_all = [this](auto visit) {
    for (std::size_t i = 0; i < plan_.buffers().size(); ++i) {
      if (stays(BufferId(i))) continue;
      for (TaskId task : plan_.last_users(BufferId(i))) visit(task, BufferId(i));
    }
  };
  for_all([this](TaskId task, BufferId) { ++release_ends_[task() + 1]; });
  for (std::size_t i = 1; i < release_ends_.size(); ++i) release_ends_[i] += release_ends_[i - 1];
  releases_.resize(release_ends_.back());
  std::vector<std::uint32_t> next(release_ends_.begin(), release_ends_.end() - 1);
  for_all([&](TaskId task, BufferId buffer) { releases_[next[task()]++] = buffer; });
}

std::vector<BufferId> Program::data(TaskId task) const {
  std::vector<BufferId> buffers;
  if (!is_head(task) || !is_forward(plan_[task].phase)) return buffers;
  for (const Operand& operand : plan_.operands(task)) {
    if (plan_[operand.buffer].kind == BufferKind::data) buffers.push_back(operand.buffer);
  }
  return buffers;
}

std::vector<ParameterPart> Program::find_parameters(const Task& forward,
                                                    const Operand& operand) const {
  const Layer& layer = graph_[forward.layer];
  const Tile tile = partition(layer, plan_.placement(forward.layer).degrees).tile(forward.shard);
  const std::int64_t count = shard_parameters(layer, tile).total();
  if (plan_[operand.buffer].lasts()) return {{operand.buffer, operand.first, {0, count}}};
  // Of a bucket that was gathered: everybody's interval.
  std::vector<ParameterPart> parts;
  for (const Group& group : plan_.groups()) {
    if (!group.brings_parts()) continue;
    if (std::find(group.results.begin(), group.results.end(), operand.buffer) ==
        group.results.end()) {
      continue;
    }
    for (std::size_t k = 0; k < group.buffers.size(); ++k) {
      const Interval held = group.part_of(k);
      const Interval own = intersect(held, {operand.first, operand.first + count});
      if (own.empty()) continue;
      parts.push_back({group.buffers[k],
                       own.begin - held.begin,
                       {own.begin - operand.first, own.end - operand.first}});
    }
    break;
  }
  return parts;
}

std::span<const ParameterPart> Program::parameters(LayerId layer, std::size_t shard) const {
  if (is_input(graph_[layer].op)) return {};
  return parameters_[first_kernel_[layer()] + shard];
}

std::vector<Program::UpdatedPart> Program::updated(TaskId update) const {
  std::vector<UpdatedPart> parts;
  for (const Group& group : plan_.groups()) {
    const auto at = std::find(group.updates.begin(), group.updates.end(), update);
    if (at == group.updates.end()) continue;
    const Interval held = group.part_of(static_cast<std::size_t>(at - group.updates.begin()));
    for (const SummedLayer& summed : group.layers) {
      const HeldShard here = weight_on(graph_, plan_, summed.layer, plan_[update].device);
      const std::int64_t first = summed.first;
      const Layer& layer = graph_[here.layer];
      const Tile tile = partition(layer, plan_.placement(here.layer).degrees).tile(here.shard);
      const Interval own = intersect(held, {first, first + shard_parameters(layer, tile).total()});
      if (own.empty()) continue;
      parts.push_back(
          {here.layer, here.shard, {own.begin - first, own.end - first}, own.begin - held.begin});
    }
    break;
  }
  return parts;
}

bool uses_copy_engines(const Plan& plan) {
  return std::any_of(plan.tasks().begin(), plan.tasks().end(), [](const Task& task) {
    return task.stream == Stream::links && task.kind != TaskKind::join;
  });
}

}  // namespace strata
