#pragma once

// The measured moves of a profile, ready to be asked for any size. Immutable; thread-safe.

#include <array>
#include <optional>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/profile/measured_move.h"

namespace strata {

class MeasuredMoves {
 public:
  /// `rows` sorted by kind and bytes.
  explicit MeasuredMoves(const std::vector<MeasuredMove>& rows);

  /// The row of these very bytes; else, between the next smaller and the next larger, log time
  /// linear in log bytes. Below the smallest row, where the call itself decides, that row's time;
  /// above the largest, where the memory does, in proportion to the bytes. Nothing for a kind
  /// without rows.
  std::optional<Cost> operator()(MoveKind kind, Bytes bytes) const;

 private:
  struct Row {
    double bytes, seconds;
    double spread;  ///< of the seconds
  };
  std::array<std::vector<Row>, kMoveKindNames.size()> rows_;
};

}  // namespace strata
