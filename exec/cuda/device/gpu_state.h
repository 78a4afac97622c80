#pragma once

// What NVIDIA's management library (libnvidia-ml.so.1, which comes with the driver) tells of a GPU:
// a measured time is one at some clock. The library is found when it is asked for, and where it is
// not there, that is what is told. Thread-safe.

#include <cstdint>
#include <optional>
#include <string>

namespace strata::cuda {

/// At one moment. What the library does not tell of this GPU is not there.
struct GpuState {
  std::optional<unsigned> sm_clock, memory_clock;  ///< megahertz
  std::optional<unsigned> power;                   ///< milliwatts
  std::optional<std::uint64_t> reasons;            ///< why its clock is what it is: nvml.h's bits
};

/// "SM 1980 MHz, memory 3201 MHz, 412 W, clocks held back by: power". What keeps a GPU's clock low
/// that has nothing to do is not named.
std::string describe(const GpuState& state);

/// Of the GPU as CUDA numbers it, now, described; or why that is not known.
std::string state_of_gpu(int gpu);

/// "580.95.05"; empty where the library does not tell.
std::string driver_version();

}  // namespace strata::cuda
