#pragma once

// The cores of one machine as devices: one pinned thread each, which computes and also copies what
// it receives. So the devices have no copy engine, and any two of them are joined by a link each
// way, since each thread copies on its own.
//
// The default figures are typical of one core that reads from the shared cache or the memory what
// another wrote (10 GB/s; 1 us to hand a task over), assumed and not measured; measured moves
// of a profile (sim/profile/measured_move.h) take their place where there are any. That the threads
// share the memory's bandwidth is left out.

#include <string_view>

#include "sim/cluster/cluster.h"

namespace strata {

inline constexpr int kCpuDeviceLimit = 256;
inline constexpr BytesPerSecond kCpuCopyBandwidth{10e9};
inline constexpr Seconds kCpuCopyLatency{1e-6};
inline constexpr std::int64_t kCpuChannelBlock = 16;  ///< floats of a vector of AVX-512
inline constexpr std::string_view kCpuClusterDescription =
    "N cores of this machine, a thread each, without copy engines: 10 GB/s, 1 us (assumed)";

/// "cpu:N": devices cpu0 ... of kind "cpu" on "localhost", links "cpu0>cpu1" of kind "intra".
/// Throws InputError unless there are 1 to kCpuDeviceLimit devices.
Cluster cpu_cluster(int devices, BytesPerSecond bandwidth = kCpuCopyBandwidth,
                    Seconds latency = kCpuCopyLatency,
                    std::int64_t channel_block = kCpuChannelBlock);

}  // namespace strata
