#pragma once

// The switches of a cluster as SLURM's topology.conf (topology/tree) names them, with the hosts on
// the lowest: SwitchName=leaf0 Nodes=n[1-4], SwitchName=top Switches=leaf[0-1]. LinkSpeed is not
// read: SLURM itself gives it no meaning. Pure; thread-safe.

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/importers/topology/fabric.h"

namespace strata {

/// `topology`: of each host. `uplink`: of each switch to the one above it; else as much as
/// all hosts below it can send at once. Throws InputError "FILE:LINE: ...".
Fabric read_slurm(std::string_view text, const std::string& file, HostTopology topology,
                  const std::optional<BytesPerSecond>& uplink);

}  // namespace strata
