#pragma once

// The inner loops of the tables of t_X, built for several instruction sets; all give equal bits
// (bytes are whole numbers, exact in a double). Arrays hold rows of `width` doubles, a multiple of
// 8, one entry per group of devices (group_network.h).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

/// The maxima of a GroupNetwork as a flat program: for each maximum, its sums; for each sum, its
/// number of rows and the rows.
struct MaximaProgram {
  std::size_t group_size = 1;
  std::vector<std::uint32_t> code;       ///< per maximum: sums, then per sum: rows, row ...
  std::vector<const double*> per_group;  ///< per maximum: divisors by group, or null
};

struct TransferKernel {
  /// out[i] = factor * |[begin, end) cut with [need_begin, need_end)|
  void (*overlap)(double* out, const double* begin, const double* end, const double* need_begin,
                  const double* need_end, double factor, std::size_t width);
  void (*multiply)(double* out, const double* a, const double* b, std::size_t count);
  /// `volumes`: m m rows V(s, t), then m rows of what is read of number s by anybody, itself
  /// included; `needed`: m rows, `stride` apart, of what number t reads of anybody. `rows`: scratch
  /// of 2 m width. Raises largest[k] to the k-th maximum. Divisors begin at group `first`.
  void (*maxima)(const MaximaProgram& program, const double* volumes, const double* needed,
                 std::size_t stride, std::size_t first, std::size_t width, double* rows,
                 double* largest);
};

/// The fastest that this machine runs.
const TransferKernel& transfer_kernel();

}  // namespace strata
