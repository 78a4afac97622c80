#include "sim/graph/regions.h"

#include <algorithm>
#include <array>

#include "sim/base/ceil_div.h"

namespace strata {
namespace {

/// The smallest element >= 0 that outputs [out.begin, out.end) of the window tap, where output o
/// taps o * stride - pad + j * dilation for j in [0, kernel); `none` if there is none.
std::int64_t first_tap(const Window& window, Interval out, std::int64_t pad, std::int64_t none) {
  const std::int64_t reach = (window.kernel - 1) * window.dilation;
  std::int64_t best = none;
  // The first output whose last tap is not in the padding.
  std::int64_t o = std::max(out.begin, ceil_div(pad - reach, window.stride));
  // Later outputs help only while they start before the best and meet a new residue of dilation.
  for (std::int64_t tries = 0; o < out.end && tries < window.dilation; ++o, ++tries) {
    const std::int64_t start = o * window.stride - pad;
    if (start >= best) break;
    const std::int64_t skipped = start >= 0 ? 0 : ceil_div(-start, window.dilation);
    best = std::min(best, start + skipped * window.dilation);
    if (best == 0) break;
  }
  return best;
}

/// The hull of the elements of [0, extent) that the window taps for `out`. The last tap is the
/// first one of the mirrored window.
Interval tapped(const Window& window, Interval out, std::int64_t extent) {
  const std::int64_t begin = first_tap(window, out, window.pad_begin, extent);
  // Mirrored, element x is extent - 1 - x, and output o becomes -o: with outputs counted from the
  // last, o' = out.end - 1 - o, the first tap of o' = 0 stands at extent - 1 - (its last tap).
  const std::int64_t last =
      (out.end - 1) * window.stride - window.pad_begin + (window.kernel - 1) * window.dilation;
  const std::int64_t mirrored_pad = last - (extent - 1);
  const std::int64_t from_end = first_tap(window, {0, out.size()}, mirrored_pad, extent);
  return {begin, extent - from_end};
}

/// The boxes whose elements, in row-major order over dims `at`, `at`+1, ... w, are run [begin,
/// end). `box` holds the dims before `at`.
void add_run(const Extents& in, std::size_t at, std::int64_t begin, std::int64_t end, Box box,
             std::vector<Box>& out) {
  std::int64_t inner = 1;
  for (std::size_t k = at + 1; k < kDims.size(); ++k) inner *= in.values[k];
  const std::int64_t first = begin / inner, last = (end - 1) / inner;  // the slices it touches
  const auto add_part = [&](std::int64_t slice, std::int64_t from, std::int64_t to) {
    box.values[at] = {slice, slice + 1};
    add_run(in, at + 1, from, to, box, out);
  };
  const bool whole_head = begin == first * inner, whole_tail = end == (last + 1) * inner;
  if (first == last && !(whole_head && whole_tail)) {
    return add_part(first, begin - first * inner, end - first * inner);
  }
  if (!whole_head) add_part(first, begin - first * inner, inner);
  box.values[at] = {first + (whole_head ? 0 : 1), last + (whole_tail ? 1 : 0)};
  for (std::size_t k = at + 1; k < kDims.size(); ++k) box.values[k] = {0, in.values[k]};
  if (!box.values[at].empty()) out.push_back(box);
  if (!whole_tail) add_part(last, 0, end - last * inner);
}

/// What each op needs of input number `index`, whose extents are `in`, for the box `out`.
struct Need {
  const Graph& graph;
  const Layer& layer;
  std::size_t index;
  const Extents& in;
  const Box& out;

  using Boxes = std::vector<Box>;
  static Boxes unless_empty(const Box& box) { return empty(box) ? Boxes{} : Boxes{box}; }

