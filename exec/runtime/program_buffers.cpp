#include "exec/runtime/program_buffers.h"

#include <algorithm>
#include <cassert>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/assembly.h"

namespace strata {
namespace {

std::span<const NeededBox> boxes_of_shard(std::span<const NeededBox> reads, std::size_t shard) {
  const auto less = [](const NeededBox& b, std::size_t s) { return b.consumer_shard < s; };
  const auto greater = [](std::size_t s, const NeededBox& b) { return s < b.consumer_shard; };
  const auto first = std::lower_bound(reads.begin(), reads.end(), shard, less);
  return {first, std::upper_bound(first, reads.end(), shard, greater)};
}

}  // namespace

ProgramBuffers::ProgramBuffers(const Graph& graph, const Plan& plan)
    : graph_(graph),
      plan_(plan),
      requires_gradient_(requires_gradient(graph)),
      released_(plan.size()) {
  for (const Buffer& buffer : plan.buffers()) add(buffer);
  add_statistics();
  index_returns();
}

void ProgramBuffers::add(const Buffer& buffer) {
  if (buffer.kind == BufferKind::mask) return;  // the kernel's own
  const BufferId id(buffers_.size());
  ProgramBuffer result{buffer.device, buffer.kind, buffer.layer, {}, {}, 0, false, 0};
  describe(buffer, result);
  if (!result.lasting) {
    std::vector<TaskId> users = buffer.users;
    if (users.empty()) users.push_back(buffer.first);
    result.users = static_cast<std::uint32_t>(users.size());
    for (TaskId user : users) released_[user()].push_back(id);
  }
  buffers_.push_back(std::move(result));
  const bool arrives =
      buffer.kind == BufferKind::received_gradient || buffer.kind == BufferKind::server_gradients;
  if (arrives) {
    arrived_[buffer.first] = id;
  } else {
    by_key_[{buffer.kind, buffer.layer, buffer.shard, buffer.input}] = id;
  }
}

// Sizes and boxes by what the buffer is for; the plan's bytes know nothing of blocks of channels.
void ProgramBuffers::describe(const Buffer& buffer, ProgramBuffer& result) const {
  switch (buffer.kind) {
    case BufferKind::parameters:
    case BufferKind::parameter_gradients:
    case BufferKind::server_gradients:
      result.values =
          shard_parameters(graph_[buffer.layer], shard_box(buffer.layer, buffer.shard)).total();
      result.lasting = buffer.kind == BufferKind::parameters;
      return;
    case BufferKind::activation:
    case BufferKind::gathered_gradient:
      result.boxes = {shard_box(buffer.layer, buffer.shard)};
      return;
    case BufferKind::input:
      result.boxes =
          needed_input(graph_, buffer.layer, buffer.input, shard_box(buffer.layer, buffer.shard));
      if (is_network_input(graph_[buffer.layer].inputs[buffer.input])) {
        result.network_input = graph_[buffer.layer].inputs[buffer.input];
        result.lasting = true;
      }
      return;
    case BufferKind::activation_gradient: {
      const NeededBox* lies = lies_at(buffer.layer, buffer.input, buffer.shard);
      const LayerId producer = graph_[buffer.layer].inputs[buffer.input];
      if (lies != nullptr) {
        result.boxes = {shard_box(producer, lies->producer_shard)};
      } else {
        result.boxes =
            needed_input(graph_, buffer.layer, buffer.input, shard_box(buffer.layer, buffer.shard));
      }
      return;
    }
    case BufferKind::received_gradient:
      for (const Piece& piece : plan_.pieces(plan_.transfers()[plan_[buffer.first].detail])) {
        result.boxes.push_back(piece.box);
      }
      return;
    case BufferKind::mask:
      return;
  }
}

void ProgramBuffers::add_statistics() {
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId layer(i);
    const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
    for (Phase phase : {Phase::forward_statistics, Phase::backward_statistics}) {
      if (!phases[phase]) continue;
      for (std::size_t shard = 0; shard < plan_.placement(layer).devices.size(); ++shard) {
        const Statistics sizes = strata::statistics(graph_[layer], shard_box(layer, shard));
        const bool forward = phase == Phase::forward_statistics;
        statistics_[{layer, phase, shard}] = BufferId(buffers_.size());
        buffers_.push_back({device(layer, shard),
                            BufferKind::mask,
                            layer,
                            {},
                            {},
                            forward ? sizes.forward_values : sizes.backward_values,
                            true,
                            0});
      }
    }
  }
}

void ProgramBuffers::index_returns() {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Task& task = plan_[TaskId(i)];
    if (task.kind != TaskKind::transfer || task.phase != Phase::backward_data) continue;
    const Transfer& transfer = plan_.transfers()[task.detail];
    const DeviceId from = plan_.pieces(transfer).front().from;
    returns_[{task.layer, transfer.input, from, task.shard}] = TaskId(i);
  }
}

// The place of a box among those that a reader on another device gives back.
Slot ProgramBuffers::received(LayerId reader, std::size_t input, const NeededBox& needed) const {
  const TaskId transfer = returns_.at(
      {reader, static_cast<std::uint32_t>(input), needed.reader, needed.producer_shard});
  return holding(slots_of(arrived(transfer)), needed.box);
}

Box ProgramBuffers::shard_box(LayerId layer, std::size_t shard) const {
  return Partition(graph_[layer].output, plan_.placement(layer).degrees)
      .box(static_cast<std::int64_t>(shard));
}

std::size_t ProgramBuffers::shard_on(LayerId layer, DeviceId device) const {
  const auto& devices = plan_.placement(layer).devices;
  const auto at = std::find(devices.begin(), devices.end(), device);
  assert(at != devices.end());
  return static_cast<std::size_t>(at - devices.begin());
}

