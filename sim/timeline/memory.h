#pragma once

// What the steps keep in each device's memory over time, from the Plan's buffers and a Timeline.

#include <span>
#include <string_view>
#include <vector>

#include "sim/timeline/timeline.h"

namespace strata {

/// From the start of the first task that uses a buffer to the end of the last.
struct Lifetime {
  Seconds from, until;
  bool operator==(const Lifetime&) const = default;
};

/// In one step, of a buffer that does not last.
Lifetime lifetime(const Plan& plan, const Timeline& timeline, std::size_t step, BufferId buffer);

/// Where a change of memory comes among others, in seconds. What is freed at an instant is gone
/// before what begins at that instant is there; times that are equal on paper may differ by some
/// picoseconds, since durations are rounded.
double place_in_time(Seconds at, Bytes change);

struct MemoryUse {
  Seconds at;
  Bytes bytes;  ///< from `at` on
  bool operator==(const MemoryUse&) const = default;
};

/// The memory in use on every device through all steps, in order of time; parameters are in from
/// the start.
std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline);

/// The most of each curve.
std::vector<Bytes> peak_memory(const Plan& plan, const Timeline& timeline);

/// The device that needs the most, the first of several. `peaks`: by device, not empty.
DeviceId fullest(std::span<const Bytes> peaks);

/// A tensor, or a part of one, and how long it stays.
struct LiveTensor {
  std::uint32_t buffer = 0;  ///< in Plan::buffers
  std::size_t step = 0;      ///< that made it
  double begin = 0, end = 0;
};
/// Those that a device holds at a time, the largest first; equal ones in the plan's order. In a
/// plan by classes, those of the device that stands for it.
std::vector<LiveTensor> live_tensors(const Plan& plan, const Timeline& timeline, DeviceId device,
                                     double at);

/// What the memory of a device is for at its peak.
struct MemoryParts {
  Bytes parameters, gradients;  ///< gradients: of parameters
  Bytes optimizer;              ///< what it keeps of parameters
  Bytes activations;            ///< what forward passes keep for backward ones
  Bytes buffers;                ///< all else
  Bytes total() const { return parameters + gradients + optimizer + activations + buffers; }
  bool operator==(const MemoryParts&) const = default;
};
MemoryParts memory_at_peak(const Plan& plan, const Timeline& timeline, DeviceId device);

/// The buffers of a device that its forward passes keep for the backward ones of the same step, in
/// the plan's order; in a plan by classes, of the device that stands for it.
std::vector<BufferId> kept_for_backward(const Plan& plan, DeviceId device);
/// Of these those that it holds at its peak, the largest first.
std::vector<BufferId> kept_at_peak(const Plan& plan, const Timeline& timeline, DeviceId device);
/// For people, what a layer keeps in such a buffer: "output", or the name of the buffer's kind.
std::string_view kept_name(const Buffer& buffer);

}  // namespace strata
