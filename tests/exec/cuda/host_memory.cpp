#include "tests/exec/cuda/host_memory.h"

#include <cstring>
#include <new>
#include <string>

#include <sanitizer/asan_interface.h>

#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::align_val_t kBlockHostAlignment{512};
constexpr std::int64_t kMostKept = std::int64_t{256} << 20U;

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [bytes, memory] : kept_) ::operator delete(memory, kBlockHostAlignment);
}

void* HostMemory::take(int gpu, std::int64_t bytes) {
  if (taken_ + bytes > size_) return nullptr;
  void* memory = nullptr;
  if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
    memory = kept->second;
    kept_.erase(kept), kept_bytes_ -= bytes;
    ASAN_UNPOISON_MEMORY_REGION(memory, static_cast<std::size_t>(bytes));
  } else {
    memory = ::operator new(static_cast<std::size_t>(bytes), kBlockHostAlignment);
  }
  std::memset(memory, 0xFF, static_cast<std::size_t>(bytes));
  taken_ += bytes;
  blocks_[static_cast<const char*>(memory)] = {gpu, bytes};
  return memory;
}

void HostMemory::release(void* memory) {
  const auto at = blocks_.find(static_cast<const char*>(memory));
  const std::int64_t bytes = at->second.bytes;
  taken_ -= bytes;
  blocks_.erase(at);
  if (kept_bytes_ + bytes > kMostKept) return ::operator delete(memory, kBlockHostAlignment);
  ASAN_POISON_MEMORY_REGION(memory, static_cast<std::size_t>(bytes));
  kept_.emplace(bytes, memory), kept_bytes_ += bytes;
}

const HostMemory::Block* HostMemory::find(const void* address) const {
  auto at = blocks_.upper_bound(static_cast<const char*>(address));
  if (at == blocks_.begin()) return nullptr;
  --at;
  const bool within = static_cast<const char*>(address) < at->first + at->second.bytes;
  return within ? &at->second : nullptr;
}

void HostMemory::check(int gpu, std::span<const std::byte> held) const {
  if (apart_.empty()) return;
  for (std::size_t at = 0; at + sizeof(void*) <= held.size(); at += sizeof(void*)) {
    const void* address = nullptr;
    std::memcpy(&address, held.data() + at, sizeof address);
    const Block* block = find(address);
    if (block == nullptr || reaches(gpu, block->gpu)) continue;
    throw InternalError("work of GPU " + std::to_string(gpu) + " holds memory of GPU " +
                        std::to_string(block->gpu) + ", out of its reach");
  }
}

}  // namespace strata::cuda
