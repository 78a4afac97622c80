#include <atomic>
#include <new>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/streams/gate.h"

namespace strata::cuda {
namespace {

// A word in the host's memory, which GPUs see as it is written.
using Word = std::atomic<std::uint32_t>;
static_assert(sizeof(Word) == sizeof(std::uint32_t) && Word::is_always_lock_free);

constexpr std::uint64_t kMostNanoseconds = 20'000'000;

// A host that stands for a GPU begins nothing before somebody waits for it: too early, if the gate
// is closed then.
struct WaitForHost {
  void* opened;
  void* gave_up;
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
    if (*count < wanted) *static_cast<volatile std::uint32_t*>(gave_up) = 1;
#else
    if (static_cast<const Word*>(opened)->load() < wanted) static_cast<Word*>(gave_up)->store(1);
#endif
  }
};

}  // namespace

struct Gate::Words {
  Word opened;  // how often
  Word gave_up;
};

Gate::Gate() : words_(host_memory(sizeof(Words))) {
  new (words_.get()) Words{};
}

void Gate::close(Stream& stream) {
  each(stream, 1, WaitForHost{&words().opened, &words().gave_up, next_});
}

void Gate::open() {
  words().opened.store(next_++, std::memory_order_release);
}

bool Gate::gave_up() {
  return words().gave_up.exchange(0) != 0;
}

Gate::Words& Gate::words() {
  return *static_cast<Words*>(words_.get());
}

}  // namespace strata::cuda