  Boxes operator()(const Input&) const { return {}; }
  Boxes operator()(const Convolution& op) const {
    Box box = out;
    const std::int64_t outputs = op.out_channels / op.groups, inputs = in[Dim::c] / op.groups;
    box[Dim::c] = {out[Dim::c].begin / outputs * inputs,
                   ((out[Dim::c].end - 1) / outputs + 1) * inputs};
    for (Dim dim : kSpatialDims) box[dim] = tapped(op.windows[dim], out[dim], in[dim]);
    return unless_empty(box);
  }
  Boxes operator()(const Pooling& op) const {
    Box box = out;
    for (Dim dim : kSpatialDims) box[dim] = tapped(op.windows[dim], out[dim], in[dim]);
    return unless_empty(box);
  }
  Boxes operator()(const AdaptivePooling&) const {
    Box box = out;
    for (Dim dim : kSpatialDims) {
      const std::int64_t outputs = layer.output[dim];
      box[dim] = {out[dim].begin * in[dim] / outputs, ceil_div(out[dim].end * in[dim], outputs)};
    }
    return {box};
  }
  Boxes operator()(const FullyConnected&) const {
    Box box = whole(in);
    box[Dim::n] = out[Dim::n];
    return {box};
  }
  Boxes operator()(const Opaque&) const {
    Box box = whole(in);
    box[Dim::n] = out[Dim::n];
    return {box};
  }
  Boxes operator()(const LocalResponseNorm& op) const {
    Box box = out;
    const Interval reach = {out[Dim::c].begin - (op.size - 1) / 2, out[Dim::c].end + op.size / 2};
    box[Dim::c] = intersect(reach, Interval{0, in[Dim::c]});
    return {box};
  }
  Boxes operator()(const Concat&) const {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < index; ++k) offset += graph[layer.inputs[k]].output[Dim::c];
    Box box = out;
    const Interval moved = {out[Dim::c].begin - offset, out[Dim::c].end - offset};
    box[Dim::c] = intersect(moved, Interval{0, in[Dim::c]});
    return unless_empty(box);
  }
  Boxes operator()(const Flatten&) const {
    Box box;
    box[Dim::n] = out[Dim::n];
    Boxes boxes;
    add_run(in, 1, out[Dim::c].begin, out[Dim::c].end, box, boxes);
    return boxes;
  }
  // Element i of the output needs element i of each input; batch norm and softmax exchange the
  // rest as statistics.
  Boxes operator()(const Activation&) const { return {out}; }
  Boxes operator()(const Dropout&) const { return {out}; }
  Boxes operator()(const BatchNorm&) const { return {out}; }
  Boxes operator()(const Add&) const { return {out}; }
  // Of a gate, one element for all d, h and w.
  Boxes operator()(const Multiply&) const {
    Box box = out;
    for (Dim dim : kSpatialDims) box[dim] = in[dim] == 1 ? Interval{0, 1} : out[dim];
    return {box};
  }
  Boxes operator()(const SoftmaxCrossEntropy&) const { return {out}; }
};

}  // namespace

std::vector<Box> needed_input(const Graph& graph, LayerId layer, std::size_t input,
                              const Box& output) {
  const Layer& it = graph[layer];
  const Extents& in = graph[it.inputs[input]].output;
  return std::visit(Need{graph, it, input, in, output}, it.op);
}

std::optional<std::size_t> earlier_reading(const Layer& layer, std::size_t input) {
  const bool joins =
      std::holds_alternative<Add>(layer.op) || std::holds_alternative<Multiply>(layer.op);
  if (!joins) return std::nullopt;
  for (std::size_t earlier = 0; earlier < input; ++earlier) {
    if (layer.inputs[earlier] == layer.inputs[input]) return earlier;
  }
  return std::nullopt;
}

Statistics statistics(const Layer& layer, const Box& output) {
  Statistics result;
  if (std::holds_alternative<BatchNorm>(layer.op)) {
    // Forward: each channel's sum and sum of squares. Backward: the sums of dy and of dy x-hat.
    for (Dim dim : {Dim::n, Dim::d, Dim::h, Dim::w}) result.over[dim] = true;
    result.forward_values = result.backward_values = 2 * output[Dim::c].size();
  } else if (std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) {
    // Each row's maximum and its sum of exponentials; p - y needs no more.
    result.over[Dim::c] = true;
    result.forward_values = 2 * output[Dim::n].size();
  }
  return result;
}

Parameters shard_parameters(const Layer& layer, const Box& output) {
  const std::int64_t channels = layer.output[Dim::c], held = output[Dim::c].size();
  if (held == channels) return layer.parameters;
  return {layer.parameters.weight / channels * held, layer.parameters.bias / channels * held};
}

Extents most_parts(const Layer& layer) {
  Extents most = layer.output;
  if (!is_opaque(layer.op)) return most;
  for (Dim dim : kDims) most[dim] = dim == Dim::n ? most[dim] : 1;
  return most;
}

std::string_view why_no_more(const Layer& layer, Dim dim) {
  const bool opaque = is_opaque(layer.op) && dim != Dim::n;
  return opaque ? "for an opaque op is cut in n alone" : "its extent";
}

PerDim<bool> parallelizable(const Layer& layer) {
  PerDim<bool> dims;
  const Extents most = most_parts(layer);
  for (Dim dim : kDims) dims[dim] = most[dim] > 1;
  return dims;
}

}  // namespace strata
