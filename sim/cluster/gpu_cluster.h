#pragma once

// GPUs of one machine, or of several that work together, as devices of a real run; several devices
// may share a GPU. A device that has a GPU to itself receives beside what it computes, as with a
// copy engine, and puts boxes of its own memory together on the stream that it computes on. One
// that shares its GPU copies what it receives there, too: beside a neighbour's work nothing is
// gained by another stream. Any two are joined by a link each way.
//
// The links' figures are assumed and not measured: within a GPU its memory's bandwidth, half of
// which a copy reaches; between GPUs the fourth generation of PCI Express; between hosts a network
// of 100 Gb/s, of which each device is given all. Measured moves of a profile
// (sim/profile/measured_move.h) take their place where there are any.

#include <span>
#include <string>

#include "sim/cluster/cluster.h"

namespace strata {

/// One device of a real run.
struct GpuDevice {
  int gpu = 0;       ///< as the driver numbers them
  std::string name;  ///< "cuda0", or "cuda0.2" where several share it
  std::string kind;  ///< a profile's: "h200"
  std::string host = "localhost";
};

inline constexpr BytesPerSecond kSharedGpuBandwidth{1.5e12}, kBetweenGpusBandwidth{25e9},
    kBetweenHostsBandwidth{12.5e9};
inline constexpr Seconds kSharedGpuLatency{3e-6}, kBetweenGpusLatency{10e-6},
    kBetweenHostsLatency{20e-6};

/// `name`: what the user calls them, "cuda:0/4". Links within a GPU are of kind "intra", between
/// GPUs of kind "inter". Precondition: there is a device, and names differ.
Cluster gpu_cluster(const std::string& name, std::span<const GpuDevice> devices);

/// The kind of the GPU that its driver calls so: "NVIDIA H200" is an h200, "NVIDIA A100-SXM4-40GB"
/// an a100, "NVIDIA GeForce RTX 4090" an rtx-4090. Each of several devices that share one
/// has a kind of its own, as its costs are not a whole GPU's: one of four is an h200/4.
std::string gpu_kind(const std::string& driver_name, std::size_t sharing = 1);

}  // namespace strata
