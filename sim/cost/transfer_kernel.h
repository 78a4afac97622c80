#pragma once

// The inner loops of the tables of t_X, built for several instruction sets; all give equal bits
// (bytes are whole numbers, exact in a double). Arrays start at a cache line and hold rows of
// `width` doubles, a multiple of 8, one entry per group of devices (group_network.h).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

/// The maxima of a GroupNetwork as a flat program. `code`, for each maximum: how many of its sums
/// have one row; their rows; how many have more; of each of these its number of rows, and the rows.
struct MaximaProgram {
  std::size_t group_size = 1;
  std::size_t maxima = 0;
  std::vector<std::uint32_t> code;
  std::vector<const double*> divisors;  ///< per maximum: by group, or null

  std::size_t rows() const { return group_size * group_size + 4 * group_size; }
};

/// A tile of groups whose maxima are asked for.
struct TransferTile {
  const double* needed;  ///< m rows, `stride` apart: what number t reads of anybody
  std::size_t stride;
  std::size_t first;  ///< group, of the tile
  std::size_t width;
};

struct TransferKernel {
  /// out[i] = factor * |[begin, end) cut with [need_begin, need_end)|
  void (*overlap)(double* out, const double* begin, const double* end, const double* need_begin,
                  const double* need_end, double factor, std::size_t width);
  void (*multiply)(double* out, const double* a, const double* b, std::size_t count);
  /// `a` and `b`: factors of m m rows V(s, t), then of m rows of what is read of number s by
  /// anybody, itself included. Raises largest[k] to the k-th maximum of the products. `scratch`:
  /// 8 (program.rows() + program.maxima + m) doubles.
  void (*maxima)(const MaximaProgram& program, const double* a, const double* b,
                 const TransferTile& tile, double* scratch, double* largest);
  /// The same of a tile of 8 lanes, each for itself: largest[8 k + lane] is set.
  void (*maxima_by_lane)(const MaximaProgram& program, const double* a, const double* b,
                         const TransferTile& tile, double* scratch, double* largest);
};

/// The fastest that this machine runs.
const TransferKernel& transfer_kernel();

}  // namespace strata
