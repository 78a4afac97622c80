// The buffers of a step, and which tensors share one.
//
// What a framework keeps: an activation until the last backward that reads it; the halo or the
// gathered input of a shard that reads other devices' boxes; the gradient of what a shard read
// until its owner's backward. Activations and dropout work in place, flatten is a view. Kernels'
// workspaces are not counted.

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

#include "sim/geometry/channel_block.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/assembly.h"
#include "sim/plan/lowering.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

// Where channels lie innermost or in blocks, flattening a plane moves its elements.
bool has_no_plane(const Layer& layer) {
  const Extents& e = layer.output;
  return e[Dim::d] * e[Dim::h] * e[Dim::w] == 1;
}

}  // namespace

std::span<const NeededBox> Edge::read() const {
  return boxes ? std::span<const NeededBox>(boxes->read) : std::span<const NeededBox>();
}

std::span<const NeededBox> Edge::read_by(std::size_t consumer_shard) const {
  const std::span<const NeededBox> all = read();
  const auto less = [](const NeededBox& b, std::size_t s) { return b.consumer_shard < s; };
  const auto greater = [](std::size_t s, const NeededBox& b) { return s < b.consumer_shard; };
  const auto first = std::lower_bound(all.begin(), all.end(), consumer_shard, less);
  return {first, std::upper_bound(first, all.end(), consumer_shard, greater)};
}

BufferId Lowering::add_tensor(BufferKind kind, LayerId layer, std::size_t shard,
                              std::span<const Box> boxes, std::size_t input, std::uint32_t copies) {
  Buffer buffer{
      device_of(layer, shard),          {}, kind, layer, static_cast<std::uint32_t>(shard),
      static_cast<std::uint32_t>(input)};
  buffer.element_bytes = element_bytes(options_.dtypes.values);
  return add_boxes(buffer, boxes, copies);
}

BufferId Lowering::add_boxes(Buffer buffer, std::span<const Box> boxes, std::uint32_t copies) {
  const std::int64_t block = cluster_[buffer.device].channel_block;
  for (const Box& box : boxes) {
    buffer.bytes += Bytes{padded_volume(extents(box), block) * buffer.element_bytes};
  }
  buffer.bytes = copies * buffer.bytes;
  return builder_.add_buffer(buffer, boxes);
}

BufferId Lowering::add_values(BufferKind kind, LayerId layer, std::size_t shard,
                              std::int64_t values, Bytes bytes) {
  return builder_.add_buffer(
      {device_of(layer, shard), bytes, kind, layer, static_cast<std::uint32_t>(shard), 0, values});
}

// The box of the buffer in which `box` lies; where flows were put together it has none.
View Lowering::holding(BufferId buffer, const Box& box) const {
  const std::span<const Box> boxes = builder_.so_far().boxes(buffer);
  const auto at = std::find_if(boxes.begin(), boxes.end(),
                               [&](const Box& b) { return intersect(b, box) == box; });
  assert(at != boxes.end() || boxes.empty());
  if (at == boxes.end()) return {buffer};
  return {buffer, static_cast<std::uint32_t>(at - boxes.begin())};
}

// A shard reads its producer's output as it lies, or gathers: the network's input, or boxes of
// which some come from other devices.
void Lowering::place_inputs(LayerId layer, std::size_t input, const Edge& edge) {
  const LayerId producer = graph_[layer].inputs[input];
  const bool from_network = is_input(producer);
  const AccessMap access = access_map(graph_, layer, input);
  auto& inputs = buffers_of(layer).inputs.emplace_back(lowered(layer).size());
  for (std::uint32_t shard : lowered(layer)) {
    BufferId& reads = inputs[slot(layer, shard)];
    const auto boxes = edge.read_by(shard);
    if (boxes.size() == 1 && boxes.front().local()) {
      const std::size_t owner = boxes.front().producer_shard;
      if (reads_as_it_lies(access, boxes.front().box, held_box(producer, owner))) {
        reads = buffers_of(producer).output[slot(producer, owner)];
        continue;
      }
    }
    if (!from_network && boxes.empty()) continue;
    if (from_network && !buffers_of(layer).data.empty()) {
      reads = buffers_of(layer).data[input][slot(layer, shard)];
      continue;
    }
    const auto needed = needed_input(access, graph_[producer].output, shard_tile(layer, shard));
    if (needed.empty()) continue;
    reads = add_tensor(from_network ? BufferKind::data : BufferKind::input, layer, shard, needed,
                       input);
  }
}

