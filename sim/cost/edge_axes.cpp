#include "sim/cost/edge_axes.h"

#include <algorithm>

#include "sim/graph/regions.h"

namespace strata {
namespace {

bool cut_in(const Cuts& cuts, Dim dim) {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const Cut& cut) { return cut.degrees[dim] > 1; });
}

// The slowest digit tells which devices hold nothing; of a cut in no dim that is n.
Dim slowest_dim(const Cut& cut) {
  Dim slowest = Dim::n;
  std::int32_t stride = 0;
  for (Dim dim : kDims) {
    if (cut.degrees[dim] > 1 && cut.strides[dim] > stride) slowest = dim, stride = cut.strides[dim];
  }
  return slowest;
}

Digit digit_of(const Cut& cut, Dim dim) {
  if (cut.degrees[dim] == 1) return {1, 1, slowest_dim(cut) == dim};
  return {cut.degrees[dim], cut.strides[dim], slowest_dim(cut) == dim};
}

constexpr std::array kFlattened = {Dim::c, Dim::d, Dim::h, Dim::w};

}  // namespace

EdgeAxes::EdgeAxes(const Graph& graph, LayerId consumer, std::size_t input,
                   const Cuts& producer_cuts, const Cuts& consumer_cuts)
    : access_(access_map(graph, consumer, input)), output_(graph[consumer].output) {
  const Layer& layer = graph[consumer];
  const Extents& extents = graph[layer.inputs[input]].output;
  const bool joint = access_.row_major;
  if (joint) axes_.push_back({true, Dim::c, volume(extents) / extents[Dim::n], extents});
  for (std::size_t k = kDims.size(); k-- > 0;) {
    const Dim dim = kDims[k];
    const EdgeAxis axis{false, dim, extents[dim], extents};
    if (joint && dim != Dim::n) continue;
    if (dim == Dim::n || cut_in(producer_cuts, dim) || cut_in(consumer_cuts, dim)) {
      axes_.push_back(axis);
    } else {
      scale_ *= static_cast<double>(needed(axis, 1, 0).size());
    }
  }
}

Digits EdgeAxes::producer_digits(const EdgeAxis& axis, const Cut& cut) const {
  if (!axis.joint) return {digit_of(cut, axis.dim)};
  Digits digits;
  for (std::size_t k = 0; k < digits.size(); ++k) digits[k] = digit_of(cut, kFlattened[k]);
  return digits;
}

Digits EdgeAxes::consumer_digits(const EdgeAxis& axis, const Cut& cut) const {
  return {digit_of(cut, axis.dim)};
}

Interval EdgeAxes::needed(const EdgeAxis& axis, std::int32_t degree,
                          std::int64_t part_number) const {
  const Interval output = part(output_[axis.dim], degree, part_number);
  return strata::needed(access_.dims[axis.dim], output, axis.extent);
}

std::int64_t elements_below(const Extents& tensor, const Box& box, std::int64_t end) {
  std::int64_t count = 0, inner = volume(tensor) / tensor[Dim::n], box_inner = 1;
  for (Dim dim : kFlattened) box_inner *= box[dim].size();
  for (Dim dim : kFlattened) {
    if (box_inner == 0) return count;
    inner /= tensor[dim];
    box_inner /= box[dim].size();
    const std::int64_t slice = end / inner;  // whole slices below `end`
    count += intersect(box[dim], Interval{0, slice}).size() * box_inner;
    const bool within = box[dim].begin <= slice && slice < box[dim].end;
    if (!within) return count;
    end -= slice * inner;
  }
  return count;
}

}  // namespace strata
