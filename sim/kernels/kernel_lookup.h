#pragma once

// The times of a kernel table, ready to be asked: the row of a shape, or an estimate between the
// rows of near shapes. Immutable; thread-safe; a question takes two to three microseconds.

#include <optional>
#include <vector>

#include "sim/kernels/nearest_rows.h"
#include "sim/profile/kernel_table.h"

namespace strata {

class KernelLookup {
 public:
  /// The nearest row is at most this far (kernel_model.h, coordinates), or nothing is said.
  static constexpr double kReach = 2.2;

  /// The table must outlive this.
  explicit KernelLookup(const KernelTable& table);

  struct Time {
    Seconds seconds;
    bool measured = false;  ///< the row of this very shape; else between rows
  };
  /// The row; else the model's time by what the nearest rows take of theirs: the logarithm of that
  /// ratio as a plane fitted to them, near ones counting more (the inverse square of the distance).
  /// Nothing where no row is near.
  std::optional<Time> operator()(const KernelShape& shape) const;

  /// The same as if there were no row of this shape.
  std::optional<Seconds> between(const KernelShape& shape) const;

 private:
  const KernelTable& table_;
  std::vector<double> ratios_;  ///< logarithms of row / model, by row
  NearestRows near_;
};

}  // namespace strata