// Whether the layer may work on its producer's buffer: nothing else reads that, it lies on the same
// devices, and no backward pass needs what would be overwritten. A flatten without a plane
// overwrites nothing.
bool Lowering::may_overwrite(LayerId layer) const {
  const Layer& l = graph_[layer];
  const bool view = std::holds_alternative<Flatten>(l.op) && has_no_plane(graph_[l.inputs.front()]);
  if (!view && (!is_elementwise(l.op) || backward_reads_input(l.op))) return false;
  const LayerId producer = l.inputs.front();
  if (is_input(producer) || graph_.consumers(producer).size() != 1) return false;
  // What is kept to compute others again.
  if (strategy_.segment(producer) != strategy_.segment(layer)) return false;
  if (!view && output_is_read_[producer()]) return false;
  const std::span<const NeededBox> boxes = edges_of(layer).front().read();
  return std::all_of(boxes.begin(), boxes.end(), [](const NeededBox& b) { return b.local(); });
}

void Lowering::place_outputs(LayerId layer) {
  const bool in_place = may_overwrite(layer);
  in_place_[layer()] = in_place;
  output_is_read_[layer()] = backward_reads_output(graph_[layer].op) ||
                             (in_place && output_is_read_[graph_[layer].inputs.front()()]);
  LayerBuffers& own = buffers_of(layer);
  for (std::uint32_t shard : lowered(layer)) {
    const Box box = held_box(layer, shard);
    own.output.push_back(in_place ? own.inputs.front()[slot(layer, shard)]
                                  : add_tensor(BufferKind::activation, layer, shard, {&box, 1}));
    if (!divides_sums(layer)) continue;
    const Box computed = shard_tile(layer, shard);
    own.partial.push_back(add_tensor(BufferKind::partial_output, layer, shard, {&computed, 1}));
  }
}

// A device's gradients of a bucket lie in one buffer, which takes the name of the layer that ends
// it.
void Lowering::place_buckets() {
  std::vector<bool> trains(graph_.size());
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    trains[i] = step_phases(graph_, LayerId(i), requires_gradient_)[Phase::update];
  }
  const std::int64_t size = element_bytes(options_.dtypes.gradients);
  buckets_ = gradient_buckets(graph_, strategy_, trains, options_.sync.bucket_in_use(), size,
                              options_.sync.unit());
  std::erase_if(buckets_, [this](const Bucket& bucket) {
    return std::none_of(bucket.devices.begin(), bucket.devices.end(),
                        [this](DeviceId device) { return is_lowered(device); });
  });
  buckets_with_.resize(graph_.size());
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    std::size_t& left = parts_left_.emplace_back();
    for (const BucketPart& part : buckets_[b].parts) {
      buckets_with_[part.layer()].push_back(b);
      for (const BucketPart::Copy& copy : part.copies) buckets_with_[copy.layer()].push_back(b);
      left += 1 + part.copies.size();
    }
  }
  if (options_.sync.shares()) place_shared();
  for (const Bucket& bucket : buckets_) {
    if (shares_gradients(bucket)) continue;
    const BucketPart& end = bucket.parts.back();
    for (std::size_t k = 0; k < bucket.devices.size(); ++k) {
      if (!is_lowered(bucket.devices[k])) continue;
      const BufferId buffer = add_values(BufferKind::parameter_gradients, end.layer_of(k),
                                         end.shards[k], bucket.values, Bytes{bucket.values * size});
      for (const BucketPart& part : bucket.parts) {
        const LayerId holder = part.layer_of(k);
        auto& gradients = parameters_of(holder).gradients;
        gradients.resize(lowered(holder).size());
        gradients[slot(holder, part.shards[k])] = {buffer, part.first};
      }
    }
  }
}

// Both are cut so that each device holds the same part (validate()).
void Lowering::share_parameters(LayerId layer) {
  const LayerId holder = holders_[layer()];
  LayerParameters& own = parameters_of(layer);
  const LayerParameters& owned = parameters_of(holder);
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t from = slot_beside(holder, layer, shard);
    own.buffers.push_back(owned.buffers[from]);
    if (!owned.gradients.empty()) {
      own.gradients.push_back(owned.gradients[from]);
    }
  }
}

void Lowering::place_parameters(LayerId layer) {
  if (holders_[layer()] != layer) return share_parameters(layer);
  const bool trains = this->trains(layer);
  LayerParameters& own = parameters_of(layer);
  const bool shared = !own.shared.empty();
  own.added.resize(lowered(layer).size());
  if (trains) own.gradients.resize(lowered(layer).size());
  for (std::uint32_t shard : lowered(layer)) {
    const Parameters held = shard_parameters(graph_[layer], shard_tile(layer, shard));
    const auto add = [&](BufferKind kind) {
      const bool gradient = kind == BufferKind::parameter_gradients;
      const DTypes& types = options_.dtypes;
      const DType type = gradient ? types.gradients : types.parameters;
      return add_values(kind, layer, shard, held.total(),
                        Bytes{held.total() * element_bytes(type)});
    };
    if (shared) continue;
    own.buffers.push_back({add(BufferKind::parameters)});
    if (!trains) continue;
    Values& gradients = own.gradients[slot(layer, shard)];
    if (!gradients.buffer.valid()) gradients = {add(BufferKind::parameter_gradients)};
  }
}

