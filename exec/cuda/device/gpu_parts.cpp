// What of a list of devices follows from it alone.

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "exec/cuda/device/device.h"
#include "exec/cuda/device/gpu_part.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr const char* kKindVariable = "STRATA_CUDA_PARTITIONS";

bool wants_green() {
  const char* const text = std::getenv(kKindVariable);
  if (text == nullptr || std::string_view(text) == "green") return true;
  if (std::string_view(text) == "shared") return false;
  throw InputError(fmt::format("{}={}: allowed: green, shared", kKindVariable, text));
}

Split share(int gpu, int count, std::string refusal) {
  GpuPart all = whole_of(gpu);
  all.kind = GpuPartKind::shared;
  return {std::vector<GpuPart>(static_cast<std::size_t>(count), all), std::move(refusal)};
}

/// Why a part that the driver made is of no use; empty where it is of some.
std::string refusal_of(const GpuPart& part, const PartTrial& trial) try {
  trial(part);
  return "";
} catch (const EnvironmentError& error) {
  forget_last_error();
  return "one was tried: " + error.message();
}

Split split_gpu(int gpu, int count, const PartTrial& trial) {
  if (count == 1) return {{whole_of(gpu)}, {}};
  if (!wants_green()) return share(gpu, count, fmt::format("{}=shared", kKindVariable));
  Split green = split_green(gpu, count);
  if (green.refusal.empty()) green.refusal = refusal_of(green.parts.front(), trial);
  return green.refusal.empty() ? green : share(gpu, count, std::move(green.refusal));
}

/// Of all devices of one GPU.
std::string describe(const GpuPart& one, std::ptrdiff_t devices, const std::string& refusal) {
  if (one.kind == GpuPartKind::whole) return fmt::format("{} SMs", one.of);
  if (one.kind == GpuPartKind::green) {
    return fmt::format("{} x {} of {} SMs", devices, one.multiprocessors, one.of);
  }
  return fmt::format("{} devices share {} SMs (no green contexts: {})", devices, one.of, refusal);
}

}  // namespace

GpuParts::GpuParts(std::span<const int> gpus, const PartTrial& trial)
    : of_devices(gpus.size()), refusals(gpus.size()) {
  for (int gpu : std::set<int>(gpus.begin(), gpus.end())) {
    const auto count = static_cast<int>(std::count(gpus.begin(), gpus.end(), gpu));
    const Split parts = split_gpu(gpu, count, trial);
    std::size_t next = 0;
    for (std::size_t d = 0; d < gpus.size(); ++d) {
      if (gpus[d] != gpu) continue;
      of_devices[d] = parts.parts[next++];
      refusals[d] = parts.refusal;
    }
  }
}

std::string GpuParts::description() const {
  std::set<int> seen;
  std::string text;
  for (std::size_t d = 0; d < of_devices.size(); ++d) {
    const GpuPart& one = of_devices[d];
    if (!seen.insert(one.gpu).second) continue;
    const auto devices = std::count_if(of_devices.begin(), of_devices.end(),
                                       [&](const GpuPart& other) { return other.gpu == one.gpu; });
    if (!text.empty()) text += "; ";
    if (devices < static_cast<std::ptrdiff_t>(of_devices.size())) {
      text += fmt::format("GPU {}: ", one.gpu);
    }
    text += describe(one, devices, refusals[d]);
  }
  return text;
}

}  // namespace strata::cuda
