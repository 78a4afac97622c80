#pragma once

// Devices that compute nothing, on a clock that stands still until every device works on a task or
// rests, and then jumps to the first end of a task. Threads, turns and waiting are the executor's.

#include <condition_variable>
#include <mutex>
#include <vector>

#include "exec/runtime/backend.h"
#include "sim/engine/tick.h"

namespace strata::testing {

class FakeClock : public TaskClock {
 public:
  /// How long each task takes, by task; above 0.
  FakeClock(std::size_t devices, std::vector<Tick> durations);

  Seconds start(DeviceId device, TaskId task) override;
  /// Returns when it is so late.
  Seconds end(DeviceId device, TaskId task) override;
  void rest(DeviceId device) override;
  void wake(DeviceId device) override;

 private:
  enum class State : std::uint8_t { awake, works, rests };
  /// Under the lock.
  void move_on();

  std::vector<Tick> durations_;
  std::mutex mutex_;  // the members below
  std::condition_variable moved_on_;
  std::vector<State> states_;  // by device
  std::vector<Tick> ends_;     // by device
  Tick now_ = 0;
};

class FakeBackend : public Backend {
 public:
  /// `spins`: who waits looks for its turn for a while before it sleeps.
  FakeBackend(std::size_t devices, std::vector<Tick> durations, bool spins)
      : devices_(devices), durations_(std::move(durations)), spins_(spins) {}

  std::unique_ptr<TaskClock> start_clock() override {
    return std::make_unique<FakeClock>(devices_, durations_);
  }
  std::size_t device_count() const override { return devices_; }
  std::string device_name(DeviceId device) const override {
    return "fake" + std::to_string(device());
  }
  bool has_own_cores() const override { return spins_; }
  void enter(DeviceId) override {}
  std::unique_ptr<Kernel> make_kernel(DeviceId, const ShardSpec&) override;
  std::int64_t places(const Box&) const override { return 1; }
  std::int64_t bytes(const Box&) const override { return 1; }
  void* allocate(DeviceId, std::int64_t) override { return ::operator new(1); }
  void release(DeviceId, void* memory) override { ::operator delete(memory); }
  void clear(const Region&) override {}
  void copy(const Region&, const Region&, const Box&) override {}
  void add(const Region&, const Region&, const Box&) override {}
  void sum(const Region&, std::span<const Region>) override {}
  void copy_values(float*, const float*, std::int64_t) override {}
  void add_values(float*, const float*, std::int64_t) override {}
  void combine(Combination, float*, std::span<const float* const>, std::span<const std::int64_t>,
               std::int64_t, std::int64_t) override {}
  void update(const Operands&, std::int64_t) override {}
  void pack(float*, const Region&, const Box&) override {}
  void unpack(const Region&, const float*, const Box&) override {}
  void load(const Region&, const float*, const Extents&) override {}
  void store(float*, const Extents&, const Region&) override {}

 private:
  std::size_t devices_;
  std::vector<Tick> durations_;
  bool spins_;
};

}  // namespace strata::testing
