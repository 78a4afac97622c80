#include "sim/cost/axis_sides.h"

#include <algorithm>
#include <numeric>

namespace strata {
namespace {

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <class T>
std::uint32_t index_in(const std::vector<T>& sorted, const T& value) {
  return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                    sorted.begin());
}

Digits without_strides(Digits digits) {
  for (Digit& digit : digits) digit = {digit.degree, 1, false, digit.reduction};
  return digits;
}

// Numbers the distinct digits of the cuts, and their distinct degrees.
template <class DigitsOf>
void number_keys(const Cuts& cuts, const DigitsOf& digits_of, AxisSide& side) {
  std::vector<Digits> digits;
  digits.reserve(cuts.size());
  for (const Cut& cut : cuts) digits.push_back(digits_of(cut));
  side.keys = digits;
  sort_unique(side.keys);
  side.key_of.reserve(cuts.size());
  for (const Digits& d : digits) side.key_of.push_back(index_in(side.keys, d));
  for (const Digits& key : side.keys) side.degrees.push_back(without_strides(key));
  sort_unique(side.degrees);
  for (const Digits& key : side.keys) {
    side.degree_of.push_back(index_in(side.degrees, without_strides(key)));
  }
}

}  // namespace

LaneLayout::LaneLayout(std::size_t numbers, std::size_t span,
                       const std::vector<std::uint32_t>& groups)
    : numbers_(numbers),
      span_(span),
      padded_((groups.size() + kLanes - 1) / kLanes * kLanes),
      groups_(groups) {}

std::size_t LaneLayout::device_at(std::size_t lane) const {
  const std::size_t number = lane / padded_, group = lane % padded_;
  if (groups_.size() == 1) return (groups_.front() * numbers_ + number) * span_;
  return group < groups_.size() ? (groups_[group] * numbers_ + number) * span_ : kNoDevice;
}

Interval LaneLayout::parts_held(const Digits& digits, std::size_t lane) const {
  const std::size_t first = device_at(lane);
  Interval held;
  for (std::size_t device = first; first != kNoDevice && device < first + span_; ++device) {
    const std::int64_t outer = digits[0].at(static_cast<std::int64_t>(device));
    const std::int64_t inner = digits[1].at(static_cast<std::int64_t>(device));
    if (outer >= digits[0].degree || inner >= digits[1].degree) continue;  // it holds nothing
    const std::int64_t i = outer * digits[1].degree + inner;
    held = held.empty() ? Interval{i, i + 1}
                        : Interval{std::min(held.begin, i), std::max(held.end, i + 1)};
  }
  return held;
}

AxisSides::AxisSides(const EdgeAxes& axes, const EdgeAxis& along, const Cuts& producer_cuts,
                     const Cuts& consumer_cuts, const LaneLayout& layout)
    : axis(along) {
  number_keys(
      producer_cuts, [&](const Cut& cut) { return axes.producer_digits(axis, cut); }, producer);
  number_keys(
      consumer_cuts, [&](const Cut& cut) { return axes.consumer_digits(axis, cut); }, consumer);
  place_consumer(axes, layout);
  if (axis.joint) {
    place_joint(layout);
  } else {
    place_producer(layout);
    sum_readings();
  }
}

void AxisSides::place_producer(const LaneLayout& layout) {
  AxisSide& side = producer;
  const std::size_t lanes = layout.lanes();
  side.begin.assign(side.keys.size() * lanes, 0);
  side.end.assign(side.keys.size() * lanes, 0);
  side.parts.assign(side.keys.size() * lanes, {});
  for (std::size_t at = 0; at < side.parts.size(); ++at) {
    if (layout.repeats(at)) {
      side.parts[at] = side.parts[at - 1];
      side.begin[at] = side.begin[at - 1];
      side.end[at] = side.end[at - 1];
      continue;
    }
    const Digit& digit = side.keys[at / lanes].front();
    const Interval parts = layout.parts_held({digit}, at % lanes);
    if (parts.empty()) continue;
    side.parts[at] = parts;
    side.begin[at] = static_cast<double>(part(axis.extent, digit.degree, parts.begin).begin);
    side.end[at] = static_cast<double>(part(axis.extent, digit.degree, parts.end - 1).end);
  }
}

void AxisSides::place_consumer(const EdgeAxes& axes, const LaneLayout& layout) {
  AxisSide& side = consumer;
  for (const Digits& digits : side.degrees) {
    const std::int32_t degree = part_count(digits);
    std::vector<Interval>& of_degree = needs.emplace_back();
    of_degree.reserve(static_cast<std::size_t>(degree));
    for (std::int64_t j = 0; j < degree; ++j) {
      of_degree.push_back(axis.joint ? part(axis.extent, degree, j) : axes.needed(axis, digits, j));
    }
  }
  const std::size_t lanes = layout.lanes();
  for (AlignedVector<double>* of : {&side.begin, &side.end, &side.size}) {
    of->assign(side.keys.size() * lanes, 0);
  }
  side.parts.assign(side.keys.size() * lanes, {});
  for (std::size_t at = 0; at < side.parts.size(); ++at) {
    if (layout.repeats(at)) {
      side.parts[at] = side.parts[at - 1];
      for (AlignedVector<double>* of : {&side.begin, &side.end, &side.size}) {
        (*of)[at] = (*of)[at - 1];
      }
      continue;
    }
    const std::size_t key = at / lanes;
    const std::vector<Interval>& of_part = needs[side.degree_of[key]];
    Interval hull;
    side.parts[at] = layout.parts_held(side.keys[key], at % lanes);
    for (std::int64_t j = side.parts[at].begin; j < side.parts[at].end; ++j) {
      const Interval& need = of_part[static_cast<std::size_t>(j)];
      side.size[at] += static_cast<double>(need.size());
      if (need.empty()) continue;
      hull = hull.empty()
                 ? need
                 : Interval{std::min(hull.begin, need.begin), std::max(hull.end, need.end)};
    }
    side.begin[at] = static_cast<double>(hull.begin);
    side.end[at] = static_cast<double>(hull.end);
  }
}

void AxisSides::place_joint(const LaneLayout& layout) {
  const std::vector<Digits>& keys = producer.keys;
  const std::size_t lanes = layout.lanes();
  boxes.assign(keys.size() * lanes, Box{});
  for (std::size_t at = 0; at < boxes.size(); ++at) {
    Box box{};
    bool holds = true;
    std::size_t k = 0;
    for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) {
      const Digit& digit = keys[at / lanes][k++];
      const Interval parts = layout.parts_held({digit}, at % lanes);
      holds = holds && !parts.empty();
      if (!holds) break;
      box[dim] = {part(axis.producer[dim], digit.degree, parts.begin).begin,
                  part(axis.producer[dim], digit.degree, parts.end - 1).end};
    }
    box[Dim::n] = {0, 1};
    if (holds) boxes[at] = box;
  }
}

void AxisSides::sum_readings() {
  for (const Digits& digits : producer.degrees) {
    const std::int32_t p = digits.front().degree;
    for (const std::vector<Interval>& of_part : needs) {
      std::vector<double>& before = read_before.emplace_back(static_cast<std::size_t>(p) + 1);
      for (const Interval& need : of_part) {
        const Interval touched = parts_touching(axis.extent, p, need);
        for (std::int64_t i = touched.begin; i < touched.end; ++i) {
          const Interval shared = intersect(part(axis.extent, p, i), need);
          before[static_cast<std::size_t>(i) + 1] += static_cast<double>(shared.size());
        }
      }
      std::partial_sum(before.begin(), before.end(), before.begin());
    }
  }
}

}  // namespace strata
