#include "sim/plan/known_boxes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/plan/mixed_bits.h"

namespace strata {
namespace {

// Products that do not wait for one another.
Bits sum_of(const Box& box) {
  static constexpr auto kFactors = [] {
    std::array<Bits, 2 * kDims.size()> factors{};
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = mixed(i) | 1U;
    return factors;
  }();
  Bits sum = 0;
  for (std::size_t i = 0; i < kDims.size(); ++i) {
    sum += kFactors[2 * i] * static_cast<Bits>(box.values[i].begin);
    sum += kFactors[2 * i + 1] * static_cast<Bits>(box.values[i].end);
  }
  return sum;
}

Bits hash_of(std::span<const Box> list) {
  Bits hash = 0;
  for (const Box& box : list) hash = mixed(hash + sum_of(box));
  return hash;
}

}  // namespace

std::uint32_t KnownBoxes::find_or_add(std::span<const Box> list, std::vector<Box>& boxes) {
  if (list.empty()) return 0;
  const std::uint64_t hash = hash_of(list);
  Known& known = slots_[slot_of(list, hash, boxes)];
  if (known.count > 0) return known.first;
  const auto first = static_cast<std::uint32_t>(boxes.size());
  known = {first, static_cast<std::uint32_t>(list.size()), hash};
  boxes.insert(boxes.end(), list.begin(), list.end());
  if (2 * ++size_ > slots_.size()) grow();
  return first;
}

// The slot that has the list, or that it belongs into.
std::size_t KnownBoxes::slot_of(std::span<const Box> list, std::uint64_t hash,
                                std::span<const Box> boxes) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot].count > 0; slot = (slot + 1) & mask) {
    const Known& known = slots_[slot];
    if (known.hash != hash) continue;
    if (std::ranges::equal(boxes.subspan(known.first, known.count), list)) break;
  }
  return slot;
}

void KnownBoxes::grow() {
  std::vector<Known> all = std::exchange(slots_, std::vector<Known>(2 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Known& known : all) {
    if (known.count == 0) continue;
    std::size_t slot = known.hash & mask;
    while (slots_[slot].count > 0) slot = (slot + 1) & mask;
    slots_[slot] = known;
  }
}

}  // namespace strata
