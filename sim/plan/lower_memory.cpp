// How long every tensor of a step lives on its device.
//
// What a framework keeps: an activation until the last backward that reads it; the halo or the
// gathered input of a shard that reads other devices' boxes; the gradient of what a shard read
// until its owner's backward. Activations and dropout work in place, flatten is a view. Kernels'
// workspaces are not counted.

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/plan/lowering.h"

namespace strata {
namespace {

template <class... Ops>
bool is_one_of(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

bool backward_reads_input(const Op& op) {
  return is_one_of<Convolution, FullyConnected, BatchNorm, LocalResponseNorm, Pooling,
                   AdaptivePooling>(op);
}

bool backward_reads_output(const Op& op) {
  return is_one_of<Activation, Dropout, LocalResponseNorm, Pooling, SoftmaxCrossEntropy>(op);
}

void append(std::vector<TaskId>& all, const std::vector<TaskId>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::span<const NeededBox> boxes_of_shard(const Edge& edge, std::size_t shard) {
  const auto less = [](const NeededBox& b, std::size_t s) { return b.consumer_shard < s; };
  const auto greater = [](std::size_t s, const NeededBox& b) { return s < b.consumer_shard; };
  const auto first = std::lower_bound(edge.boxes.begin(), edge.boxes.end(), shard, less);
  const auto last = std::upper_bound(first, edge.boxes.end(), shard, greater);
  return {first, last};
}

std::int64_t volume_of(std::span<const NeededBox> boxes) {
  std::int64_t sum = 0;
  for (const NeededBox& needed : boxes) sum += volume(needed.box);
  return sum;
}

}  // namespace

// Works on its producer's buffer: nothing else reads that, and it lies on the same devices.
bool Lowering::in_place(LayerId layer) const {
  const Layer& l = graph_[layer];
  if (!is_elementwise(l.op) && !std::holds_alternative<Flatten>(l.op)) return false;
  const LayerId producer = l.inputs.front();
  if (is_input(producer) || graph_.consumers(producer).size() != 1) return false;
  const auto& boxes = edges_[layer()].front().boxes;
  return std::all_of(boxes.begin(), boxes.end(), [](const NeededBox& b) { return b.local(); });
}

bool Lowering::reads_elsewhere(LayerId layer, std::size_t input, std::size_t shard) const {
  const auto boxes = boxes_of_shard(edges_[layer()][input], shard);
  return std::any_of(boxes.begin(), boxes.end(), [](const NeededBox& b) { return !b.local(); });
}

void Lowering::add_backward(LayerId layer, std::size_t shard, std::vector<TaskId>& users) const {
  const LayerTasks& tasks = tasks_[layer()];
  for (const auto* phase :
       {&tasks.backward_statistics, &tasks.backward_data, &tasks.backward_weights}) {
    if (!phase->empty()) users.push_back((*phase)[shard]);
  }
}

// Everything that reads the output of each shard on its own device.
std::vector<std::vector<TaskId>> Lowering::users_by_shard(LayerId layer) const {
  std::vector<std::vector<TaskId>> users(shard_count(layer));
  for (std::size_t shard = 0; shard < users.size(); ++shard) {
    users[shard].push_back(tasks_[layer()].forward[shard]);
    if (backward_reads_output(graph_[layer].op)) add_backward(layer, shard, users[shard]);
  }
  std::vector<LayerId> consumers(graph_.consumers(layer).begin(), graph_.consumers(layer).end());
  consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  for (LayerId consumer : consumers) {
    for (std::size_t input = 0; input < graph_[consumer].inputs.size(); ++input) {
      if (graph_[consumer].inputs[input] == layer) add_readers(consumer, input, users);
    }
  }
  return users;
}

void Lowering::add_readers(LayerId consumer, std::size_t input,
                           std::vector<std::vector<TaskId>>& users) const {
  const Edge& edge = edges_[consumer()][input];
  const bool keeps_input = backward_reads_input(graph_[consumer].op);
  std::vector<std::vector<TaskId>> passed_on;
  if (in_place(consumer)) passed_on = users_by_shard(consumer);
  for (const NeededBox& needed : edge.boxes) {
    std::vector<TaskId>& list = users[needed.producer_shard];
    const std::size_t reader = needed.consumer_shard;
    if (!needed.local()) {
      append(list, edge.arrivals[reader]);
    } else if (!passed_on.empty()) {
      append(list, passed_on[reader]);
    } else {
      list.push_back(tasks_[consumer()].forward[reader]);
      if (keeps_input && !reads_elsewhere(consumer, input, reader)) {
        add_backward(consumer, reader, list);
      }
    }
  }
}

void Lowering::place_parameters(LayerId layer) {
  const Layer& l = graph_[layer];
  const LayerTasks& tasks = tasks_[layer()];
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    const Bytes bytes = bytes_of(shard_parameters(l, shard_box(layer, shard)).total());
    const DeviceId device = device_of(layer, shard);
    builder_.add_buffer({device, bytes, BufferKind::parameters, layer, {}, {}});
    builder_.add_buffer({device,
                         bytes,
                         BufferKind::parameter_gradients,
                         layer,
                         tasks.parameter_gradient(shard),
                         {tasks.update[shard]}});
  }
}

void Lowering::place_activations(LayerId layer) {
  if (in_place(layer)) return;
  std::vector<std::vector<TaskId>> users = users_by_shard(layer);
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    builder_.add_buffer({device_of(layer, shard), bytes_of(volume(shard_box(layer, shard))),
                         BufferKind::activation, layer, tasks_[layer()].forward[shard],
                         std::move(users[shard])});
  }
}

// What a shard gathers: the network's input, or boxes of which some come from other devices.
void Lowering::place_inputs(LayerId layer, std::size_t input) {
  const bool from_network = is_input(graph_[layer].inputs[input]);
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    if (!from_network && !reads_elsewhere(layer, input, shard)) continue;
    std::int64_t elements = 0;
    for (const Box& box : needed_input(graph_, layer, input, shard_box(layer, shard))) {
      elements += volume(box);
    }
    if (elements == 0) continue;
    const TaskId forward = tasks_[layer()].forward[shard];
    const auto& arrivals = edges_[layer()][input].arrivals;
    Buffer buffer{device_of(layer, shard),
                  bytes_of(elements),
                  BufferKind::input,
                  layer,
                  from_network ? forward : arrivals[shard].front(),
                  {forward}};
    if (backward_reads_input(graph_[layer].op)) add_backward(layer, shard, buffer.users);
    builder_.add_buffer(std::move(buffer));
  }
}

