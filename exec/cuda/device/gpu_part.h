#pragma once

// What of a GPU's multiprocessors a device may use. Where several devices share a GPU, each gets a
// group of its own if the driver has green contexts; else all use all of them, in turns that the
// GPU finds. Caches, memory and copy engines are shared either way.
//
// A green context is the GPU's primary context with fewer multiprocessors (cuda.h, "Green
// Contexts"): memory, code, events and access to peers are the GPU's, so pointers and events of one
// device serve the others.
//
// Values; the multiprocessors are held until the last part and stream that has them is gone.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace strata::cuda {

enum class GpuPartKind : std::uint8_t {
  whole,  ///< nobody else uses the GPU
  green,  ///< multiprocessors of its own
  shared  ///< all of them, as others do
};

struct GpuPart {
  int gpu = 0;
  int multiprocessors = 0;  ///< that its kernels run on
  int of = 0;               ///< the GPU has
  GpuPartKind kind = GpuPartKind::whole;
  std::shared_ptr<void> green = {};  ///< CUDA's own: a CUgreenCtx, or null
};

/// The parts of some devices of one GPU, or why it has none.
struct Split {
  std::vector<GpuPart> parts;
  std::string refusal;  ///< "this driver has no green contexts"
};

/// All of a GPU. Throws EnvironmentError.
GpuPart whole_of(int gpu);
/// As many green ones of equal size, as large as the driver makes them.
Split split_green(int gpu, int count);

/// How large `count` groups can be at most, where groups have `least` multiprocessors or more, in
/// steps of `step`; 0 where they would be too small.
constexpr int largest_group(int multiprocessors, int count, int least, int step) {
  const int size = multiprocessors / count / step * step;
  return size < least ? 0 : size;
}

/// Does on a part what devices will do. Throws EnvironmentError where that is refused.
using PartTrial = std::function<void(const GpuPart&)>;

/// Of a list of devices.
struct GpuParts {
  /// `gpus`: by device. Those that share a GPU have green parts, or shared ones where the driver
  /// makes none, where the trial of one fails, which stands for its equals, or where the
  /// environment variable STRATA_CUDA_PARTITIONS is "shared" and not "green", so that both can be
  /// compared. Throws InputError, EnvironmentError.
  GpuParts(std::span<const int> gpus, const PartTrial& trial);

  /// By GPU: "132 SMs", "4 x 32 of 132 SMs", "4 devices share 132 SMs (no green contexts: why)".
  std::string description() const;

  std::vector<GpuPart> of_devices;
  std::vector<std::string> refusals;  ///< by device; empty where there is none
};

}  // namespace strata::cuda
