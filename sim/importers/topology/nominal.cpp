#include "sim/importers/topology/nominal.h"

#include <algorithm>
#include <iterator>

namespace strata {
namespace {

// 16 lanes of generation 3 carry 15.754 GB/s of data; headers and credits leave 12.
constexpr double kPcieShare = 12 / 15.754;

// Profiles of the kinds need not exist; the names are those of gpu_kind().
constexpr GpuGeneration kGenerations[] = {
    {"k80", 37, 8, true},   {"p100", 60, 8, true},   {"v100", 70, 8, true},
    {"t4", 75, 8, true},    {"a100", 80, 16, true},  {"a800", 80, 16, false},
    {"a30", 80, 16, false}, {"a40", 86, 16, false},  {"a10", 86, 16, false},
    {"l4", 89, 16, false},  {"l40", 89, 16, false},  {"l40s", 89, 16, false},
    {"h100", 90, 32, true}, {"h200", 90, 32, false}, {"h800", 90, 32, false},
    {"h20", 90, 32, false}, {"b200", 100, 32, true}, {"b100", 100, 32, false},
};

BytesPerSecond intel_socket(int family, int model) {
  if (family != 6 || model < 0x55) return BytesPerSecond{6e9};  // QPI, up to Broadwell
  if (model >= 0xCF) return BytesPerSecond{40e9};               // Emerald Rapids
  if (model >= 0x8F) return BytesPerSecond{22e9};               // Sapphire Rapids
  return kNominalSocket;
}

}  // namespace

std::optional<BytesPerSecond> nominal_nvlink(int compute_capability) {
  if (compute_capability < 60) return std::nullopt;
  if (compute_capability < 70) return BytesPerSecond{18e9};
  if (compute_capability == 86) return BytesPerSecond{12e9};
  if (compute_capability < 90) return BytesPerSecond{20e9};
  if (compute_capability < 100) return BytesPerSecond{20.6e9};
  return BytesPerSecond{40.1e9};
}

std::optional<BytesPerSecond> nominal_pcie(double gigatransfers, int lanes) {
  constexpr double kRates[] = {2.5, 5, 8, 16, 32, 64};
  if (std::find(std::begin(kRates), std::end(kRates), gigatransfers) == std::end(kRates)) {
    return std::nullopt;
  }
  // Each generation doubles what the one before it carries: the coding makes up for 8 not being 10.
  const double of_third = gigatransfers < 8 ? gigatransfers / 10 : gigatransfers / 8;
  return BytesPerSecond{12e9 * of_third * lanes / 16};
}

BytesPerSecond nominal_pcie(BytesPerSecond wire) {
  return BytesPerSecond{wire.value * kPcieShare};
}

const GpuGeneration* find_gpu_generation(std::string_view kind) {
  const auto found = std::find_if(std::begin(kGenerations), std::end(kGenerations),
                                  [&](const GpuGeneration& g) { return g.kind == kind; });
  return found == std::end(kGenerations) ? nullptr : found;
}

const GpuGeneration* find_gpu_generation(int compute_capability) {
  const auto found =
      std::find_if(std::begin(kGenerations), std::end(kGenerations), [&](const GpuGeneration& g) {
        return g.names_capability && g.compute_capability == compute_capability;
      });
  return found == std::end(kGenerations) ? nullptr : found;
}

BytesPerSecond nominal_socket(std::string_view arch, std::string_view vendor, int family,
                              int model) {
  if (arch == "ppc64") return BytesPerSecond{32e9};
  if (arch == "arm64") return BytesPerSecond{6e9};
  if (vendor == "GenuineIntel") return intel_socket(family, model);
  if (vendor == "AuthenticAMD") return BytesPerSecond{16e9};
  return kNominalSocket;
}

}  // namespace strata
