// The buffers of a step, and which tensors share one.
//
// What a framework keeps: an activation until the last backward that reads it; the halo or the
// gathered input of a shard that reads other devices' boxes; the gradient of what a shard read
// until its owner's backward. Activations and dropout work in place, flatten is a view. Kernels'
// workspaces are not counted.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <variant>

#include "sim/geometry/channel_block.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/regions.h"
#include "sim/plan/assembly.h"
#include "sim/plan/expansion.h"

namespace strata {
namespace {

// Where channels lie innermost or in blocks, flattening a plane moves its elements.
bool has_no_plane(const Layer& layer) {
  const Extents& e = layer.output;
  return e[Dim::d] * e[Dim::h] * e[Dim::w] == 1;
}

// What the shard's experts hold where they have unequally many tokens.
Bytes times_load(const Expansion& to, LayerId layer, std::size_t shard, Bytes bytes) {
  if (to.graph[layer].routing.load.empty()) return bytes;
  const double load = load_of(to.graph[layer], to.shards.tile(layer, shard));
  return Bytes{std::llround(load * static_cast<double>(bytes.value))};
}

BufferId add_boxes(Expansion& to, Buffer buffer, std::span<const Box> boxes,
                   std::uint32_t copies = 1) {
  const std::int64_t block = to.cluster[buffer.device].channel_block;
  for (const Box& box : boxes) {
    buffer.bytes += Bytes{padded_volume(extents(box), block) * buffer.element_bytes};
  }
  buffer.bytes = times_load(to, buffer.layer, buffer.shard, copies * buffer.bytes);
  return to.builder.add_buffer(buffer, boxes);
}

// Whether the layer may work on its producer's buffer: nothing else reads that, it lies on the same
// devices, and no backward pass needs what would be overwritten. A flatten without a plane
// overwrites nothing.
bool may_overwrite(const Expansion& to, const Round& round, LayerId layer) {
  const Layer& l = to.graph[layer];
  const bool view =
      std::holds_alternative<Flatten>(l.op) && has_no_plane(to.graph[l.inputs.front()]);
  if (!view && (!is_elementwise(l.op) || backward_reads_input(l))) return false;
  const LayerId producer = l.inputs.front();
  if (is_input(to.graph[producer].op) || to.graph.consumers(producer).size() != 1) return false;
  // What is kept to compute others again.
  if (to.strategy.segment(producer) != to.strategy.segment(layer)) return false;
  if (!view && to.output_is_read[producer()]) return false;
  const std::span<const NeededBox> boxes = round.edges[layer()].front().read();
  return std::all_of(boxes.begin(), boxes.end(), [](const NeededBox& b) { return b.local(); });
}

// Where no backward pass follows, kernels keep nothing.
void place_saved(Expansion& to, LayerBuffers& own, LayerId layer) {
  if (!to.step[layer].phases.any_backward()) return;
  std::vector<Extents> inputs;
  for (const LayerId input : to.graph[layer].inputs) inputs.push_back(to.graph[input].output);
  const DType dtype = to.options.dtypes.values;
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const Box box = to.shards.held(layer, shard);
    const DeviceId device = to.shards.device(layer, shard);
    const Saved kept = saved(to.graph[layer].op, {box, inputs, dtype, to.kernels_of(device)});
    const Bytes bytes =
        times_load(to, layer, shard,
                   Bytes{4 * kept.values + kept.elements * element_bytes(dtype) + kept.masks});
    if (kept.each_element) {
      const Buffer buffer{
          .device = device, .kind = BufferKind::saved, .layer = layer, .shard = shard};
      own.saved.push_back(add_boxes(to, buffer, {&box, 1}));
    } else if (bytes > Bytes{}) {
      own.saved.push_back(add_values(to, BufferKind::saved, layer, shard, kept.values, bytes));
    }
  }
}

}  // namespace

BufferId add_tensor(Expansion& to, BufferKind kind, LayerId layer, std::size_t shard,
                    std::span<const Box> boxes, std::size_t input, std::uint32_t copies) {
  const Buffer buffer{
      .device = to.shards.device(layer, shard),
      .kind = kind,
      .element_bytes = static_cast<std::uint8_t>(element_bytes(to.options.dtypes.values)),
      .layer = layer,
      .shard = static_cast<std::uint32_t>(shard),
      .input = static_cast<std::uint32_t>(input)};
  return add_boxes(to, buffer, boxes, copies);
}

BufferId add_values(Expansion& to, BufferKind kind, LayerId layer, std::size_t shard,
                    std::int64_t values, Bytes bytes) {
  return to.builder.add_buffer({.device = to.shards.device(layer, shard),
                                .kind = kind,
                                .bytes = bytes,
                                .layer = layer,
                                .shard = static_cast<std::uint32_t>(shard),
                                .values = values});
}

