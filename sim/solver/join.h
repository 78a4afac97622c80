#pragma once

// Eliminating one variable v: of the factors that mention it, the table over v's neighbours
//     made(n) = min over v of the sum of the factors' entries at (n, v).
// It is made of min-plus products. Some neighbour is the columns; the factors that mention it are
// the right matrix, the others the left one, whose rows run over all neighbours that only they
// mention. A neighbour on both sides is held: one product for each of its choices. With two
// neighbours and a table to each that is one product of two matrices (Eq. 2 of the paper).

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/solver/factor.h"
#include "sim/solver/min_plus.h"
#include "sim/solver/stop.h"

namespace strata {

/// Memory for packed matrices, kept from one join to the next.
class JoinScratch {
 public:
  double* packed(std::size_t size);

 private:
  std::unique_ptr<double[]> packed_;
  std::size_t size_ = 0;
};

class Join {
 public:
  /// `choices`: how many each variable has. Every factor mentions v.
  Join(std::uint32_t v, std::vector<Factor> factors, const std::vector<std::size_t>& choices);

  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  double operations() const;
  /// Equal keys: equal entries in the same order.
  std::vector<std::uint64_t> key() const;
  /// What make() fills, without entries.
  Factor shape() const;
  std::shared_ptr<const double[]> make(unsigned threads, const Stop& stop,
                                       JoinScratch& scratch) const;

  std::vector<Factor> take_factors() && { return std::move(factors_); }

 private:
  struct Axis {
    std::uint32_t variable = 0;
    std::size_t size = 0;
  };
  /// A factor, and how far apart its entries lie along the axes.
  struct Operand {
    const Factor* factor = nullptr;
    std::size_t inner = 0, column = 0;
    std::vector<std::size_t> held, rows;
  };
  struct Split;

  Split split_at(std::uint32_t column) const;
  void lay_out();
  void add_operand(const Factor& factor);
  std::vector<std::size_t> strides(const Factor& factor, const std::vector<Axis>& axes) const;
  std::size_t result_entries() const { return held_size_ * rows_ * columns_; }

  void pack(std::size_t held, std::size_t panel, const Panels& panels, double* packed) const;
  void multiply(std::size_t held, std::size_t first, std::size_t last, const double* packed,
                double* out) const;
  const double* left_row(std::size_t held, std::size_t row, double* sums) const;
  void make_one_by_one(unsigned threads, const Stop& stop, JoinScratch& scratch, double* out) const;
  void make_side_by_side(unsigned threads, const Stop& stop, double* out) const;

  std::uint32_t v_;
  std::vector<Factor> factors_;
  std::vector<Axis> axes_;  ///< v's neighbours, ascending
  std::vector<Axis> held_, row_axes_;
  std::optional<Axis> column_;
  std::size_t inner_ = 1, held_size_ = 1, rows_ = 1, columns_ = 1;
  std::vector<Operand> left_, right_;
};

}  // namespace strata
