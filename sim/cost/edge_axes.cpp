#include "sim/cost/edge_axes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/graph/regions.h"

namespace strata {
namespace {

template <class DigitsOf>
bool any_cut(const Cuts& cuts, const DigitsOf& digits_of) {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const Cut& cut) { return part_count(digits_of(cut)) > 1; });
}

// The digits of the loops that a cut runs over: of the output's owners, or of the work.
class LoopDigits {
 public:
  static LoopDigits of_owners(const Cut& cut) {
    return {output_degrees(cut.degrees), cut.strides, {}};
  }
  // The shards of one sum are neighbours along the dim of `scatter`.
  static LoopDigits of_work(const Cut& cut) {
    PerDim<std::int32_t> strides = cut.strides;
    const std::int32_t neighbours = strides[cut.degrees.scatter];
    strides[cut.degrees.scatter] *= cut.degrees.r;
    return {cut.degrees, strides, {cut.degrees.r, neighbours, false, cut.degrees.r > 1}};
  }

  Digit operator[](Dim dim) const {
    const bool top = slowest_ == dim;
    return degrees_[dim] == 1 ? Digit{1, 1, top} : Digit{degrees_[dim], strides_[dim], top};
  }
  const Digit& reduction() const { return reduction_; }

 private:
  // The slowest digit tells which devices hold nothing; of a cut in no loop that is n's.
  LoopDigits(const PerDim<std::int32_t>& degrees, const PerDim<std::int32_t>& strides,
             const Digit& reduction)
      : degrees_(degrees), strides_(strides), reduction_(reduction), slowest_(Dim::n) {
    std::int32_t stride = 0;
    for (Dim dim : kDims) {
      if (degrees[dim] > 1 && strides[dim] > stride) slowest_ = dim, stride = strides[dim];
    }
    reduction_.top = reduction.degree > 1 && reduction.stride > stride;
    if (reduction_.top) slowest_.reset();
  }

  PerDim<std::int32_t> degrees_, strides_;
  Digit reduction_;
  std::optional<Dim> slowest_;
};

constexpr std::array kFlattened = {Dim::c, Dim::d, Dim::h, Dim::w};

}  // namespace

EdgeAxes::EdgeAxes(const Graph& graph, LayerId consumer, std::size_t input,
                   const Cuts& producer_cuts, const Cuts& consumer_cuts)
    : access_(access_map(graph, consumer, input)),
      output_(graph[consumer].output),
      reduction_(graph[consumer].reduction) {
  const Layer& layer = graph[consumer];
  const Extents& extents = graph[layer.inputs[input]].output;
  const bool joint = access_.row_major;
  if (joint) axes_.push_back({true, Dim::c, volume(extents) / extents[Dim::n], extents});
  for (std::size_t k = kDims.size(); k-- > 0;) {
    const Dim dim = kDims[k];
    const EdgeAxis axis{false, dim, extents[dim], extents};
    if (joint && dim != Dim::n) continue;
    const bool cut =
        any_cut(producer_cuts, [&](const Cut& c) { return producer_digits(axis, c); }) ||
        any_cut(consumer_cuts, [&](const Cut& c) { return consumer_digits(axis, c); });
    if (dim == Dim::n || cut) {
      axes_.push_back(axis);
    } else {
      scale_ *= static_cast<double>(needed(axis, {}, 0).size());
    }
  }
}

Digits EdgeAxes::producer_digits(const EdgeAxis& axis, const Cut& cut) const {
  const LoopDigits owners = LoopDigits::of_owners(cut);
  if (!axis.joint) return {owners[axis.dim]};
  Digits digits;
  for (std::size_t k = 0; k < digits.size(); ++k) digits[k] = owners[kFlattened[k]];
  return digits;
}

Digits EdgeAxes::consumer_digits(const EdgeAxis& axis, const Cut& cut) const {
  const LoopDigits work = LoopDigits::of_work(cut);
  const Digit own = work[axis.dim], reduction = work.reduction();
  if (axis.joint || reduction.degree == 1 || !access_.is_reduced(axis.dim)) return {own};
  if (own.degree == 1 && !own.top) return {reduction};
  return own.stride > reduction.stride ? Digits{own, reduction} : Digits{reduction, own};
}

Interval EdgeAxes::needed(const EdgeAxis& axis, const Digits& digits,
                          std::int64_t part_number) const {
  const std::int64_t inner = digits[1].degree;
  Interval output = {0, output_[axis.dim]}, terms = Tile::kAllTerms;
  for (const auto& [digit, number] :
       {std::pair(digits[0], part_number / inner), std::pair(digits[1], part_number % inner)}) {
    if (digit.reduction) {
      terms = part(reduction_, digit.degree, number);
    } else if (digit.degree > 1) {
      output = part(output_[axis.dim], digit.degree, number);
    }
  }
  return strata::needed(access_.dims[axis.dim], output, axis.extent, terms);
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
