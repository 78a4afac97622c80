// What tools say of real machines: NCCL's and hwloc's XML, nvidia-smi's matrix, SLURM's switches;
// and where it is sound, the cluster of one such host or two, of which a hash of the bytes picks
// one in four to be printed and read back equal.

#include <cstdlib>
#include <functional>

#include "sim/base/error.h"
#include "sim/cluster/cluster_file.h"
#include "sim/importers/topology/import.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"
#include "tests/fuzz/xml_mutator.h"

namespace {

constexpr const char* kElements[] = {
    "system",    "cpu",      "pci",    "gpu",  "nvlink",  "c2c",       "nic",
    "net",       "topology", "object", "info", "indexes", "u64values", "distances2hetero",
    "distances2"};
constexpr const char* kAttributes[] = {
    "version",   "numaid",   "arch",        "vendor", "familyid",   "modelid",
    "busid",     "class",    "device",      "target", "link_speed", "link_width",
    "dev",       "sm",       "gcn",         "count",  "tclass",     "bw",
    "name",      "speed",    "latency",     "keep",   "type",       "gp_index",
    "pci_busid", "pci_type", "bridge_type", "value",  "osdev_type", "pci_link_speed",
    "kind",      "nbobjs",   "length",      "depth"};
constexpr const char* kValues[] = {"x86_64",
                                   "ppc64",
                                   "arm64",
                                   "GenuineIntel",
                                   "AuthenticAMD",
                                   "0x030200",
                                   "0x060400",
                                   "0x068000",
                                   "0x068001",
                                   "0x020700",
                                   "0x1000",
                                   "0xc010",
                                   "8 GT/s",
                                   "16.0 GT/s PCIe",
                                   "0000:03:00.0",
                                   "0000:05:00.0",
                                   "4:5",
                                   "16",
                                   "70",
                                   "Machine",
                                   "Package",
                                   "Core",
                                   "Bridge",
                                   "PCIDev",
                                   "OSDev",
                                   "NUMANode",
                                   "GPUModel",
                                   "Tesla P100",
                                   "0302 [10de:15f8]",
                                   "0-1",
                                   "1-1",
                                   "NVLinkBandwidth",
                                   "OSDev:21",
                                   "PCIDev:40",
                                   "cuda0",
                                   "0680 [10de:1af1]"};
constexpr strata::XmlVocabulary kXml = {kElements, kAttributes, kValues};

constexpr std::string_view kWords[] = {"GPU0",       "GPU1",   "GPU2",     "mlx5_0",    "X",
                                       "NV1",        "NV4",    "NV18",     "PIX",       "PXB",
                                       "PHB",        "NODE",   "SYS",      "CPU",       "Affinity",
                                       "SwitchName", "Nodes",  "Switches", "LinkSpeed", "BlockName",
                                       "leaf0",      "n[0-3]", "top",      "0-15",      "NUMA"};
constexpr std::string_view kLines[] = {"\tGPU0\tGPU1\tCPU Affinity",
                                       "GPU0\t X \tNV1\t0-15",
                                       "GPU1\tNV1\t X \t0-15",
                                       "SwitchName=leaf0 Nodes=n[0-1,07]",
                                       "SwitchName=top Switches=leaf[0-1]",
                                       "Legend:"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

bool reads_back(const strata::Cluster& cluster) {
  try {
    return strata::parse_cluster(strata::print_cluster(cluster), "a.toml") == cluster;
  } catch (const strata::InputError&) {
    return false;
  }
}

bool is_xml(std::string_view text) {
  return text.find('<') != text.npos;
}

// Lists of hosts with numbers of three digits and more, such as n[0-4095].
bool may_be_large(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits == 3) return !is_xml(text) && text.find('[') != text.npos;
  }
  return false;
}

strata::ImportOptions options_of(std::string_view text) {
  strata::ImportOptions options;
  options.name = "fuzzed";
  options.machine.network = strata::BytesPerSecond{1e9};
  const bool matrix = text.find("GPU0") != text.npos;
  if (!is_xml(text) && !matrix) {  // SLURM's, which no other option goes with
    options.node = "p100-1x2";
    return options;
  }
  options.machine.kind_if_unknown = "p100";
  if (matrix) options.machine.kind = "a100";
  options.hosts = text.size() % 2 + 1;
  return options;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!is_xml(text) || seed % 8 == 1) {
    return strata::mutate_text(data, size, max_size, seed, kVocabulary);
  }
  strata::XmlMutator mutator(text, seed, kXml);
  if (!mutator.is_xml()) return strata::mutate_text(data, size, max_size, seed, kVocabulary);
  const std::string made = mutator.mutated();
  if (made.size() > max_size) return size;
  std::copy(made.begin(), made.end(), data);
  return made.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const std::size_t hash = std::hash<std::string_view>()(text);
    if (may_be_large(text) && hash % 64 > 0) return;
    const strata::TopologySource source{"a", std::string(text)};
    const strata::Cluster cluster = strata::import_cluster({&source, 1}, options_of(text)).cluster;
    // It costs more than all the rest.
    if (cluster.device_count() > 64 || hash % 4 > 0) return;
    if (!reads_back(cluster)) std::abort();
  });
}
