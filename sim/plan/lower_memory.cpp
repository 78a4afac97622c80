// How long every tensor of a step lives on its device.
//
// What a framework keeps: an activation until the last backward that reads it; the halo or the
// gathered input of a shard that reads other devices' boxes; the gradient of what a shard read
// until its owner's backward. Activations and dropout work in place, flatten is a view. Kernels'
// workspaces are not counted.

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/plan/assembly.h"
#include "sim/plan/lowering.h"

namespace strata {
namespace {

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

std::int64_t local_volume(const Edge& edge, std::size_t shard) {
  std::int64_t sum = 0;
  for (const NeededBox& needed : boxes_of_shard(edge, shard)) {
    if (needed.local()) sum += volume(needed.box);
  }
  return sum;
}

std::int64_t volume_of(std::span<const NeededBox> boxes) {
  std::int64_t sum = 0;
  for (const NeededBox& needed : boxes) sum += volume(needed.box);
  return sum;
}

// Where channels lie innermost or in blocks, flattening a plane moves its elements.
bool has_no_plane(const Layer& layer) {
  const Extents& e = layer.output;
  return e[Dim::d] * e[Dim::h] * e[Dim::w] == 1;
}

}  // namespace

// Whether the layer may work on its producer's buffer: nothing else reads that, it lies on the same
// devices, and no backward pass needs what would be overwritten. A flatten without a plane
// overwrites nothing.
bool Lowering::may_overwrite(LayerId layer) const {
  const Layer& l = graph_[layer];
  const bool view = std::holds_alternative<Flatten>(l.op) && has_no_plane(graph_[l.inputs.front()]);
  if (!view && (!is_elementwise(l.op) || backward_reads_input(l.op))) return false;
  const LayerId producer = l.inputs.front();
  if (is_input(producer) || graph_.consumers(producer).size() != 1) return false;
  if (!view && output_is_read_[producer()]) return false;
  const auto& boxes = edges_[layer()].front().boxes;
  return std::all_of(boxes.begin(), boxes.end(), [](const NeededBox& b) { return b.local(); });
}

void Lowering::decide_in_place() {
  in_place_.assign(graph_.size(), false);
  output_is_read_.assign(graph_.size(), false);
  passed_on_.resize(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId layer(i);
    if (is_input(layer)) continue;
    in_place_[i] = may_overwrite(layer);
    output_is_read_[i] = backward_reads_output(graph_[layer].op) ||
                         (in_place_[i] && output_is_read_[graph_[layer].inputs.front()()]);
  }
}

// The next step's tensor takes the buffer over once nobody reads this step's any more. Users on
// which other users wait need not be waited for.
void Lowering::add_buffer(Buffer buffer, std::span<const TaskId> writers) {
  std::sort(buffer.users.begin(), buffer.users.end());
  buffer.users.erase(std::unique(buffer.users.begin(), buffer.users.end()), buffer.users.end());
  if (buffer.first.valid()) {
    std::vector<TaskId> awaited;
    for (TaskId user : buffer.users) {
      const auto before = builder_.so_far().dependencies(user);
      awaited.insert(awaited.end(), before.begin(), before.end());
    }
    std::sort(awaited.begin(), awaited.end());
    for (TaskId user : buffer.users) {
      if (std::binary_search(awaited.begin(), awaited.end(), user)) continue;
      builder_.carry(buffer.first, user);
      for (TaskId writer : writers) builder_.carry(writer, user);
    }
  }
  builder_.add_buffer(std::move(buffer));
}

void Lowering::assemble(TaskId task, Bytes bytes) {
  if (cluster_[builder_.so_far()[task].device].puts_together()) builder_.assemble(task, bytes);
}

// Those of the transfers into one shard that read the memory of `from`: all of it in one, where
// flows were put together.
void Lowering::append_from(DeviceId from, const std::vector<TaskId>& transfers,
                           std::vector<TaskId>& users) const {
  const Plan& plan = builder_.so_far();
  for (TaskId id : transfers) {
    const auto pieces = plan.pieces(plan.transfers()[plan[id].detail]);
    if (transfers.size() == 1 || pieces.front().from == from) users.push_back(id);
  }
}

bool Lowering::gathers_input(LayerId layer, std::size_t input, std::size_t shard) const {
  const auto boxes = boxes_of_shard(edges_[layer()][input], shard);
  if (boxes.empty()) return false;
  if (boxes.size() > 1 || !boxes.front().local()) return true;
  const Box owned = shard_box(graph_[layer].inputs[input], boxes.front().producer_shard);
  return !reads_as_it_lies(access_map(graph_, layer, input), boxes.front().box, owned);
}

void Lowering::add_backward(LayerId layer, std::size_t shard, std::vector<TaskId>& users) const {
  const LayerTasks& tasks = tasks_[layer()];
  for (const auto* phase :
       {&tasks.backward_statistics, &tasks.backward_data, &tasks.backward_weights}) {
    if (!phase->empty()) users.push_back((*phase)[shard]);
  }
}

// The gradient of a shard's output is read by its backward tasks; where the layer works in place,
// what they make of it stays in the same buffer for its producer's.
void Lowering::add_gradient_users(LayerId layer, std::size_t shard,
                                  std::vector<TaskId>& users) const {
  add_backward(layer, shard, users);
  while (in_place_[layer()]) {
    const auto boxes = boxes_of_shard(edges_[layer()].front(), shard);
    if (boxes.empty()) return;
    shard = boxes.front().producer_shard;
    layer = graph_[layer].inputs.front();
    add_backward(layer, shard, users);
  }
}

// Everything that reads the output of each shard on its own device. Consumers come first: what an
// in-place one found waits in passed_on_.
Lowering::UsersByShard Lowering::users_by_shard(LayerId layer) {
  UsersByShard users(shard_count(layer));
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

void Lowering::add_readers(LayerId consumer, std::size_t input, UsersByShard& users) {
  const Edge& edge = edges_[consumer()][input];
  const bool keeps_input = backward_reads_input(graph_[consumer].op);
  for (const NeededBox& needed : edge.boxes) {
    std::vector<TaskId>& list = users[needed.producer_shard];
    const std::size_t reader = needed.consumer_shard;
    if (!needed.local()) {
      append_from(needed.owner, edge.arrivals[reader], list);
    } else if (in_place_[consumer()]) {
      std::vector<TaskId>& found = passed_on_[consumer()][reader];
      if (found.size() > list.size()) found.swap(list);
      append(list, found);
    } else {
      list.push_back(tasks_[consumer()].forward[reader]);
      if (keeps_input && !gathers_input(consumer, input, reader)) {
        add_backward(consumer, reader, list);
      }
    }
  }
  if (in_place_[consumer()]) passed_on_[consumer()].clear();
}

void Lowering::place_parameters(LayerId layer) {
  const Layer& l = graph_[layer];
  const LayerTasks& tasks = tasks_[layer()];
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    const Bytes bytes = bytes_of(shard_parameters(l, shard_box(layer, shard)));
    const DeviceId device = device_of(layer, shard);
    const auto number = static_cast<std::uint32_t>(shard);
    add_buffer({device, bytes, BufferKind::parameters, layer, {}, {}, number});
    if (tasks.update.empty()) continue;
    Buffer gradients{device, bytes, BufferKind::parameter_gradients, layer, {}, {}, number};
    gradients.first = tasks.parameter_gradient(shard);
    gradients.users.push_back(tasks.update[shard]);
    if (!tasks.fetches.empty()) append(gradients.users, tasks.fetches[shard]);
    add_buffer(std::move(gradients));
  }
}

void Lowering::place_activations(LayerId layer) {
  UsersByShard users = users_by_shard(layer);
  if (in_place_[layer()]) {
    passed_on_[layer()] = std::move(users);
    return;
  }
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    add_buffer({device_of(layer, shard), bytes_of(volume(shard_box(layer, shard))),
                BufferKind::activation, layer, tasks_[layer()].forward[shard],
                std::move(users[shard]), static_cast<std::uint32_t>(shard)});
  }
}

