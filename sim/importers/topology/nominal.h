#pragma once

// Figures that dumps of topologies leave out, as NCCL counts with them (src/graph/topo.h and
// src/graph/tuning.cc of NCCL 2.2x): nominal, below what the data sheets promise, not measured on
// the machine at hand. Pure functions.

#include <optional>
#include <string_view>

#include "sim/base/units.h"

namespace strata {

/// One NVLink of GPUs of this compute capability (90: Hopper), each direction; nothing below 60.
std::optional<BytesPerSecond> nominal_nvlink(int compute_capability);

/// A PCI link of so many giga-transfers a second (8: generation 3) and lanes: 12 GB/s for 16 lanes
/// of generation 3, out of 15.75 on the wire; the others in proportion. Nothing for another rate.
std::optional<BytesPerSecond> nominal_pcie(double gigatransfers, int lanes);
/// The same share of what the wire carries.
BytesPerSecond nominal_pcie(BytesPerSecond wire);

/// What is known of a kind of GPU by its name alone.
struct GpuGeneration {
  std::string_view kind;          ///< "v100"
  int compute_capability = 0;     ///< 70
  double gigatransfers = 0;       ///< of its 16 lanes
  bool names_capability = false;  ///< the kind that stands for its compute capability
};
/// Null for a kind that is not in the table.
const GpuGeneration* find_gpu_generation(std::string_view kind);
/// The kind that most GPUs of a compute capability are; null where several are as likely.
const GpuGeneration* find_gpu_generation(int compute_capability);

/// Between two processors: by what NCCL's dumps say of them.
BytesPerSecond nominal_socket(std::string_view arch, std::string_view vendor, int family,
                              int model);
/// Where nothing is said: Intel's UPI of the Skylake generation.
inline constexpr BytesPerSecond kNominalSocket{10e9};

/// Of a path, by the kind of its links. From device to device of two machines: kPcieLatency and
/// kNetworkLatency, 2.7 us together.
inline constexpr Seconds kNvLinkLatency{0.6e-6}, kPcieLatency{1e-6}, kNetworkLatency{1.7e-6};

}  // namespace strata
