#pragma once

// A step that is recorded once and played from then on (device/recording.h): for networks whose
// tasks take less time than a host takes to ask for them. What changes from step to step lies in
// memory that kernels read (Seat), or is brought there before.
//
// The memory that tasks take and give back while a step is recorded is that of every later playing.
// It is nobody's in between, and a step is recorded anew where somebody has taken memory of these
// devices to keep, or where what kernels work in has moved. All streams stand still around each
// playing: a step begins when the one before has ended on all devices. That may delay what the plan
// would let overlap; it changes nothing else.
//
// Not thread-safe.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "exec/cuda/device/recording.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/stream_clock.h"
#include "exec/cuda/run/stream_work.h"
#include "sim/plan/plan.h"

namespace strata::cuda {

class RecordedStep {
 public:
  /// Of an executor of this plan, all of whose devices are here. Both must outlive it.
  RecordedStep(const Plan& plan, CudaBackend& backend) : plan_(plan), backend_(backend) {}

  /// Which steps of a run of so many are played. Not the first two of all, which tune plans and
  /// take memory; nor a run's last, which tells when its tasks were at work and leaves its
  /// gradients.
  StepRange played_of(std::size_t steps) const;
  /// A step was put on streams task by task.
  void saw_plain() { ++plain_; }

  /// Puts the step on all streams; `issue` puts its tasks on their streams, where it is to be
  /// recorded, and may do so for no other step.
  void play(StreamWork& work, std::uint32_t step, const std::function<void()>& issue);

 private:
  using Moved = std::array<std::int64_t, 3>;
  /// What must be as it was recorded.
  struct Memory {
    std::uint64_t losses = 0;
    std::uint64_t given = 0;  ///< between steps: a fingerprint
    bool operator==(const Memory&) const = default;
  };
  void load(StreamWork& work, std::uint32_t step);
  void record(StreamWork& work, std::uint32_t step, const std::function<void()>& issue);
  Memory memory() const { return {backend_.memory_losses(), backend_.memory_fingerprint()}; }

  static constexpr std::size_t kPlainSteps = 2;

  const Plan& plan_;
  CudaBackend& backend_;
  std::size_t plain_ = 0;
  std::optional<Recorded> graph_;
  Memory memory_;             // when it was recorded
  std::intptr_t losses_ = 0;  // where its kernels were told to write losses
  Moved moved_{};             // bytes between devices, as TaskWork counts them
};

}  // namespace strata::cuda