// What the device that updates the shard's parameters keeps of them; invalid for nothing.
BufferId Lowering::add_state(LayerId layer, std::size_t shard) {
  const std::int64_t held = shard_parameters(graph_[layer], shard_tile(layer, shard)).total();
  if (state_words(optimizer()) == 0) return {};
  return add_values(BufferKind::optimizer_state, layer, shard, state_words(optimizer()) * held,
                    Bytes{held * state_bytes(optimizer(), options_.dtypes.parameters)});
}

void Lowering::place_statistics(LayerId layer, Phase phase) {
  const bool forward = phase == Phase::forward_statistics;
  LayerBuffers& own = buffers_of(layer);
  for (std::uint32_t shard : lowered(layer)) {
    const Statistics sizes = statistics(graph_[layer], held_box(layer, shard));
    const std::int64_t values = forward ? sizes.forward_values : sizes.backward_values;
    (forward ? own.forward_statistics : own.backward_statistics)
        .push_back(add_values(BufferKind::statistics, layer, shard, values, Bytes{4 * values}));
  }
}

// Where no backward pass follows, kernels keep nothing.
void Lowering::place_saved(LayerId layer) {
  const PhaseSet phases = step_phases(graph_, layer, requires_gradient_);
  if (!phases.any_backward()) return;
  LayerBuffers& own = buffers_of(layer);
  std::vector<Extents> inputs;
  for (LayerId input : graph_[layer].inputs) inputs.push_back(graph_[input].output);
  const DType dtype = options_.dtypes.values;
  for (std::uint32_t shard : lowered(layer)) {
    const Box box = held_box(layer, shard);
    const DeviceId device = device_of(layer, shard);
    const Saved kept = saved(graph_[layer].op, {box, inputs, dtype, kernels_of(device)});
    const Bytes bytes{4 * kept.values + kept.elements * element_bytes(dtype) + kept.masks};
    if (kept.each_element) {
      own.saved.push_back(add_boxes({device, {}, BufferKind::saved, layer, shard}, {&box, 1}));
    } else if (bytes > Bytes{}) {
      own.saved.push_back(add_values(BufferKind::saved, layer, shard, kept.values, bytes));
    }
  }
}

bool Lowering::wants_gradient(LayerId layer, std::size_t input) const {
  const LayerId producer = graph_[layer].inputs[input];
  if (is_input(producer) || !requires_gradient_[producer()]) return false;
  return !earlier_reading(graph_[layer], input);  // both gradients are one sum
}

// The gradient of what a shard read, until its owners have it.
void Lowering::place_input_gradients(LayerId layer, std::size_t input) {
  LayerBuffers& own = buffers_of(layer);
  auto& gradients = own.input_gradients.emplace_back(lowered(layer).size());
  if (!wants_gradient(layer, input)) return;
  if (traits(graph_[layer].op).shares_reading) {
    const LayerId first = shared_reader(layer);
    LayerId& summed_by = buffers_of(first.valid() ? first : layer).summed_by;
    own.adds_to = std::exchange(summed_by, layer);
  }
  if (own.adds_to.valid()) {
    gradients = buffers_of(own.adds_to).input_gradients[input];
    return;
  }
  for (std::uint32_t shard : lowered(layer)) {
    const std::size_t at = slot(layer, shard);
    if (in_place_[layer()] && !own.output_gradient.empty()) {
      gradients[at] = own.output_gradient[at];
    } else if (own.inputs[input][at].valid()) {
      const auto read = builder_.so_far().boxes(own.inputs[input][at]);
      const std::vector<Box> boxes(read.begin(), read.end());
      gradients[at] = add_tensor(BufferKind::activation_gradient, layer, shard, boxes, input);
    }
  }
}

// What arrives of a shard's output, or of its gradient, in one transfer.
BufferId Lowering::receive(BufferKind kind, LayerId layer, std::size_t shard,
                           std::vector<Piece>& pieces, std::uint32_t copies) {
  std::vector<Box> boxes;
  Bytes bytes;
  for (const Piece& piece : pieces) {
    bytes += piece.bytes;
    if (!empty(piece.box)) boxes.push_back(piece.box);
  }
  const BufferId received = boxes.empty() ? add_values(kind, layer, shard, 0, bytes)
                                          : add_tensor(kind, layer, shard, boxes, 0, copies);
  for (std::uint32_t k = 0; k < pieces.size(); ++k) {
    pieces[k].target = {received, boxes.empty() ? 0 : k};
  }
  return received;
}

}  // namespace strata
