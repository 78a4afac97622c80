#include "sim/case/memory_need.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/units.h"

namespace strata {
namespace {

// CUDA's context with the kernels of PyTorch, cuBLAS, cuDNN and NCCL, and cuBLAS's workspaces:
// assumed.
constexpr Bytes kContext{800'000'000};
// Of a channel of NCCL to a neighbour and from one: 4 MiB for its Simple protocol (NCCL_BUFFSIZE),
// and 0.6 MiB for LL and LL128.
constexpr double kChannelBytes = 2 * 4.6 * 1024 * 1024;
// What PyTorch's allocator reserves beyond what is allocated at its peak, of that: 2.8 to 5.9 % in
// the runs of profiles/published/megatron-core-b200.csv, half of them below 3.4 %.
constexpr double kUnusedBlocks = 0.035;

std::size_t groups_with(const Plan& plan, DeviceId device) {
  std::set<std::vector<DeviceId>> groups;
  for (const GroupShape& shape : plan.group_shapes()) {
    if (std::ranges::find(shape.devices, device) != shape.devices.end()) {
      groups.insert(shape.devices);
    }
  }
  return groups.size();
}

Bytes rounded(double bytes) {
  return Bytes{static_cast<std::int64_t>(std::llround(bytes))};
}

}  // namespace

MemoryFit MemoryNeed::fit() const {
  if (kept > capacity) return MemoryFit::no;
  return needed() > capacity ? MemoryFit::tight : MemoryFit::yes;
}

MemoryNeed memory_need(const Case& input, const Prediction& prediction,
                       std::optional<Bytes> limit) {
  const auto capacity = [&](DeviceId device) {
    return limit ? *limit : memory_capacity(input, device);
  };
  const auto lacks = [&](DeviceId device) {
    return prediction.peak_memory[device()] - capacity(device);
  };
  MemoryNeed need;
  need.device = DeviceId(0);
  for (std::size_t d = 1; d < prediction.peak_memory.size(); ++d) {
    if (lacks(DeviceId(d)) > lacks(need.device)) need.device = DeviceId(d);
  }
  need.kept = prediction.peak_memory[need.device()];
  need.capacity = capacity(need.device);
  const std::int64_t channels = input.models[need.device()]->nccl_channels();
  if (channels == 0) return need;
  need.blocks = rounded(kUnusedBlocks * static_cast<double>(need.kept.value));
  if (input.cluster[need.device].memory_reserve > Bytes{}) return need;
  need.context = kContext;
  need.channels = rounded(static_cast<double>(channels) * kChannelBytes *
                          static_cast<double>(groups_with(prediction.plan, need.device)));
  return need;
}

std::string need_text(const MemoryNeed& need) {
  if (need.reserve() == Bytes{}) return {};
  constexpr std::array<std::string_view, 3> kVerdicts = {"it fits", "the tensors alone fit",
                                                         "it does not fit"};
  std::vector<std::string> parts = {format_bytes(need.kept) + " of tensors"};
  const auto add = [&](Bytes bytes, std::string_view what) {
    if (bytes > Bytes{}) parts.push_back(fmt::format("{} for {}", format_bytes(bytes), what));
  };
  add(need.context, "the process's context");
  add(need.channels, "NCCL's channels");
  add(need.blocks, "blocks that the allocator holds unused");
  return fmt::format("Needs {} with its reserve, and has {}: {} ({})", format_bytes(need.needed()),
                     format_bytes(need.capacity), kVerdicts[static_cast<std::size_t>(need.fit())],
                     fmt::join(parts, ", "));
}

}  // namespace strata
