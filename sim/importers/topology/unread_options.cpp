#include "sim/importers/topology/unread_options.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

struct ImportOption {
  std::string_view name;
  bool given;
  std::vector<TopologyFormat> readers;
};

// --bandwidth and --latency are read with every format.
std::vector<ImportOption> list_options(const ImportOptions& options) {
  using enum TopologyFormat;
  const MachineOptions& machine = options.machine;
  return {{"`hosts`", options.hosts != 1, {nccl, smi, hwloc}},
          {"`kind`", !machine.kind.empty(), {nccl, smi, hwloc}},
          {"`pcie`", machine.pcie.has_value(), {nccl, smi, hwloc}},
          {"`socket`", machine.socket.has_value(), {nccl, smi, hwloc}},
          {"`nvlink`", machine.nvlink.has_value(), {nccl, smi}},
          {"`node`", !options.node.empty(), {slurm}},
          {"`uplink`", options.uplink.has_value(), {slurm}}};
}

std::string names_of(const std::vector<TopologyFormat>& formats) {
  std::string names;
  for (const TopologyFormat format : formats) {
    names += (names.empty() ? "" : ", ") + std::string(name(format));
  }
  return names;
}

}  // namespace

void refuse_unread_options(const std::string& file, TopologyFormat format,
                           const ImportOptions& options) {
  for (const ImportOption& option : list_options(options)) {
    const auto& readers = option.readers;
    if (!option.given || std::find(readers.begin(), readers.end(), format) != readers.end()) {
      continue;
    }
    throw InputError(fmt::format("{}: {} says nothing to the format {}; allowed with: {}", file,
                                 option.name, name(format), names_of(readers)));
  }
}

}  // namespace strata
