#pragma once

// Does a device's work go well on a part of a GPU? Drivers make green contexts for which they, or a
// library, may then refuse streams, events, recordings or kernels: better known before devices are
// given theirs than in the midst of a run.

#include <span>

#include "exec/cuda/device/gpu_part.h"
#include "exec/cuda/streams/seat.h"

namespace strata::cuda {

/// Runs a little of each kind on a stream of the part, products in each precision. Throws
/// EnvironmentError for what is refused.
void try_part(const GpuPart& part);

/// The same on a seat that is there, in its precision.
void try_seat(Seat& seat);

/// Of a list of devices, as they passed that.
GpuParts tried_parts(std::span<const int> gpus);

}  // namespace strata::cuda
