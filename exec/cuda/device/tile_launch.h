#pragma once

// Loops on tiles of matrices, beside those of launch.h:
//   tiles: loop(threads, i), for every i in [0, count), by 16 x 16 threads that share i and some
//          memory. Thread (row, column) has the rows row, row + 16, ... of a tile, and its columns
//          likewise; a tile's sizes are multiples of 16.
// Without nvcc one thread has all rows and columns. What a thread holds of a tile is an array of
// (rows / side) x (columns / side), where a loop is told the side: kTileSide, or in tests another.

#include <cassert>
#include <limits>
#include <vector>

#include "exec/cuda/device/launch.h"

namespace strata::cuda {

// The same for nvcc's pass over the host's code, so that both name the same kernels.
#ifdef __CUDACC__
inline constexpr int kTileSide = 16;
#else
inline constexpr int kTileSide = 1;
#endif

/// One of the threads that work on one item of tiles().
class TileThread {
 public:
#ifdef __CUDA_ARCH__
  __device__ explicit TileThread(float* memory) : memory_(memory) {}
  __device__ int row() const {
    return static_cast<int>(threadIdx.x) / kTileSide;
  }
  __device__ int column() const {
    return static_cast<int>(threadIdx.x) % kTileSide;
  }
  __device__ int rank() const {
    return static_cast<int>(threadIdx.x);
  }
  /// All threads have come here, and see what each wrote to the memory.
  __device__ void sync() const {
    __syncthreads();
  }
  /// Over the threads of a row; each gets it.
  __device__ float row_sum(float mine) const {
    for (int offset = kTileSide / 2; offset > 0; offset /= 2) {
      mine += __shfl_xor_sync(0xFFFFFFFFU, mine, offset);
    }
    return mine;
  }
  __device__ float row_largest(float mine) const {
    for (int offset = kTileSide / 2; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(0xFFFFFFFFU, mine, offset);
      mine = other > mine ? other : mine;
    }
    return mine;
  }
#else
  STRATA_ANYWHERE explicit TileThread(float* memory) : memory_(memory) {}
  STRATA_ANYWHERE int row() const {
    return 0;
  }
  STRATA_ANYWHERE int column() const {
    return 0;
  }
  STRATA_ANYWHERE int rank() const {
    return 0;
  }
  STRATA_ANYWHERE void sync() const {}
  STRATA_ANYWHERE float row_sum(float mine) const {
    return mine;
  }
  STRATA_ANYWHERE float row_largest(float mine) const {
    return mine;
  }
#endif
  STRATA_ANYWHERE int size() const {
    return kTileSide * kTileSide;
  }
  /// Shared by the threads, aligned to 16 bytes; what an item left there, the next one finds.
  STRATA_ANYWHERE float* memory() const {
    return memory_;
  }

 private:
  float* memory_;
};

#ifdef __CUDACC__

template <class Loop>
__global__ void __launch_bounds__(kTileSide* kTileSide) tiles_kernel(Loop loop) {
  extern __shared__ float4 tile_memory[];
  loop(TileThread(reinterpret_cast<float*>(tile_memory)), static_cast<std::int64_t>(blockIdx.x));
}

/// `memory`: how many floats each item's threads share. Blocks begin in the order of the items.
/// Throws EnvironmentError where a multiprocessor has less.
template <class Loop>
void tiles(Stream& stream, std::int64_t count, std::int64_t memory, const Loop& loop) {
  if (count <= 0) return;
  assert(count <= std::numeric_limits<int>::max());
  constexpr int kWithoutAsking = 48 << 10;
  const int bytes = static_cast<int>(memory) * static_cast<int>(sizeof(float));
  use_gpu(stream.gpu());
  if (bytes > kWithoutAsking) {
    check(cudaFuncSetAttribute(tiles_kernel<Loop>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes),
          "asking for shared memory");
  }
  tiles_kernel<<<static_cast<unsigned>(count), kTileSide * kTileSide,
                 static_cast<std::size_t>(bytes), native(stream)>>>(loop);
  check(cudaGetLastError(), "launching a kernel");
}

#else

// The memory begins as what no number is, so that reading what nobody wrote shows.
template <class Loop>
void tiles(Stream& stream, std::int64_t count, std::int64_t memory, const Loop& loop) {
  const auto work = [count, memory, loop] {
    std::vector<float> shared(static_cast<std::size_t>(memory),
                              std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t i = 0; i < count; ++i) loop(TileThread(shared.data()), i);
  };
  put_loop(stream, work, loop);
}

#endif

}  // namespace strata::cuda
