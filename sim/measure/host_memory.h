#pragma once

// What a plan needs of this machine's memory when its devices are the machine's cores, or of each
// device's own.

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace strata {

/// The plan's buffers at their fullest, by device, and a quarter more: tensors lie in blocks of
/// channels, kernels have scratch memory, and freed memory is not always of use.
std::vector<Bytes> memory_by_device(const Plan& plan, const Cluster& cluster);
/// All devices together. An estimate: those that run apart from one another may be at their fullest
/// at other times.
Bytes memory_estimate(const Plan& plan, const Cluster& cluster);

/// What programs may still take, by /proc/meminfo and what the control group leaves; nothing where
/// the system does not say. `root`: of the files to read, for tests.
std::optional<Bytes> available_memory(const std::string& root = "");
/// All that programs could have, by the same files.
std::optional<Bytes> total_memory(const std::string& root = "");

}  // namespace strata
