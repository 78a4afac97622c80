// What tools say of real machines: NCCL's and hwloc's XML, nvidia-smi's matrix, SLURM's switches;
// and where it is sound, the cluster of two such hosts.

#include "sim/base/error.h"
#include "sim/cluster/cluster_file.h"
#include "sim/importers/topology/import.h"
#include "tests/fuzz/harness.h"

namespace {

bool reads_back(const strata::Cluster& cluster) {
  try {
    return strata::parse_cluster(strata::print_cluster(cluster), "a.toml") == cluster;
  } catch (const strata::InputError&) {
    return false;
  }
}

void check_import(std::string_view text, const strata::ImportOptions& options) {
  const strata::TopologySource source{"a", std::string(text)};
  if (!reads_back(strata::import_cluster({&source, 1}, options).cluster)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    strata::ImportOptions options;
    options.name = "fuzzed";
    options.machine.network = strata::BytesPerSecond{1e9};
    strata::ImportOptions of_switches = options;
    of_switches.node = "p100-1x2";
    options.machine.kind_if_unknown = "p100";
    if (text.find("GPU0") != text.npos) options.machine.kind = "a100";
    options.hosts = 2;
    try {
      check_import(text, of_switches);
    } catch (const strata::InputError&) {  // of another format
      check_import(text, options);
    }
  });
}
