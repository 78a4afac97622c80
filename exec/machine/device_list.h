#pragma once

// What users call the devices of a real run: "cpu:2", "cuda:0", "cuda:0,1", "cuda:0/4" (GPU 0
// standing for four devices).

#include <cstddef>
#include <string>
#include <vector>

namespace strata {

struct DeviceList {
  int cpus = 0;           ///< 0: GPUs
  std::vector<int> gpus;  ///< by device, as the driver numbers them

  bool operator==(const DeviceList&) const = default;
};

/// Most devices of GPUs in one run.
inline constexpr int kGpuDeviceLimit = 16;

/// Throws InputError.
DeviceList parse_device_list(const std::string& devices);
/// As parse_device_list() reads it: devices of one GPU that follow one another as one piece.
std::string print(const DeviceList& list);
/// The first `count` devices of the list, which has as many.
DeviceList first(const DeviceList& list, std::size_t count);

}  // namespace strata
