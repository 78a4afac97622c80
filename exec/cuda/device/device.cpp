#include "exec/cuda/device/device.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/native.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

Gpu describe(int gpu) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, gpu), "asking for a GPU's properties");
  Gpu result;
  result.name = properties.name;
  result.compute_capability = 10 * properties.major + properties.minor;
  result.multiprocessors = properties.multiProcessorCount;
  result.memory = static_cast<std::int64_t>(properties.totalGlobalMem);
  result.cache = properties.l2CacheSize;
  check(cudaDriverGetVersion(&result.driver), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&result.runtime), "asking for the runtime's version");
  return result;
}

// Its version is 0 where there is none, and no failure.
bool has_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
}

// Without a driver the count is left as it was.
int count_gpus() {
  // As many queues as there are streams at most; the driver reads it when it is first called.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver && !has_driver()) {
    throw EnvironmentError("no GPU: this machine has no NVIDIA driver");
  }
  if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice) {
    throw EnvironmentError(fmt::format("no GPU: {}", cudaGetErrorString(status)));
  }
  check(status, "counting GPUs");
  return count;
}

void open_access(int gpu, int peer) {
  use_gpu(gpu);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    forget_last_error();
  } else {
    check(status, "opening access between GPUs");
  }
}

}  // namespace

std::vector<Gpu> gpus() {
  std::vector<Gpu> all;
  const int count = count_gpus();
  all.reserve(static_cast<std::size_t>(count));
  for (int gpu = 0; gpu < count; ++gpu) all.push_back(describe(gpu));
  return all;
}

bool can_reach(int gpu, int other) {
  if (gpu == other) return true;
  int reachable = 0;
  check(cudaDeviceCanAccessPeer(&reachable, gpu, other), "asking for access between GPUs");
  return reachable != 0;
}

void open_access(std::span<const int> gpus) {
  for (int gpu : gpus) {
    for (int peer : gpus) {
      if (gpu != peer && can_reach(gpu, peer)) open_access(gpu, peer);
    }
  }
}

Seconds now() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(since_start).count()};
}

void forget_last_error() {
  cudaGetLastError();
}

int gpu_in_use() {
  int gpu = 0;
  cudaGetDevice(&gpu);
  return gpu;
}

std::string take_last_error() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? "" : cudaGetErrorName(status);
}

Stream::Stream(int gpu) : Stream(GpuPart{gpu}) {}

Stream::Stream(const GpuPart& part) : gpu_(part.gpu), green_(part.green) {
  use_gpu(gpu_);
  cudaStream_t stream = nullptr;
  if (green_) {
    stream = green_stream(green_.get());
  } else {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  handle_ = stream;
}

Stream::~Stream() {
  cudaStreamDestroy(native(*this));
}

void Stream::wait(const Event& event) {
  check(cudaStreamWaitEvent(native(*this), static_cast<cudaEvent_t>(event.handle_), 0),
        "waiting for an event");
}

void Stream::finish() {
  check(cudaStreamSynchronize(native(*this)), "running what was asked for");
}

bool Stream::is_done() {
  const cudaError_t status = cudaStreamQuery(native(*this));
  if (status == cudaErrorNotReady) {
    forget_last_error();
    return false;
  }
  check(status, "running what was asked for");
  return true;
}

Event::Event(int gpu, EventKind kind) {
  use_gpu(gpu);
  cudaEvent_t event = nullptr;
  const unsigned flags = kind == EventKind::time ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event, flags), "making an event");
  handle_ = event;
}

Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}

void Event::record(Stream& stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), native(stream)), "recording an event");
}

void Event::record_when_played(Stream& stream) {
  check(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(handle_), native(stream),
                                 cudaEventRecordExternal),
        "recording an event");
}

void Event::finish() {
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "running what was asked for");
}

Seconds Event::since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(earlier.handle_),
                             static_cast<cudaEvent_t>(handle_)),
        "reading the time of an event");
  return {milliseconds * 1e-3};
}

void* allocate(int gpu, std::int64_t bytes) {
  use_gpu(gpu);
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation) {
    forget_last_error();
    return nullptr;
  }
  check(status, "taking a GPU's memory");
  return memory;
}

void release(int gpu, void* memory) {
  use_gpu(gpu);
  cudaFree(memory);
}

// Said on the way to an error, which no other may replace.
std::optional<std::int64_t> free_memory(int gpu) {
  std::size_t free = 0, all = 0;
  if (cudaSetDevice(gpu) == cudaSuccess && cudaMemGetInfo(&free, &all) == cudaSuccess) {
    return static_cast<std::int64_t>(free);
  }
  forget_last_error();
  return std::nullopt;
}

std::shared_ptr<void> host_memory(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, static_cast<std::size_t>(bytes),
                                           cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    forget_last_error();
    throw EnvironmentError(
        fmt::format("out of memory: the host has no room for {} pinned bytes more", bytes));
  }
  check(status, "taking the host's memory");
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return {memory, [](void* held) { cudaFreeHost(held); }};
}

void copy(void* to, const void* from, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  use_gpu(stream.gpu());
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, native(stream)),
      "copying memory");
}

void clear(void* to, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  use_gpu(stream.gpu());
  check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), native(stream)), "clearing memory");
}

}  // namespace strata::cuda
