#include "exec/runtime/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <variant>

#include "exec/runtime/program_buffers.h"
#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/plan/work_kind.h"

namespace strata {

Interval GroupPart::part_of(std::size_t k) const {
  // Pairs stay together.
  const std::int64_t unit = how == Combination::sum ? 1 : 2;
  const auto participants = static_cast<std::int64_t>(buffers.size());
  const std::int64_t units = values / unit, at = static_cast<std::int64_t>(k);
  return {at * units / participants * unit, (at + 1) * units / participants * unit};
}

std::int64_t GroupPart::moved() const {
  const auto others = static_cast<std::int64_t>(buffers.size() - 1);
  const std::int64_t of_own = part_of(own).size();
  return others * of_own + values - of_own;
}

BufferId Program::parameters(LayerId layer, std::size_t shard) const {
  return parameters_[layer()][shard];
}

// Goes through the tasks of a plan and gives each its buffers.
class ProgramBinder {
 public:
  ProgramBinder(const Graph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), buffers_(graph, plan) {}

  Program run() && {
    program_.tasks_.resize(plan_.size());
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const TaskId id(i);
      TaskProgram& task = program_.tasks_[i];
      task.releases = buffers_.released()[i];
      switch (plan_[id].kind) {
        case TaskKind::compute:
          bind_compute(plan_[id], task);
          break;
        case TaskKind::transfer:
          bind_transfer(id, task);
          break;
        case TaskKind::collective:
        case TaskKind::reduce:
        case TaskKind::gather:
          bind_group(id, task);
          break;
        case TaskKind::join:
          break;
      }
    }
    keep_parameters();
    program_.buffers_ = std::move(buffers_).take();
    return std::move(program_);
  }

