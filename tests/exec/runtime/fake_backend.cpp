#include "tests/exec/runtime/fake_backend.h"

#include <algorithm>

namespace strata::testing {
namespace {

class NoKernel : public Kernel {
 public:
  void run(Phase, const Operands&) override {}
};

}  // namespace

FakeClock::FakeClock(std::size_t devices, std::vector<Tick> durations)
    : durations_(std::move(durations)), states_(devices, State::awake), ends_(devices) {}

Seconds FakeClock::start(DeviceId, TaskId) {
  const std::lock_guard lock(mutex_);
  return to_seconds(now_);
}

Seconds FakeClock::end(DeviceId device, TaskId task) {
  std::unique_lock lock(mutex_);
  ends_[device()] = now_ + durations_[task()];
  states_[device()] = State::works;
  move_on();
  moved_on_.wait(lock, [&] { return states_[device()] == State::awake; });
  return to_seconds(now_);
}

void FakeClock::rest(DeviceId device) {
  const std::lock_guard lock(mutex_);
  states_[device()] = State::rests;
  move_on();
}

void FakeClock::wake(DeviceId device) {
  const std::lock_guard lock(mutex_);
  if (states_[device()] == State::rests) states_[device()] = State::awake;
}

void FakeClock::move_on() {
  if (std::count(states_.begin(), states_.end(), State::awake) > 0) return;
  Tick next = kMaxTick;
  for (std::size_t d = 0; d < states_.size(); ++d) {
    if (states_[d] == State::works) next = std::min(next, ends_[d]);
  }
  for (std::size_t d = 0; d < states_.size(); ++d) {
    if (states_[d] != State::works || ends_[d] != next) continue;
    states_[d] = State::awake;
    now_ = next;
  }
  moved_on_.notify_all();
}

std::unique_ptr<Kernel> FakeBackend::make_kernel(DeviceId, const ShardSpec&) {
  return std::make_unique<NoKernel>();
}

}  // namespace strata::testing
