#pragma once

// What a kernel takes by a model of tiles and waves whose few numbers are fitted to measured rows
// (docs/profiles.md, "Kernel tables"): a table interpolates the ratio of its rows to this, so that
// the steps of whole tiles and whole rounds over the cores stay where they are. Beside it a
// roofline, to compare with. Pure functions; thread-safe.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/base/units.h"
#include "sim/profile/profile.h"

namespace strata {

/// By the kernel's model; `parameters` as facts(kernel) lists them. Positive.
Seconds modelled(KernelKind kernel, DType dtype, std::span<const double> parameters,
                 const KernelShape& shape);

/// Where a fit of the model begins, from what the profile says of the kind. The number of cores is
/// a fact, and stays.
std::vector<double> first_parameters(KernelKind kernel, const Profile& profile, DType dtype);

/// One multiply-accumulate is two. Of causal attention, of the pairs that are seen.
Flops kernel_flops(KernelKind kernel, const KernelShape& shape);
/// Each tensor read or written once.
double kernel_bytes(KernelKind kernel, DType dtype, const KernelShape& shape);

/// launch + max(operations / rate, bytes / bandwidth).
struct FittedRoofline {
  double launch = 0, rate = 1, bandwidth = 1;

  Seconds operator()(KernelKind kernel, DType dtype, const KernelShape& shape) const;
};

/// Where a shape lies among others: kernels of near coordinates differ alike from the model. Scaled
/// logarithms, so that a factor of e in what matters most is about 1; shapes of which one says
/// nothing of the other (convolutions of different windows) are further apart than any reach.
inline constexpr std::size_t kCoordinates = 8;
using Coordinates = std::array<double, kCoordinates>;
Coordinates coordinates(KernelKind kernel, const KernelShape& shape);
/// How many of them are not always 0: the first ones.
std::size_t used_coordinates(KernelKind kernel);

}  // namespace strata