 private:
  void keep_parameters() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      auto& shards = program_.parameters_.emplace_back();
      for (std::size_t s = 0; s < plan_.placement(LayerId(i)).devices.size(); ++s) {
        shards.push_back(buffers_.parameters(LayerId(i), s));
      }
    }
  }

  // The first forward and the first backward phase of a shard put its operands together.
  bool is_head(const Task& task) {
    return heads_.insert({task.layer, task.shard, is_forward(task.phase)}).second;
  }

  void bind_compute(const Task& task, TaskProgram& result) {
    result.kernel = kernel_of(task);
    if (task.phase != Phase::update) bind_regions(task, result);
    result.parameters = buffers_.parameters(task.layer, task.shard);
    result.parameter_gradients = buffers_.parameter_gradients(task.layer, task.shard);
    const bool forward = is_forward(task.phase);
    result.statistics = buffers_.statistics(
        task.layer, forward ? Phase::forward_statistics : Phase::backward_statistics, task.shard);
    if (task.phase == Phase::update) return bind_update(task, result);
    if (!forward) result.output_gradient = buffers_.output_gradient(task.layer, task.shard);
    result.is_head = is_head(task);
    if (!result.is_head) return;
    forward ? gather_inputs(task, result) : gather_gradient(task, result);
  }

  // Only what the phase reads or writes: other buffers may have been given back.
  void bind_regions(const Task& task, TaskProgram& result) {
    const Op& op = graph_[task.layer].op;
    const bool forward = is_forward(task.phase);
    const bool reads_input = forward || backward_reads_input(op);
    for (std::size_t input = 0; input < graph_[task.layer].inputs.size(); ++input) {
      for (Slot slot : buffers_.inputs(task.layer, input, task.shard)) {
        result.inputs.push_back(reads_input ? slot : Slot{});
      }
      if (task.phase != Phase::backward_data) continue;
      for (Slot slot : buffers_.input_gradients(task.layer, input, task.shard)) {
        result.input_gradients.push_back(slot);
      }
    }
    const bool has_output = task.phase == Phase::forward || (!forward && backward_reads_output(op));
    if (has_output) result.output = buffers_.output(task.layer, task.shard);
  }

  // A server adds what arrived from the other replicas.
  void bind_update(const Task& task, TaskProgram& result) {
    const auto at = sent_.find({task.layer, task.shard});
    if (at != sent_.end()) result.add_to_gradient = at->second;
  }

  void gather_inputs(const Task& task, TaskProgram& result) {
    const Layer& layer = graph_[task.layer];
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
      if (earlier_reading(layer, input)) continue;
      const LayerId producer = layer.inputs[input];
      const std::vector<Slot> slots = buffers_.inputs(task.layer, input, task.shard);
      if (buffers_.is_network_input(producer)) {
        if (slots.front().valid()) result.network_inputs.push_back(slots.front().buffer);
        continue;
      }
      for (const NeededBox& needed : plan_.reads(task.layer, input)) {
        if (needed.consumer_shard != task.shard || !needed.local()) continue;
        const Slot from = buffers_.output(producer, needed.producer_shard);
        const Slot to = buffers_.holding(slots, needed.box);
        if (to != from) result.moves.push_back({from, to, needed.box});
      }
    }
  }

  void gather_gradient(const Task& task, TaskProgram& result) {
    const Slot to = buffers_.gathered_gradient(task.layer, task.shard);
    if (!to.valid()) return;
    GradientSum& sum = result.gradient;
    sum.to = to;
    const Box& whole = buffers_.box(to);
    sum.all_whole = true;
    std::int64_t covered = 0;
    for (const auto& [slot, box] : buffers_.gradient_parts(task.layer, task.shard)) {
      sum.all_whole = sum.all_whole && box == whole && buffers_.box(slot) == whole;
      covered += volume(box);
      sum.parts.push_back({slot, to, box});
    }
    sum.all_whole = sum.all_whole && !sum.parts.empty();
    sum.disjoint = covered == volume(whole) && pairwise_disjoint(sum.parts);
  }

  static bool pairwise_disjoint(const std::vector<Move>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!empty(intersect(parts[i].box, parts[j].box))) return false;
      }
    }
    return true;
  }

  void bind_transfer(TaskId id, TaskProgram& result) {
    const Task& task = plan_[id];
    const Transfer& transfer = plan_.transfers()[task.detail];
    if (task.phase == Phase::update) return bind_values(id, result);
    const LayerId producer = graph_[task.layer].inputs[transfer.input];
    for (const Piece& piece : plan_.pieces(transfer)) {
      Move move{{}, {}, piece.box};
      if (task.phase == Phase::forward) {
        move.from = buffers_.output(producer, buffers_.shard_on(producer, piece.from));
        move.to =
            buffers_.holding(buffers_.inputs(task.layer, transfer.input, task.shard), piece.box);
      } else {
        const std::size_t reader = buffers_.shard_on(task.layer, piece.from);
        move.from = buffers_.holding(buffers_.input_gradients(task.layer, transfer.input, reader),
                                     piece.box);
        move.to = {buffers_.arrived(id), static_cast<std::uint32_t>(result.moves.size())};
      }
      result.moves.push_back(move);
    }
  }

  // Gradients to a parameter server, parameters from it.
  void bind_values(TaskId id, TaskProgram& result) {
    const Task& task = plan_[id];
    const DeviceId from = plan_.pieces(plan_.transfers()[task.detail]).front().from;
    const std::size_t sender = buffers_.shard_on(task.layer, from);
    result.to_values = buffers_.arrived(id);
    if (result.to_values.valid()) {
      result.from_values = buffers_.parameter_gradients(task.layer, sender);
      sent_[{task.layer, task.shard}].push_back(result.to_values);
    } else {
      result.from_values = buffers_.parameters(task.layer, sender);
      result.to_values = buffers_.parameters(task.layer, task.shard);
    }
  }

  void bind_group(TaskId id, TaskProgram& result) {
    const Task& task = plan_[id];
    const Group& group = plan_.groups()[task.detail];
    GroupPart& part = result.group;
    const bool statistics = group.purpose == GroupPurpose::statistics;
    for (std::size_t k = 0; k < group.shards.size(); ++k) {
      const std::uint32_t shard = group.shards[k];
      if (shard == task.shard) part.own = k;
      part.buffers.push_back(statistics ? buffers_.statistics(task.layer, task.phase, shard)
                                        : buffers_.parameter_gradients(task.layer, shard));
      const Box box = buffers_.shard_box(task.layer, shard);
      part.counts.push_back(volume(box) / box[Dim::c].size());
    }
    part.values = buffers_.all()[part.buffers.front()()].values;
    if (!statistics || task.phase != Phase::forward_statistics) return;
    const Layer& layer = graph_[task.layer];
    part.how = strata::statistics(layer, buffers_.shard_box(task.layer, task.shard)).forward_by;
  }

  std::uint32_t kernel_of(const Task& task) {
    const auto [at, fresh] = kernels_.try_emplace({task.layer, task.shard}, 0);
    if (!fresh) return at->second;
    at->second = static_cast<std::uint32_t>(program_.kernels_.size());
    ProgramKernel kernel{task.device, {}, task.shard};
    kernel.spec.graph = &graph_;
    kernel.spec.layer = task.layer;
    kernel.spec.output = buffers_.shard_box(task.layer, task.shard);
    for (std::size_t input = 0; input < graph_[task.layer].inputs.size(); ++input) {
      auto& boxes = kernel.spec.inputs.emplace_back();
      for (Slot slot : buffers_.inputs(task.layer, input, task.shard)) {
        boxes.push_back(slot.valid() ? buffers_.box(slot) : Box{});
      }
    }
    program_.kernels_.push_back(std::move(kernel));
    return at->second;
  }

  const Graph& graph_;
  const Plan& plan_;
  ProgramBuffers buffers_;
  Program program_;
  std::map<std::pair<LayerId, std::uint32_t>, std::uint32_t> kernels_;
  std::map<std::pair<LayerId, std::uint32_t>, std::vector<BufferId>> sent_;
  std::set<std::tuple<LayerId, std::uint32_t, bool>> heads_;
};

Program bind(const Graph& graph, const Plan& plan) {
  if (!plan.runnable()) throw InternalError("a plan whose flows were put together can't be run");
  return ProgramBinder(graph, plan).run();
}

bool uses_copy_engines(const Plan& plan) {
  return std::any_of(plan.tasks().begin(), plan.tasks().end(), [](const Task& task) {
    return task.stream == Stream::links && task.kind != TaskKind::join;
  });
}

}  // namespace strata
