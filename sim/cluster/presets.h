#pragma once

// The clusters that come with Strata: scenarios/clusters/*.toml, compiled in. A family whose file
// gives a grid can be had in any size: p100-4x4 is p100.toml with 4 hosts of 4 devices. The cores
// of one CPU as devices, cpu:4, need no file (cpu_cluster.h).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

struct Preset {
  std::string pattern;  ///< "p100-HxD", "dgx1-p100[-H]"
  std::string example;  ///< a name that preset_cluster takes
  std::string description;
};

/// In the order in which `strata clusters` lists them.
std::vector<Preset> presets();

/// Throws InputError that lists the patterns for a name that is none of them.
Cluster preset_cluster(std::string_view name);

/// A CLUSTER of the command line: a preset's name, or a file ending in .toml.
Cluster load_cluster(const std::string& name_or_path);

}  // namespace strata
