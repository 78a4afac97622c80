#pragma once

// Which elements a dropout keeps: a function of the seed, the layer, the step and the element's
// place in the output of the whole batch, so that every cut, in space or in time, and every backend
// drops the same. Pure. What is constexpr runs on GPUs, too.

#include <cmath>
#include <cstdint>

#include "sim/graph/graph.h"

namespace strata {

/// Of one step.
class DropoutMask {
 public:
  DropoutMask(std::uint64_t seed, LayerId layer, std::uint64_t step, double probability);

  /// `element`: row-major over (n, c, d, h, w) of the layer's whole output; n counts on over the
  /// rounds of a step.
  constexpr bool keeps(std::int64_t element) const {
    const auto counter = static_cast<std::uint64_t>(element) * 0x9E3779B97F4A7C15U;
    return mix(key_ + counter) >> 32U >= dropped_;
  }

 private:
  friend class LayerDropout;
  constexpr DropoutMask(std::uint64_t key, std::uint64_t dropped) : key_(key), dropped_(dropped) {}

  /// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }

  std::uint64_t key_, dropped_;
};

/// What the masks of all steps share.
class LayerDropout {
 public:
  LayerDropout(std::uint64_t seed, LayerId layer, double probability)
      : key_(DropoutMask::mix(DropoutMask::mix(seed) + layer())),
        // 32 bits of chance; at most all but one of 2^32.
        dropped_(static_cast<std::uint64_t>(std::llround(probability * 4294967296.0))) {}

  constexpr DropoutMask mask(std::uint64_t step) const {
    return {DropoutMask::mix(key_ + step), dropped_};
  }

 private:
  std::uint64_t key_, dropped_;
};

inline DropoutMask::DropoutMask(std::uint64_t seed, LayerId layer, std::uint64_t step,
                                double probability)
    : DropoutMask(LayerDropout(seed, layer, probability).mask(step)) {}

}  // namespace strata
