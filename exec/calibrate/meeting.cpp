#include "exec/calibrate/meeting.h"

#include "exec/runtime/spin.h"

namespace strata {
namespace {

Seconds seconds(std::chrono::steady_clock::duration time) {
  return {std::chrono::duration<double>(time).count()};
}

}  // namespace

std::optional<Wait> Meeting::arrive_and_wait() {
  const auto came = Clock::now();
  std::uint32_t seen = 0;
  {
    const std::lock_guard lock(mutex_);
    seen = opened_;
    ++arrived_;
    if (open_if_complete()) return {};
  }
  if (!keeps_core_ || !spin_while(opened_, seen, came + kSoon)) opened_.wait(seen);
  return Wait{seconds(opened_at_ - came), seconds(Clock::now() - opened_at_)};
}

void Meeting::leave() {
  const std::lock_guard lock(mutex_);
  --threads_;
  open_if_complete();
}

bool Meeting::open_if_complete() {
  if (arrived_ == 0 || arrived_ < threads_) return false;
  arrived_ = 0;
  opened_at_ = Clock::now();
  ++opened_;
  opened_.notify_all();
  return true;
}

}  // namespace strata
