#pragma once

// The memory that a training needs as nvidia-smi shows it: what the plan keeps, and beside it what
// a process and its libraries take. Bytes. Pure; thread-safe.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/case/predict.h"

namespace strata {

/// `tight`: what the plan keeps fits, and with what is reserved beside it does not.
enum class MemoryFit : std::uint8_t { yes, tight, no };
inline constexpr std::array<std::string_view, 3> kMemoryFitNames = {"yes", "tight", "no"};

/// Of the device that has the least left.
struct MemoryNeed {
  DeviceId device;
  Bytes kept;      ///< by the plan, at its peak
  Bytes context;   ///< of the process, with its libraries' kernels and workspaces
  Bytes channels;  ///< of NCCL, for each group of devices that the device is in
  Bytes blocks;    ///< what a caching allocator holds and does not use
  Bytes capacity;  ///< what the training may use
  Bytes reserve() const { return context + channels + blocks; }
  Bytes needed() const { return kept + reserve(); }
  MemoryFit fit() const;
};

/// Precondition: the prediction has peaks (PredictOptions::memory). Nothing is reserved on devices
/// whose profile knows no channels of NCCL (cores); where a part of a device's memory is said to be
/// for something else (Device::memory_reserve), context and channels lie in it.
/// `limit`: in place of what devices have.
MemoryNeed memory_need(const Case& input, const Prediction& prediction,
                       std::optional<Bytes> limit = {});

/// A sentence for people, of what is reserved and whether all fits; empty where nothing is.
std::string need_text(const MemoryNeed& need);

}  // namespace strata
