#pragma once

// One device's memory for tensors that come and go while streams are behind the host: blocks are
// kept when they are given back, with the pieces of work that may still use them, and given out
// again to who comes after those. Larger blocks are cut and neighbours joined again, as their
// addresses allow. Not thread-safe.

#include <cstdint>
#include <map>
#include <vector>

#include "exec/cuda/streams/order.h"

namespace strata::cuda {

class DeviceMemory {
 public:
  explicit DeviceMemory(int gpu) : gpu_(gpu) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// Another's on the same GPU: each gives back what lies free in it where the other finds no more.
  /// Both must live as long as either is asked.
  void share_with(DeviceMemory& other);

  /// Aligned to 512 bytes. `stream` is made to come after who used it before. Throws
  /// EnvironmentError where the GPU has no more.
  void* take(std::int64_t bytes, std::uint32_t stream, Order& order);
  /// `users`: the last pieces of work that use it.
  void give_back(void* memory, std::vector<Ticket> users);
  /// Equal where the same memory is given out, and none has gone back to the GPU in between.
  std::uint64_t fingerprint() const { return fingerprint_ + returns_; }
  /// How often memory has gone back to the GPU.
  std::uint64_t returns() const { return returns_; }
  /// Most bytes that were given out at once.
  std::int64_t peak() const { return peak_; }

 private:
  struct Block {
    std::int64_t bytes = 0;
    bool free = false;
    bool first = false;         ///< begins an allocation of the GPU's
    std::vector<Ticket> users;  ///< of a free block
  };
  using Blocks = std::map<char*, Block>;  // by address

  Blocks::iterator find(std::int64_t bytes);
  Blocks::iterator grow(std::int64_t bytes);
  bool return_all_free();
  bool return_free();
  void cut(Blocks::iterator block, std::int64_t bytes);
  void join(Blocks::iterator block, Blocks::iterator next);

  int gpu_;
  std::vector<DeviceMemory*> others_;
  Blocks blocks_;
  std::multimap<std::int64_t, char*> free_;  // by size
  std::int64_t given_ = 0, peak_ = 0;
  std::uint64_t fingerprint_ = 0, returns_ = 0;
};

}  // namespace strata::cuda
