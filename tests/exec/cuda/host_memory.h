#pragma once

// The memory of a host that stands for GPUs, in blocks that belong to one each. GPUs may be kept
// apart: then work of one may hold no address in the other's memory. Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace strata::cuda {

class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  /// What nobody wrote is no number. Null where the GPUs have no more together.
  void* take(int gpu, std::int64_t bytes);
  void release(void* memory);
  /// Whether the address lies in a block.
  bool holds(const void* address) const { return find(address) != nullptr; }

  /// The two reach one another no more; after join_all() all do.
  void keep_apart(int gpu, int other) { apart_.insert(std::minmax(gpu, other)); }
  void join_all() { apart_.clear(); }
  bool reaches(int gpu, int other) const { return !apart_.contains(std::minmax(gpu, other)); }
  /// Throws InternalError where one of the words that work of the GPU holds is an address out of
  /// its reach.
  void check(int gpu, std::span<const std::byte> held) const;

  void set_size(std::int64_t bytes) { size_ = bytes; }
  std::int64_t size() const { return size_; }
  std::int64_t taken() const { return taken_; }

 private:
  struct Block {
    int gpu = 0;
    std::int64_t bytes = 0;
  };
  const Block* find(const void* address) const;

  std::int64_t size_ = std::int64_t{1} << 40U, taken_ = 0;
  std::map<const char*, Block> blocks_;  // by address
  std::set<std::pair<int, int>> apart_;  // the lower one first
  // Released blocks for the next of their size: pages that are there take no time. By bytes.
  std::multimap<std::int64_t, void*> kept_;
  std::int64_t kept_bytes_ = 0;
};

}  // namespace strata::cuda
