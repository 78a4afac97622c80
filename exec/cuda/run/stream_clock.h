#pragma once

// When a run's tasks were at work, by events on their streams. Events of one GPU are compared with
// one another; those of several by the host's clock, on which each GPU's first event is placed to
// half the time that a GPU takes to answer (tens of microseconds at most): so much may the clocks
// of two GPUs differ. Events are made before the run and read after it.
//
// A task that follows another (task_events.h) starts where that one ends: what the host takes to
// ask for it is in its duration then, where the GPU waits for the host.
//
// Of a step that is played from a recording only the end is known, and so it is of every step where
// nobody asks for more, which costs an event for each stream: there all of its tasks seem to be.
// Not thread-safe.

#include <cstddef>
#include <optional>
#include <vector>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/task_events.h"
#include "exec/runtime/ranks.h"
#include "exec/runtime/turns.h"
#include "sim/plan/plan.h"
#include "sim/timeline/execution.h"
#include "sim/timeline/timeline.h"

namespace strata::cuda {

class StreamClock {
 public:
  /// What of a run's steps is timed.
  struct Wanted {
    std::size_t steps = 0;
    bool tasks = true;  ///< of steps that are not played
    StepRange played;   ///< all is on the first stream when they end
  };
  /// `ranks`: null, or whose clock counts. All must outlive it.
  StreamClock(const Plan& plan, const TaskEvents& events, CudaBackend& backend,
              const Wanted& wanted, const Ranks* ranks);

  /// The run begins at 0; nothing may be under way.
  void begin();
  /// What the stream does from here on until end() is the task.
  void start(Turn turn, std::uint32_t stream);
  void end(Turn turn, std::uint32_t stream);
  /// All of the step has been put on streams.
  void end_step(std::uint32_t step);

  /// By step and task: start and end of those that this process did, once all is done.
  std::vector<Span> measured() const;

 private:
  struct Times {
    std::optional<Event> start;  ///< none where it follows
    Event end;
  };
  struct End {
    Event event;
    std::uint32_t stream = 0;
  };
  /// An event of a device, and when that was on the host's clock.
  struct Mark {
    Event event;
    Seconds at;
  };
  void make_events(const Wanted& wanted);
  bool is_here(TaskId task) const;
  std::optional<Times>& times(Turn turn) { return times_[turn.step * plan_.size() + turn.task()]; }
  const std::optional<Times>& times(std::size_t step, TaskId task) const {
    return times_[step * plan_.size() + task()];
  }
  Seconds at(const Event& event, std::size_t device) const;
  Seconds end_of(std::size_t step) const;
  Span measured(std::size_t step, TaskId task) const;
  Mark mark(DeviceId device);
  Seconds now() const;

  const Plan& plan_;
  const TaskEvents& events_;
  CudaBackend& backend_;
  const Ranks* ranks_;
  std::vector<std::optional<Times>> times_;  // by step and task
  std::vector<std::vector<End>> ends_;       // by step; none where there are its tasks' times
  std::vector<std::optional<Mark>> marks_;   // by device
  Seconds begin_;
};

/// What follows from all tasks' spans: a task was ready when all that it waits for had ended, and a
/// collective started when the last of its participants came.
void derive_readiness(const Plan& plan, std::vector<Span>& spans);

}  // namespace strata::cuda
