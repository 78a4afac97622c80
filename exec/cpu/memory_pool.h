#pragma once

// One device's memory for tensors that come and go: blocks are kept when they are given back, and
// given out again to who asks for about as much, so that after its first step a run asks the system
// for nothing and finds its memory warm; they go back when the system refuses one (most kill
// a process instead).
// Thread-safe: who reads another device's tensor last gives it back.

#include <cstdint>
#include <map>
#include <mutex>

namespace strata::cpu {

class MemoryPool {
 public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// Aligned to a page. Throws EnvironmentError where the system has no more.
  void* take(std::int64_t bytes);
  void give_back(void* memory);

  /// The most that was asked for at once, until now.
  std::int64_t peak_bytes() const;

 private:
  struct Block {
    std::int64_t size = 0, asked = 0;
  };

  void release_free();
  void count(void* memory, const Block& block);

  mutable std::mutex mutex_;
  std::multimap<std::int64_t, void*> free_;  // by size
  std::map<void*, Block> taken_;
  std::int64_t in_use_ = 0, peak_ = 0;  // as asked for
};

}  // namespace strata::cpu
