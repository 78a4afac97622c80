#pragma once

// One number for a whole value, the same on every machine: FNV-1a (Fowler, Noll, Vo; 64 bits) over
// the bytes of its numbers, the lowest first. Two that differ have other numbers all but surely.
// Pure; thread-safe.

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "sim/plan/plan.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/timeline.h"

namespace strata::testing {

class Fingerprint {
 public:
  template <class T>
  requires std::integral<T> || std::is_enum_v<T> Fingerprint& operator<<(T number) {
    return add(static_cast<std::uint64_t>(number));
  }
  Fingerprint& operator<<(double number) { return add(std::bit_cast<std::uint64_t>(number)); }

  std::uint64_t value() const { return value_; }
  /// 16 hexadecimal digits.
  std::string text() const;

 private:
  Fingerprint& add(std::uint64_t number);

  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Every layer's degrees and devices; not the name.
Fingerprint fingerprint(const Strategy& strategy);

/// What runs where, in which order, and what moves: tasks and what they wait for within the step,
/// transfers, groups, placements and what is read. `graph`: the one that was lowered. Not the
/// memory: buffers, what works in place, and what a step waits for of the step before.
Fingerprint fingerprint(const Plan& plan, const Graph& graph);

/// What each task waits for of the step before: mostly for memory to be free again.
Fingerprint carried_fingerprint(const Plan& plan);

/// When every task of every step was ready, started and ended.
Fingerprint fingerprint(const Timeline& timeline);

}  // namespace strata::testing
