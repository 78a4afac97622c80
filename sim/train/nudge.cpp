#include "sim/train/nudge.h"

#include <bit>
#include <random>

#include "sim/base/counter_random.h"

namespace strata {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;

// What tf32 leaves out it leaves out within a product; between layers it keeps float32.
std::uint32_t last_place(DType type) {
  return type == DType::bf16 ? 1U << 16U : 1U;
}

}  // namespace

void nudge(std::span<float> values, const Nudge& by, std::string_view stream) {
  const std::uint32_t distance = by.units * last_place(by.type);
  std::minstd_rand random(
      static_cast<std::uint32_t>(CounterRandom(0, stream).uniform(0) * 0x7FFFFFF0));
  for (float& value : values) {
    const bool up = (random() & 0x100U) != 0;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & kMagnitude) <= distance) continue;
    value = std::bit_cast<float>(up ? bits + distance : bits - distance);
  }
}

}  // namespace strata