void Lowering::place_masks(LayerId layer) {
  const LayerTasks& tasks = tasks_[layer()];
  if (!traits(graph_[layer].op).keeps_mask || tasks.backward_data.empty()) return;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    add_buffer({device_of(layer, shard),
                Bytes{volume(shard_box(layer, shard))},
                BufferKind::mask,
                layer,
                tasks.forward[shard],
                {tasks.backward_data[shard]},
                static_cast<std::uint32_t>(shard)});
  }
}

// What a shard gathers: the network's input, or boxes of which some come from other devices.
void Lowering::place_inputs(LayerId layer, std::size_t input) {
  const bool from_network = is_input(graph_[layer].inputs[input]);
  if (earlier_reading(graph_[layer], input)) return;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    if (!from_network && !gathers_input(layer, input, shard)) continue;
    std::int64_t elements = 0;
    for (const Box& box : needed_input(graph_, layer, input, shard_box(layer, shard))) {
      elements += volume(box);
    }
    if (elements == 0) continue;
    std::span<const TaskId> arrivals;
    if (!from_network) arrivals = edges_[layer()][input].arrivals[shard];
    const TaskId head = tasks_[layer()].forward_head(shard);
    Buffer buffer{device_of(layer, shard),
                  bytes_of(elements),
                  BufferKind::input,
                  layer,
                  arrivals.empty() ? head : arrivals.front(),
                  {tasks_[layer()].forward[shard]},
                  static_cast<std::uint32_t>(shard),
                  static_cast<std::uint32_t>(input)};
    if (backward_reads_input(graph_[layer].op)) add_backward(layer, shard, buffer.users);
    add_buffer(std::move(buffer), arrivals);
    if (!from_network) assemble(head, bytes_of(local_volume(edges_[layer()][input], shard)));
  }
}

