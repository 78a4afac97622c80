#include <atomic>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/streams/gate.h"

namespace strata::cuda {
namespace {

// Of one word in the host's memory, which GPUs see as it is written.
using Count = std::atomic<std::uint32_t>;
static_assert(sizeof(Count) == sizeof(std::uint32_t) && Count::is_always_lock_free);

constexpr std::uint64_t kMostNanoseconds = 20'000'000;

// A host that stands for a GPU begins nothing before somebody waits for it.
struct WaitForHost {
  const void* opened;
  std::uint32_t wanted;
  STRATA_ANYWHERE void operator()(std::int64_t) const {
#ifdef __CUDA_ARCH__
    const auto now = [] {
      std::uint64_t nanoseconds = 0;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
      return nanoseconds;
    };
    const auto* count = static_cast<const volatile std::uint32_t*>(opened);
    const std::uint64_t begin = now();
    while (*count < wanted && now() - begin < kMostNanoseconds) {
    }
#endif
  }
};

}  // namespace

Gate::Gate() : opened_(host_memory(sizeof(Count))) {}

void Gate::close(Stream& stream) {
  each(stream, 1, WaitForHost{opened_.get(), next_});
}

void Gate::open() {
  static_cast<Count*>(opened_.get())->store(next_++, std::memory_order_release);
}

}  // namespace strata::cuda
