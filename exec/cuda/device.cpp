#include "exec/cuda/device.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "exec/cuda/check.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

cudaStream_t stream_of(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

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

// Without a driver the count is left as it was.
int count_gpus() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice) {
    throw EnvironmentError(fmt::format("no GPU: {}", cudaGetErrorString(status)));
  }
  check(status, "counting GPUs");
  return count;
}

// Each sees the others' memory where the machine lets it.
void reach_peers(int gpu, int count) {
  const OnGpu on(gpu);
  for (int peer = 0; peer < count; ++peer) {
    int reachable = 0;
    if (peer == gpu) continue;
    check(cudaDeviceCanAccessPeer(&reachable, gpu, peer), "asking for access between GPUs");
    if (reachable == 0) continue;
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();  // which would be told again
    } else {
      check(status, "opening access between GPUs");
    }
  }
}

}  // namespace

std::vector<Gpu> gpus() {
  std::vector<Gpu> all;
  const int count = count_gpus();
  all.reserve(static_cast<std::size_t>(count));
  for (int gpu = 0; gpu < count; ++gpu) all.push_back(describe(gpu));
  for (int gpu = 0; gpu < count; ++gpu) reach_peers(gpu, count);
  return all;
}

Stream::Stream(int gpu) : gpu_(gpu) {
  const OnGpu on(gpu);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  handle_ = stream;
}

Stream::~Stream() {
  cudaStreamDestroy(stream_of(*this));
}

void Stream::wait(const Event& event) {
  check(cudaStreamWaitEvent(stream_of(*this), static_cast<cudaEvent_t>(event.handle_), 0),
        "waiting for an event");
}

void Stream::finish() {
  check(cudaStreamSynchronize(stream_of(*this)), "running what was asked for");
}

Event::Event(int gpu, EventKind kind) {
  const OnGpu on(gpu);
  cudaEvent_t event = nullptr;
  const unsigned flags = kind == EventKind::time ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event, flags), "making an event");
  handle_ = event;
}

Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}

void Event::record(Stream& stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), stream_of(stream)),
        "recording an event");
}

Seconds Event::since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(earlier.handle_),
                             static_cast<cudaEvent_t>(handle_)),
        "reading the time of an event");
  return {milliseconds * 1e-3};
}

void* allocate(int gpu, std::int64_t bytes) {
  const OnGpu on(gpu);
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // which would be told again
    return nullptr;
  }
  check(status, "taking a GPU's memory");
  return memory;
}

void release(int gpu, void* memory) {
  const OnGpu on(gpu);
  cudaFree(memory);
}

std::shared_ptr<void> host_memory(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, static_cast<std::size_t>(bytes),
                      cudaHostAllocPortable | cudaHostAllocMapped),
        "taking the host's memory");
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return {memory, [](void* held) { cudaFreeHost(held); }};
}

void copy(void* to, const void* from, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault,
                        stream_of(stream)),
        "copying memory");
}

void clear(void* to, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), stream_of(stream)),
        "clearing memory");
}

}  // namespace strata::cuda
