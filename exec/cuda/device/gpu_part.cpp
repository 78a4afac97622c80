#include "exec/cuda/device/gpu_part.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/device.h"
#include "exec/cuda/device/driver.h"
#include "exec/cuda/device/native.h"
#include "exec/cuda/device/out_of_memory.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

/// The driver's functions for green contexts, all or none.
struct GreenDriver {
  decltype(cuDeviceGet)* device = find_in_driver("cuDeviceGet", 12000);
  decltype(cuDeviceGetDevResource)* resource = find_in_driver("cuDeviceGetDevResource", 12040);
  decltype(cuDevSmResourceSplitByCount)* split =
      find_in_driver("cuDevSmResourceSplitByCount", 12040);
  decltype(cuDevResourceGenerateDesc)* describe =
      find_in_driver("cuDevResourceGenerateDesc", 12040);
  decltype(cuGreenCtxCreate)* create = find_in_driver("cuGreenCtxCreate", 12040);
  decltype(cuGreenCtxDestroy)* destroy = find_in_driver("cuGreenCtxDestroy", 12040);
  decltype(cuGreenCtxStreamCreate)* make_stream = find_in_driver("cuGreenCtxStreamCreate", 12050);

  bool complete() const {
    return device != nullptr && resource != nullptr && split != nullptr && describe != nullptr &&
           create != nullptr && destroy != nullptr && make_stream != nullptr;
  }
};

/// One GPU's way into equal groups. What the driver refuses ends it, and is kept.
class Splitter {
 public:
  Splitter(int gpu, int count) : gpu_(gpu), count_(static_cast<unsigned>(count)) {}

  Split run() {
    if (!driver_.complete()) {
      refuse("this driver has none");
    } else if (find_all() && find_groups() && make_contexts()) {
      return {std::move(parts_), {}};
    }
    return {{}, std::move(refusal_)};
  }

 private:
  bool refuse(std::string why) {
    refusal_ = std::move(why);
    return false;
  }
  bool accepted(CUresult status, std::string_view doing) {
    return status == CUDA_SUCCESS || refuse(fmt::format("{}: {}", doing, words_for(status)));
  }

  // The primary context is active before, as cuGreenCtxCreate advises.
  bool find_all() {
    check(cudaInitDevice(gpu_, 0, 0), "beginning to use a GPU");
    return accepted(driver_.device(&device_, gpu_), "naming a GPU") &&
           accepted(driver_.resource(device_, &all_, CU_DEV_RESOURCE_TYPE_SM),
                    "asking for multiprocessors");
  }

  // The driver may make fewer groups than the numbers allow: then smaller ones.
  bool find_groups() {
    const auto least = static_cast<int>(all_.sm.minSmPartitionSize);
    const int step = std::max(1, static_cast<int>(all_.sm.smCoscheduledAlignment));
    const auto all = static_cast<int>(all_.sm.smCount);
    int size = largest_group(all, static_cast<int>(count_), least, step);
    for (; size >= std::max(least, 1); size -= step) {
      unsigned groups = count_;
      groups_.assign(count_, CUdevResource{});
      if (!accepted(driver_.split(groups_.data(), &groups, &all_, nullptr, 0,
                                  static_cast<unsigned>(size)),
                    "splitting multiprocessors")) {
        return false;
      }
      if (groups == count_) return true;
    }
    return refuse(
        fmt::format("{} SMs are too few for {} groups of {} or more", all, count_, least));
  }

  bool make_contexts() {
    for (CUdevResource& group : groups_) {
      CUdevResourceDesc what = nullptr;
      CUgreenCtx context = nullptr;
      if (!accepted(driver_.describe(&what, &group, 1), "describing multiprocessors") ||
          !accepted(driver_.create(&context, what, device_, CU_GREEN_CTX_DEFAULT_STREAM),
                    "making a green context")) {
        return false;
      }
      parts_.push_back({gpu_,
                        static_cast<int>(group.sm.smCount),
                        static_cast<int>(all_.sm.smCount),
                        GpuPartKind::green,
                        {context, [destroy = driver_.destroy](void* held) {
                           destroy(static_cast<CUgreenCtx>(held));
                         }}});
    }
    return true;
  }

  GreenDriver driver_;
  int gpu_;
  unsigned count_;
  CUdevice device_ = 0;
  CUdevResource all_{};
  std::vector<CUdevResource> groups_;
  std::vector<GpuPart> parts_;
  std::string refusal_;
};

}  // namespace

GpuPart whole_of(int gpu) {
  int all = 0;
  check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, gpu),
        "asking for a GPU's multiprocessors");
  return {gpu, all, all, GpuPartKind::whole, {}};
}

Split split_green(int gpu, int count) {
  return Splitter(gpu, count).run();
}

// Its flag is required.
cudaStream_t green_stream(void* green) {
  const GreenDriver driver;
  CUstream stream = nullptr;
  const CUresult status =
      driver.make_stream(&stream, static_cast<CUgreenCtx>(green), CU_STREAM_NON_BLOCKING, 0);
  if (status == CUDA_SUCCESS) return stream;
  constexpr std::string_view kDoing = "making a stream of a green context";
  if (status == CUDA_ERROR_OUT_OF_MEMORY) {
    throw EnvironmentError(out_of_memory(gpu_in_use(), kDoing, "CUDA: " + words_for(status)));
  }
  throw EnvironmentError(fmt::format("CUDA: {}: {}", kDoing, words_for(status)));
}

}  // namespace strata::cuda
