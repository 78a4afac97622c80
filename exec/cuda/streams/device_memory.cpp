#include "exec/cuda/streams/device_memory.h"

#include <algorithm>
#include <iterator>

#include "exec/cuda/device/out_of_memory.h"
#include "sim/base/ceil_div.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kAlignment = 512;
// The GPU is asked for no less than this at once; what is left of a block is worth keeping.
constexpr std::int64_t kLeastAsked = std::int64_t{32} << 20U;

void add_latest(std::vector<Ticket>& users, const std::vector<Ticket>& more) {
  for (const Ticket& ticket : more) {
    const auto same = std::find_if(users.begin(), users.end(), [&](const Ticket& user) {
      return user.stream == ticket.stream;
    });
    if (same == users.end()) {
      users.push_back(ticket);
    } else {
      same->number = std::max(same->number, ticket.number);
    }
  }
}

// One block's share of a fingerprint (the finaliser of SplitMix64, Steele et al., 2014).
std::uint64_t mixed(const char* address, std::int64_t bytes) {
  std::uint64_t x = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uint64_t>(bytes);
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, block] : blocks_) {
    if (block.first) release(gpu_, address);
  }
}

void DeviceMemory::share_with(DeviceMemory& other) {
  others_.push_back(&other);
  other.others_.push_back(this);
}

void* DeviceMemory::take(std::int64_t bytes, std::uint32_t stream, Order& order) {
  bytes = std::max<std::int64_t>(ceil_div(bytes, kAlignment), 1) * kAlignment;
  auto at = find(bytes);
  if (at == blocks_.end()) at = grow(bytes);
  cut(at, bytes);
  Block& block = at->second;
  for (const Ticket& user : block.users) order.after(stream, user);
  block.users.clear();
  block.free = false;
  given_ += block.bytes, peak_ = std::max(peak_, given_);
  fingerprint_ ^= mixed(at->first, block.bytes);
  return at->first;
}

// The smallest that is large enough.
DeviceMemory::Blocks::iterator DeviceMemory::find(std::int64_t bytes) {
  const auto at = free_.lower_bound(bytes);
  if (at == free_.end()) return blocks_.end();
  const auto block = blocks_.find(at->second);
  free_.erase(at);
  return block;
}

DeviceMemory::Blocks::iterator DeviceMemory::grow(std::int64_t bytes) {
  std::int64_t asked = std::max(bytes, kLeastAsked);
  void* memory = allocate(gpu_, asked);
  if (memory == nullptr) memory = allocate(gpu_, asked = bytes);
  if (memory == nullptr && return_all_free()) memory = allocate(gpu_, asked);
  if (memory == nullptr) throw EnvironmentError(out_of_memory(gpu_, bytes));
  return blocks_.emplace(static_cast<char*>(memory), Block{asked, true, true, {}}).first;
}

bool DeviceMemory::return_all_free() {
  bool any = return_free();
  for (DeviceMemory* other : others_) any = other->return_free() || any;
  return any;
}

// Other sizes are wanted than before: what lies free in pieces that are too small goes back to the
// GPU, which waits for who used it. Whether there was any.
bool DeviceMemory::return_free() {
  bool any = false;
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto next = std::next(at);
    const bool whole = at->second.first && (next == blocks_.end() || next->second.first);
    if (whole && at->second.free) {
      std::erase_if(free_, [&](const auto& entry) { return entry.second == at->first; });
      cuda::release(gpu_, at->first);
      blocks_.erase(at);
      any = true, ++returns_;
    }
    at = next;
  }
  return any;
}

// The rest is free, and knows the same users.
void DeviceMemory::cut(Blocks::iterator block, std::int64_t bytes) {
  const std::int64_t rest = block->second.bytes - bytes;
  if (rest == 0) return;
  block->second.bytes = bytes;
  blocks_.emplace(block->first + bytes, Block{rest, true, false, block->second.users});
  free_.emplace(rest, block->first + bytes);
}

void DeviceMemory::give_back(void* memory, std::vector<Ticket> users) {
  auto at = blocks_.find(static_cast<char*>(memory));
  given_ -= at->second.bytes;
  fingerprint_ ^= mixed(at->first, at->second.bytes);
  at->second.free = true;
  at->second.users = std::move(users);
  if (const auto next = std::next(at); next != blocks_.end()) join(at, next);
  if (at != blocks_.begin() && std::prev(at)->second.free && !at->second.first) {
    at = std::prev(at);
    std::erase_if(free_, [&](const auto& entry) { return entry.second == at->first; });
    join(at, std::next(at));
  }
  free_.emplace(at->second.bytes, at->first);
}

void DeviceMemory::join(Blocks::iterator block, Blocks::iterator next) {
  if (!next->second.free || next->second.first) return;
  std::erase_if(free_, [&](const auto& entry) { return entry.second == next->first; });
  block->second.bytes += next->second.bytes;
  add_latest(block->second.users, next->second.users);
  blocks_.erase(next);
}

}  // namespace strata::cuda