View holding(const Expansion& to, BufferId buffer, const Box& box) {
  const std::span<const Box> boxes = to.builder.so_far().boxes(buffer);
  const auto at = std::find_if(boxes.begin(), boxes.end(),
                               [&](const Box& b) { return intersect(b, box) == box; });
  assert(at != boxes.end() || boxes.empty());
  if (at == boxes.end()) return {buffer};
  return {buffer, static_cast<std::uint32_t>(at - boxes.begin())};
}

// A shard reads its producer's output as it lies, or gathers: the network's input, or boxes of
// which some come from other devices.
void place_inputs(Expansion& to, Round& round, LayerId layer, std::size_t input, const Edge& edge) {
  const LayerId producer = to.graph[layer].inputs[input];
  const bool from_network = is_input(to.graph[producer].op);
  const AccessMap access = access_map(to.graph, layer, input);
  LayerBuffers& own = round.buffers[layer()];
  auto& inputs = own.inputs.emplace_back(to.shards.of(layer).size());
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    BufferId& reads = inputs[at];
    const auto boxes = edge.read_by(shard);
    if (boxes.size() == 1 && boxes.front().local()) {
      const std::size_t owner = boxes.front().producer_shard;
      if (reads_as_it_lies(access, boxes.front().box, to.shards.held(producer, owner))) {
        reads = round.buffers[producer()].output[to.shards.slot(producer, owner)];
        continue;
      }
    }
    if (!from_network && boxes.empty()) continue;
    if (from_network && !own.data.empty()) {
      reads = own.data[input][at];
      continue;
    }
    const auto needed =
        needed_input(access, to.graph[producer].output, to.shards.tile(layer, shard));
    if (needed.empty()) continue;
    reads = add_tensor(to, from_network ? BufferKind::data : BufferKind::input, layer, shard,
                       needed, input);
  }
}

void place_outputs(Expansion& to, Round& round, LayerId layer) {
  const bool in_place = may_overwrite(to, round, layer);
  to.in_place[layer()] = in_place;
  to.output_is_read[layer()] = backward_reads_output(to.graph[layer].op) ||
                               (in_place && to.output_is_read[to.graph[layer].inputs.front()()]);
  LayerBuffers& own = round.buffers[layer()];
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const Box box = to.shards.held(layer, shard);
    own.output.push_back(in_place
                             ? own.inputs.front()[to.shards.slot(layer, shard)]
                             : add_tensor(to, BufferKind::activation, layer, shard, {&box, 1}));
    if (!to.step[layer].divides_sums) continue;
    const Box computed = to.shards.tile(layer, shard);
    own.partial.push_back(add_tensor(to, BufferKind::partial_output, layer, shard, {&computed, 1}));
  }
  place_saved(to, own, layer);
}

void place_statistics(Expansion& to, Round& round, LayerId layer, Phase phase) {
  const bool forward = phase == Phase::forward_statistics;
  LayerBuffers& own = round.buffers[layer()];
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const Statistics sizes = statistics(to.graph[layer], to.shards.held(layer, shard));
    (forward ? own.forward_statistics : own.backward_statistics)
        .push_back(add_values(to, BufferKind::statistics, layer, shard, sizes.values(phase),
                              sizes.bytes(phase)));
  }
}

// The gradient of what a shard read, until its owners have it.
void place_input_gradients(Expansion& to, Round& round, LayerId layer, std::size_t input) {
  LayerBuffers& own = round.buffers[layer()];
  auto& gradients = own.input_gradients.emplace_back(to.shards.of(layer).size());
  if (!wants_gradient(to.graph, to.step, layer, input)) return;
  if (traits(to.graph[layer].op).shares_reading) {
    LayerId& summed_by = round.buffers[to.step.reader_for(layer)()].summed_by;
    own.adds_to = std::exchange(summed_by, layer);
  }
  if (own.adds_to.valid()) {
    gradients = round.buffers[own.adds_to()].input_gradients[input];
    return;
  }
  for (const std::uint32_t shard : to.shards.of(layer)) {
    const std::size_t at = to.shards.slot(layer, shard);
    if (to.in_place[layer()] && !own.output_gradient.empty()) {
      gradients[at] = own.output_gradient[at];
    } else if (own.inputs[input][at].valid()) {
      const auto read = to.builder.so_far().boxes(own.inputs[input][at]);
      const std::vector<Box> boxes(read.begin(), read.end());
      gradients[at] = add_tensor(to, BufferKind::activation_gradient, layer, shard, boxes, input);
    }
  }
}

}  // namespace strata