// The gradient of what a shard read, until its owners have it; and what owners receive.
void Lowering::place_gradients(LayerId layer, std::size_t input) {
  const LayerId producer = graph_[layer].inputs[input];
  const LayerTasks& tasks = tasks_[layer()];
  if (is_input(producer) || tasks.backward_data.empty() || !requires_gradient_[producer()]) return;
  if (in_place_[layer()] || earlier_reading(graph_[layer], input)) return;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    const auto boxes = boxes_of_shard(edges_[layer()][input], shard);
    if (boxes.empty()) continue;
    Buffer buffer{device_of(layer, shard),           bytes_of(volume_of(boxes)),
                  BufferKind::activation_gradient,   layer,
                  tasks.backward_data[shard],        {},
                  static_cast<std::uint32_t>(shard), static_cast<std::uint32_t>(input)};
    buffer.users.push_back(buffer.first);
    for (const NeededBox& needed : boxes) {
      if (needed.local()) {
        add_gradient_readers(producer, needed.producer_shard, buffer.users);
      } else {
        append_from(needed.reader, edges_[layer()][input].returns[needed.producer_shard],
                    buffer.users);
      }
    }
    add_buffer(std::move(buffer));
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
                    BufferKind::received_gradient,
                    producer,
                    transfer,
                    {},
                    static_cast<std::uint32_t>(shard)};
      add_gradient_readers(producer, shard, buffer.users);
      add_buffer(std::move(buffer));
    }
  }
}

// What the readers of a layer's output give back to each of its shards.
void Lowering::count_gradient_parts(LayerId layer) {
  auto& parts = gradient_parts_[layer()];
  parts.resize(shard_count(layer));
  std::vector<LayerId> consumers(graph_.consumers(layer).begin(), graph_.consumers(layer).end());
  consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  for (LayerId consumer : consumers) {
    const Layer& reader = graph_[consumer];
    if (tasks_[consumer()].backward_data.empty()) continue;
    for (std::size_t input = 0; input < reader.inputs.size(); ++input) {
      if (reader.inputs[input] != layer || earlier_reading(reader, input)) continue;
      for (const NeededBox& needed : edges_[consumer()][input].boxes) {
        GradientParts& part = parts[needed.producer_shard];
        ++part.count;
        part.elements += volume(needed.box);
        part.whole = needed.local() ? !gathers_input(consumer, input, needed.consumer_shard)
                                    : needed.box == shard_box(layer, needed.producer_shard);
      }
    }
  }
}

// Who reads a part of the gradient of the shard's output: whoever adds the parts up or, where it is
// the only one, everybody who would read the sum.
void Lowering::add_gradient_readers(LayerId layer, std::size_t shard,
                                    std::vector<TaskId>& users) const {
  if (gradient_parts_[layer()][shard].single()) return add_gradient_users(layer, shard, users);
  users.push_back(tasks_[layer()].backward_head(shard));
}

void Lowering::place_gathered_gradients(LayerId layer) {
  if (!requires_gradient_[layer()] || graph_.consumers(layer).empty()) return;
  for (std::size_t shard = 0; shard < shard_count(layer); ++shard) {
    const GradientParts& parts = gradient_parts_[layer()][shard];
    if (parts.single()) continue;
    Buffer buffer{device_of(layer, shard),
                  bytes_of(volume(shard_box(layer, shard))),
                  BufferKind::gathered_gradient,
                  layer,
                  tasks_[layer()].backward_head(shard),
                  {},
                  static_cast<std::uint32_t>(shard)};
    add_gradient_users(layer, shard, buffer.users);
    assemble(buffer.first, bytes_of(parts.elements));
    add_buffer(std::move(buffer));
  }
}

void Lowering::place_buffers() {
  decide_in_place();
  gradient_parts_.resize(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) count_gradient_parts(LayerId(i));
  for (std::size_t i = graph_.size(); i-- > 0;) {
    const LayerId layer(i);
    if (is_input(layer)) continue;
    if (graph_[layer].parameters.total() > 0) place_parameters(layer);
    place_activations(layer);
    place_masks(layer);
    place_gathered_gradients(layer);
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      place_inputs(layer, input);
      place_gradients(layer, input);
    }
  }
}

}  // namespace strata
