#pragma once

// The product of dense matrices in the (min, +) algebra:
//     out[a][b] = min over v of left[a][v] + right[v][b],
// what eliminating one variable costs. Built for several instruction sets; where sums are exact all
// give equal bits, as a minimum does not depend on its order. Entries may be infinite; not NaN.
//
// As in a dense matrix multiplication, a tile of `out` stays in registers while v runs; `right` is
// packed beforehand into panels as wide as a tile, so that a panel is read in one stream and stays
// in the caches for all rows. A product is made a block of rows at a time, by whichever thread.
// Immutable; thread-safe.

#include <cstddef>
#include <vector>

namespace strata {

struct MinPlusKernel {
  const char* name;
  std::size_t lanes;        ///< doubles in a register
  std::size_t panel_width;  ///< columns of a panel, a multiple of `lanes`
  /// `left`: where each row begins, its entries side by side; `packed`: laid out by Panels; `out`:
  /// `rows` x `columns` side by side.
  void (*multiply)(const double* const* left, std::size_t rows, const double* packed,
                   std::size_t inner, std::size_t columns, double* out);
};

/// The fastest that this machine runs.
const MinPlusKernel& min_plus_kernel();
/// All that this machine runs.
std::vector<const MinPlusKernel*> min_plus_kernels();

/// Where the entries of an inner x columns matrix lie once packed: panel after panel, each row
/// after row. The last panel is as narrow as whole registers allow; what is left of it is infinite.
class Panels {
 public:
  Panels(const MinPlusKernel& kernel, std::size_t inner, std::size_t columns);

  std::size_t size() const { return inner_ * padded_; }  ///< in doubles
  std::size_t count() const { return (padded_ + width_ - 1) / width_; }
  std::size_t first_column(std::size_t panel) const { return panel * width_; }
  std::size_t columns(std::size_t panel) const;  ///< without the padding
  std::size_t width(std::size_t panel) const;    ///< with it
  std::size_t offset(std::size_t panel) const { return panel * width_ * inner_; }

 private:
  std::size_t inner_, columns_, width_, padded_;
};

/// out = left (rows x inner) times right (inner x columns), all row-major, by one thread.
void min_plus(const double* left, const double* right, std::size_t rows, std::size_t inner,
              std::size_t columns, double* out, const MinPlusKernel& kernel = min_plus_kernel());

}  // namespace strata
