#include "exec/cpu/memory_pool.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata::cpu {
namespace {

constexpr std::int64_t kAlignment = 4096;

// A block may be larger than asked for by an eighth.
constexpr std::int64_t largest_for(std::int64_t bytes) {
  return bytes + bytes / 8;
}

}  // namespace

MemoryPool::~MemoryPool() {
  release_free();
  for (const auto& [memory, block] : taken_) std::free(memory);
}

void MemoryPool::release_free() {
  for (const auto& [size, memory] : free_) std::free(memory);
  free_.clear();
}

void* MemoryPool::take(std::int64_t asked) {
  const std::int64_t bytes = (asked + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  const auto at = free_.lower_bound(bytes);
  if (at != free_.end() && at->first <= largest_for(bytes)) {
    void* memory = at->second;
    count(memory, {at->first, asked});
    free_.erase(at);
    return memory;
  }
  void* memory = std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes));
  if (memory == nullptr) {
    release_free();
    memory = std::aligned_alloc(kAlignment, static_cast<std::size_t>(bytes));
  }
  if (memory == nullptr) {
    throw EnvironmentError(fmt::format("out of memory: no room for {} bytes more", bytes));
  }
  count(memory, {bytes, asked});
  return memory;
}

void MemoryPool::count(void* memory, const Block& block) {
  taken_[memory] = block;
  in_use_ += block.asked;
  peak_ = std::max(peak_, in_use_);
}

std::int64_t MemoryPool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryPool::give_back(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto at = taken_.find(memory);
  in_use_ -= at->second.asked;
  free_.emplace(at->second.size, memory);
  taken_.erase(at);
}

}  // namespace strata::cpu
