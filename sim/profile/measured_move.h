#pragma once

// Measured times of moving bytes into one device's memory, as the device itself does it: they stand
// in the profile's file (docs/profiles.md, "Measured moves"; move_table.h reads them). Values;
// thread-safe.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace strata {

enum class MoveKind : std::uint8_t {
  copy,    ///< from the memory of another device of this kind, on the same host
  reduce,  ///< the same, but added to what is there
  local    ///< within the device's own memory
};
inline constexpr std::array<std::string_view, 3> kMoveKindNames = {"copy", "reduce", "local"};
constexpr std::string_view name(MoveKind kind) {
  return kMoveKindNames[static_cast<std::size_t>(kind)];
}

struct MeasuredMove {
  MoveKind kind = MoveKind::copy;
  Bytes bytes;             ///< that arrive
  Seconds seconds;         ///< median
  Seconds spread;          ///< half the distance between the quartiles
  std::int64_t count = 1;  ///< repetitions
  std::string source;      ///< machine, date

  /// The spread, of the seconds.
  double relative_spread() const { return seconds.value > 0 ? spread / seconds : 0; }

  bool operator==(const MeasuredMove&) const = default;
};

}  // namespace strata
