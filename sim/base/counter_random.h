#pragma once

// Random numbers by place: the k-th of a stream is a function of the seed, the stream's name and k,
// so that it does not matter in which order, or in how many parts, they are drawn. Pure.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace strata {

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::string_view stream)
      : key_(mix(mix(seed) + hash(stream))) {}

  /// In [0, 1), of 53 bits.
  double uniform(std::uint64_t k) const {
    constexpr double kStep = 0x1p-53;
    return static_cast<double>(mix(key_ + k * 0x9E3779B97F4A7C15U) >> 11U) * kStep;
  }
  /// Mean 0, variance 1, by the transform of Box and Muller (1958).
  double normal(std::uint64_t k) const {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * k)));
    return radius * std::cos(2 * std::numbers::pi * uniform(2 * k + 1));
  }

 private:
  /// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
  /// FNV-1a.
  static constexpr std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xCBF29CE484222325U;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return h;
  }

  std::uint64_t key_;
};

}  // namespace strata
