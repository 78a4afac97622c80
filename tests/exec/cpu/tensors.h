#pragma once

// Tensors that own their memory, filled and read by global coordinates, and random boxes: what the
// referees of the kernels' tests stand on. Memory begins as NaN, so that whatever is not written
// shows.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/tensor.h"
#include "sim/geometry/geometry.h"
#include "tests/exec/shards/random.h"

namespace strata::cpu {

using Element = std::array<std::int64_t, 5>;  // n, c, d, h, w
using shards::each_seed;
using shards::pick;
using shards::Random;

/// A non-empty part of [0, extent).
inline Interval pick_part(Random& random, Interval of) {
  const std::int64_t begin = pick(random, of.begin, of.end - 1);
  return {begin, pick(random, begin + 1, of.end)};
}
/// A non-empty box within another; about every second dim whole.
inline Box pick_box(Random& random, const Box& of) {
  Box box = of;
  for (Dim dim : kDims) {
    if (pick(random, 0, 1) == 0) box[dim] = pick_part(random, of[dim]);
  }
  return box;
}

template <class Visit>
void each_element(const Box& box, Visit visit) {
  Element at{};
  const auto& b = box.values;
  for (at[0] = b[0].begin; at[0] < b[0].end; ++at[0])
    for (at[1] = b[1].begin; at[1] < b[1].end; ++at[1])
      for (at[2] = b[2].begin; at[2] < b[2].end; ++at[2])
        for (at[3] = b[3].begin; at[3] < b[3].end; ++at[3])
          for (at[4] = b[4].begin; at[4] < b[4].end; ++at[4]) visit(at);
}

/// Row-major over a whole tensor.
inline std::size_t index(const Extents& e, const Element& at) {
  std::int64_t i = 0;
  for (std::size_t k = 0; k < at.size(); ++k) i = i * e.values[k] + at[k];
  return static_cast<std::size_t>(i);
}

/// A whole tensor in double precision, for referees.
class Values {
 public:
  Values() = default;
  explicit Values(const Extents& extents, double value = 0)
      : extents_(extents), values_(static_cast<std::size_t>(volume(extents)), value) {}
  /// Each a float, so that it is the same in a kernel's memory.
  static Values random(const Extents& extents, Random& random, double low = -2, double high = 2) {
    Values values(extents);
    std::uniform_real_distribution<float> draw(static_cast<float>(low), static_cast<float>(high));
    for (double& value : values.values_) value = draw(random);
    return values;
  }

  const Extents& extents() const { return extents_; }
  double& operator[](const Element& at) { return values_[index(extents_, at)]; }
  double operator[](const Element& at) const { return values_[index(extents_, at)]; }

 private:
  Extents extents_;
  std::vector<double> values_;
};

/// The places beyond the last channel all hold zero.
inline bool unused_are_zero(const Tensor& t) {
  bool zero = true;
  for (std::int64_t n = 0; n < t.extents()[Dim::n]; ++n) {
    const float* last = t.block_at(n, t.blocks() - 1);
    for (std::int64_t i = 0; i < t.plane() * t.block(); ++i) {
      const bool used = (t.blocks() - 1) * t.block() + i % t.block() < t.extents()[Dim::c];
      zero = zero && (used || last[i] == 0);
    }
  }
  return zero;
}

/// A tensor and its memory.
class Held {
 public:
  explicit Held(const Box& box)
      : memory_(static_cast<std::size_t>(padded_size(strata::extents(box))),
                std::numeric_limits<float>::quiet_NaN()),
        box_(box) {}
  Held(const Box& box, const Values& values) : Held(box) {
    for (float& value : memory_) value = 0;
    each_element(box, [&](const Element& at) { (*this)[at] = static_cast<float>(values[at]); });
  }

  Region region() { return {memory_.data(), box_}; }
  Tensor tensor() { return Tensor(region()); }
  const Box& box() const { return box_; }

  /// By global coordinates.
  float& operator[](const Element& at) {
    const auto& b = box_.values;
    return tensor().at(at[0] - b[0].begin, at[1] - b[1].begin, at[2] - b[2].begin,
                       at[3] - b[3].begin, at[4] - b[4].begin);
  }

  bool unused_are_zero() { return cpu::unused_are_zero(tensor()); }

 private:
  std::vector<float> memory_;
  Box box_;
};

/// The largest |got - wanted| / (1 + |wanted|) in the box; infinite where NaN was left.
inline double distance(Held& got, const Values& wanted) {
  double most = 0;
  each_element(got.box(), [&](const Element& at) {
    const double off = std::abs(got[at] - wanted[at]) / (1 + std::abs(wanted[at]));
    most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
  });
  return most;
}

}  // namespace strata::cpu