bool ProgramBuffers::is_network_input(LayerId layer) const {
  return strata::is_input(graph_[layer].op);
}

BufferId ProgramBuffers::find(BufferKind kind, LayerId layer, std::size_t shard,
                              std::size_t input) const {
  const auto at = by_key_.find(
      {kind, layer, static_cast<std::uint32_t>(shard), static_cast<std::uint32_t>(input)});
  return at == by_key_.end() ? BufferId{} : at->second;
}

std::vector<Slot> ProgramBuffers::slots_of(BufferId buffer) const {
  if (!buffer.valid()) return {Slot{}};
  std::vector<Slot> slots;
  for (std::size_t k = 0; k < buffers_[buffer()].boxes.size(); ++k) {
    slots.push_back({buffer, static_cast<std::uint32_t>(k)});
  }
  return slots;
}

// The one box that the shard reads as it lies in its producer's memory, if so.
const NeededBox* ProgramBuffers::lies_at(LayerId layer, std::size_t input,
                                         std::size_t shard) const {
  const auto boxes = boxes_of_shard(plan_.reads(layer, input), shard);
  if (boxes.size() != 1 || !boxes.front().local()) return nullptr;
  const Box owned = shard_box(graph_[layer].inputs[input], boxes.front().producer_shard);
  return reads_as_it_lies(access_map(graph_, layer, input), boxes.front().box, owned)
             ? &boxes.front()
             : nullptr;
}

Slot ProgramBuffers::output(LayerId layer, std::size_t shard) const {
  while (plan_.in_place(layer)) {
    shard = boxes_of_shard(plan_.reads(layer, 0), shard).front().producer_shard;
    layer = graph_[layer].inputs.front();
  }
  return {find(BufferKind::activation, layer, shard), 0};
}

std::vector<Slot> ProgramBuffers::inputs(LayerId layer, std::size_t input,
                                         std::size_t shard) const {
  if (const auto earlier = earlier_reading(graph_[layer], input)) input = *earlier;
  const LayerId producer = graph_[layer].inputs[input];
  if (!is_network_input(producer)) {
    const NeededBox* lies = lies_at(layer, input, shard);
    if (lies != nullptr) return {output(producer, lies->producer_shard)};
  }
  return slots_of(find(BufferKind::input, layer, shard, input));
}

std::vector<Slot> ProgramBuffers::input_gradients(LayerId layer, std::size_t input,
                                                  std::size_t shard) const {
  const std::size_t regions = inputs(layer, input, shard).size();
  const LayerId producer = graph_[layer].inputs[input];
  const bool wanted = requires_gradient_[layer()] && requires_gradient_[producer()] &&
                      !earlier_reading(graph_[layer], input);
  if (!wanted) return std::vector<Slot>(regions);
  if (plan_.in_place(layer)) return {output_gradient(layer, shard)};
  return slots_of(find(BufferKind::activation_gradient, layer, shard, input));
}

std::vector<LayerId> ProgramBuffers::readers(LayerId layer) const {
  const auto consumers = graph_.consumers(layer);
  std::vector<LayerId> result(consumers.begin(), consumers.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::pair<Slot, Box>> ProgramBuffers::gradient_parts(LayerId layer,
                                                                 std::size_t shard) const {
  std::vector<std::pair<Slot, Box>> parts;
  for (LayerId reader : readers(layer)) {
    if (!requires_gradient_[reader()]) continue;
    for (std::size_t input = 0; input < graph_[reader].inputs.size(); ++input) {
      if (graph_[reader].inputs[input] != layer || earlier_reading(graph_[reader], input)) continue;
      for (const NeededBox& needed : plan_.reads(reader, input)) {
        if (needed.producer_shard != shard) continue;
        if (needed.local()) {
          const auto slots = input_gradients(reader, input, needed.consumer_shard);
          parts.emplace_back(holding(slots, needed.box), needed.box);
        } else {
          parts.emplace_back(received(reader, input, needed), needed.box);
        }
      }
    }
  }
  return parts;
}

Slot ProgramBuffers::holding(const std::vector<Slot>& slots, const Box& box) const {
  for (Slot slot : slots) {
    if (slot.valid() && intersect(this->box(slot), box) == box) return slot;
  }
  assert(false && "no buffer holds the box");
  return {};
}

Slot ProgramBuffers::output_gradient(LayerId layer, std::size_t shard) const {
  if (!requires_gradient_[layer()] || graph_.consumers(layer).empty()) return {};
  const Slot gathered = gathered_gradient(layer, shard);
  if (gathered.valid()) return gathered;
  return gradient_parts(layer, shard).front().first;
}

Slot ProgramBuffers::gathered_gradient(LayerId layer, std::size_t shard) const {
  return {find(BufferKind::gathered_gradient, layer, shard), 0};
}

BufferId ProgramBuffers::parameters(LayerId layer, std::size_t shard) const {
  return find(BufferKind::parameters, layer, shard);
}

BufferId ProgramBuffers::parameter_gradients(LayerId layer, std::size_t shard) const {
  return find(BufferKind::parameter_gradients, layer, shard);
}

BufferId ProgramBuffers::statistics(LayerId layer, Phase phase, std::size_t shard) const {
  const auto at = statistics_.find({layer, phase, shard});
  return at == statistics_.end() ? BufferId{} : at->second;
}

BufferId ProgramBuffers::arrived(TaskId transfer) const {
  const auto at = arrived_.find(transfer);
  return at == arrived_.end() ? BufferId{} : at->second;
}

}  // namespace strata