// The gradient of what a shard read, until its owners have it; and what owners receive.
void Lowering::place_gradients(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  const LayerTasks& tasks = tasks_[layer()];
  if (is_input(producer) || tasks.backward_data.empty() || !requires_gradient_[producer()]) return;
  if (in_place(layer)) return;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    const auto boxes = boxes_of_shard(edges_[layer()][input], shard);
    if (boxes.empty()) continue;
    Buffer buffer{device_of(layer, shard),         bytes_of(volume_of(boxes)),
                  BufferKind::activation_gradient, layer,
                  tasks.backward_data[shard],      {}};
    buffer.users.push_back(buffer.first);
    for (const NeededBox& needed : boxes) {
      if (needed.local()) {
        add_backward(producer, needed.producer_shard, buffer.users);
      } else {
        append(buffer.users, edges_[layer()][input].returns[needed.producer_shard]);
      }
    }
    builder_.add_buffer(std::move(buffer));
  }
  place_received_gradients(layer, input);
}

void Lowering::place_received_gradients(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  const auto& returns = edges_[layer()][input].returns;
  for (std::size_t shard = 0; shard < returns.size(); ++shard) {
    for (TaskId transfer : returns[shard]) {
      const Task& arrival = builder_.so_far()[transfer];
      Buffer buffer{arrival.device,
                    builder_.so_far().transfers()[arrival.detail].bytes,
                    BufferKind::activation_gradient,
                    producer,
                    transfer,
                    {}};
      add_backward(producer, shard, buffer.users);
      builder_.add_buffer(std::move(buffer));
    }
  }
}

void Lowering::place_buffers() {
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId layer(i);
    if (is_input(layer)) continue;
    if (graph_[layer].parameters.total() > 0) place_parameters(layer);
    place_activations(layer);
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      place_inputs(layer, input);
      place_gradients(layer, input);
    }
  }
}

}  // namespace strata
