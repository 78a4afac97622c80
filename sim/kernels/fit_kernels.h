#pragma once

// From measured rows to a kernel table: the numbers of its model, the rows that interpolation
// needs, and how far it is off for rows that it does not have. Deterministic; thread-safe.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/kernels/kernel_model.h"
#include "sim/profile/profile.h"

namespace strata {

/// The parameters that minimise the mean |log(model / row)|, from those given, by steps along one
/// of them after another; of many rows, an even choice of 2,500.
/// `first_step`: of the logarithm; small where those given are near.
std::vector<double> fitted_parameters(const KernelTable& table, std::vector<double> from,
                                      double first_step = 0.3);
FittedRoofline fitted_roofline(const KernelTable& table);

/// What a measurement counts beside the kernel: a constant, and what grows from each row of the
/// file to the next.
struct CallOverhead {
  Seconds each, growth;
};
/// Of rows in the order of the file: what makes the model, whose launch is `launch`, fit them best.
CallOverhead fitted_overhead(const KernelTable& table, const std::vector<double>& from,
                             Seconds launch, bool grows);
/// The rows without it; a row of which it is most is left out.
std::vector<KernelRow> without_overhead(const std::vector<KernelRow>& rows,
                                        const CallOverhead& overhead);

/// The table without rows that the others predict within `tolerance` (a share); each row that is
/// left out is so predicted by those that stay.
KernelTable thinned(KernelTable table, double tolerance);

/// Rows by the time they take, with |predicted / measured - 1| of interpolation and of a roofline
/// that is fitted to the same rows.
struct LeftOutErrors {
  struct Share {
    double median = 0, p95 = 0;
  };
  struct Size {
    double least_seconds = 0;  ///< the largest power of ten
    std::size_t rows = 0;
    Share table, roofline;
  };
  std::vector<Size> sizes;
  Size all;
};
/// A fifth of the rows at a time is predicted from the others, five times, so that each row is
/// once; which, follows from `seed`.
LeftOutErrors left_out_errors(const KernelTable& table, std::uint64_t seed = 1);
/// How far the table is off for other rows.
LeftOutErrors errors_of(const KernelTable& table, const std::vector<KernelRow>& rows);

}  // namespace strata
