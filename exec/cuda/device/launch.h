#pragma once

// Loops on a GPU. A loop is a small trivially copyable object that a kernel's author writes once:
//   each:   loop(i), for every i in [0, count), in any order and at once;
//   teams:  loop(team, i), for every i in [0, count), by a team of threads that share i and sum
//           what each of them found.
// nvcc makes kernels of them. Any other compiler makes plain loops, so that a machine without a GPU
// tests the very same source; a team then has one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "exec/cuda/device/device.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/native.h"
#define STRATA_ANYWHERE __host__ __device__
#else
#define STRATA_ANYWHERE
#endif

namespace strata::cuda {

inline constexpr int kTeamThreads = 256;

/// The threads that work on one item of teams().
class Team {
 public:
#ifdef __CUDA_ARCH__
  __device__ int rank() const {
    return static_cast<int>(threadIdx.x);
  }
  __device__ int size() const {
    return kTeamThreads;
  }
  /// Over the team; every thread gets it.
  template <class T>
  __device__ T sum(T mine) const {
    return combine(mine, [](T a, T b) { return a + b; });
  }
  template <class T>
  __device__ T largest(T mine) const {
    return combine(mine, [](T a, T b) { return a > b ? a : b; });
  }

 private:
  // Within warps by shuffles, between them through shared memory; in a fixed order.
  template <class T, class Join>
  __device__ T combine(T mine, Join join) const {
    constexpr unsigned kAll = 0xFFFFFFFFU;
    __shared__ T of_warps[kTeamThreads / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
      mine = join(mine, __shfl_xor_sync(kAll, mine, offset));
    }
    __syncthreads();  // what an earlier call left there has been read
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    T all = of_warps[0];
    for (int warp = 1; warp < kTeamThreads / 32; ++warp) all = join(all, of_warps[warp]);
    return all;
  }
#else
  STRATA_ANYWHERE int rank() const {
    return 0;
  }
  STRATA_ANYWHERE int size() const {
    return 1;
  }
  template <class T>
  STRATA_ANYWHERE T sum(T mine) const {
    return mine;
  }
  template <class T>
  STRATA_ANYWHERE T largest(T mine) const {
    return mine;
  }
#endif
};

#ifdef __CUDACC__

template <class Loop>
__global__ void each_kernel(std::int64_t count, Loop loop) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    loop(i);
  }
}

template <class Loop>
__global__ void __launch_bounds__(kTeamThreads) teams_kernel(std::int64_t count, Loop loop) {
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) loop(Team(), i);
}

/// Enough blocks to fill the largest GPU several times over; loops stride on from there.
inline constexpr std::int64_t kMostBlocks = 4096;

template <class Loop>
void each(Stream& stream, std::int64_t count, const Loop& loop) {
  if (count <= 0) return;
  constexpr int kThreads = 256;
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  use_gpu(stream.gpu());
  each_kernel<<<grid, kThreads, 0, native(stream)>>>(count, loop);
  check(cudaGetLastError(), "launching a kernel");
}

template <class Loop>
void teams(Stream& stream, std::int64_t count, const Loop& loop) {
  if (count <= 0) return;
  const auto grid = static_cast<unsigned>(count < kMostBlocks ? count : kMostBlocks);
  use_gpu(stream.gpu());
  teams_kernel<<<grid, kTeamThreads, 0, native(stream)>>>(count, loop);
  check(cudaGetLastError(), "launching a kernel");
}

#else

/// Puts work of the host's on the stream; only the host that stands for GPUs in tests has it.
/// `held`: the words in which the work may hold addresses, which its GPU must reach.
void put_on(Stream& stream, std::function<void()> work, std::span<const std::byte> held = {});

// What lies in a loop's padding is left from earlier, and may look like an address: a compiler that
// cannot clear it (clang before 20) holds no words.
#if __has_builtin(__builtin_clear_padding)
inline constexpr bool kHoldsWords = true;
template <class Loop>
void put_loop(Stream& stream, std::function<void()> work, Loop loop) {
  __builtin_clear_padding(&loop);
  put_on(stream, std::move(work), std::as_bytes(std::span(&loop, 1)));
}
#else
inline constexpr bool kHoldsWords = false;
template <class Loop>
void put_loop(Stream& stream, std::function<void()> work, const Loop&) {
  put_on(stream, std::move(work));
}
#endif

template <class Loop>
void each(Stream& stream, std::int64_t count, const Loop& loop) {
  const auto work = [count, loop] {
    for (std::int64_t i = 0; i < count; ++i) loop(i);
  };
  put_loop(stream, work, loop);
}

template <class Loop>
void teams(Stream& stream, std::int64_t count, const Loop& loop) {
  const auto work = [count, loop] {
    for (std::int64_t i = 0; i < count; ++i) loop(Team(), i);
  };
  put_loop(stream, work, loop);
}

#endif

}  // namespace strata::cuda
