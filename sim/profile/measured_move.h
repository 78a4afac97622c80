#pragma once

// Measured times of moving bytes into one device's memory, as the device itself does it: they stand
// in the profile's file (docs/profiles.md, "Measured moves"). Values; thread-safe.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

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

  bool operator==(const MeasuredMove&) const = default;
};

/// The rows of a [moves] table, sorted by kind and bytes. What is wrong goes to `errors`, and so
/// does a row whose kind and bytes another has, too.
std::vector<MeasuredMove> read_moves(Table table, Diagnostics& errors);

/// The [moves] table; empty for no rows.
std::string print_moves(const std::vector<MeasuredMove>& moves);

}  // namespace strata
