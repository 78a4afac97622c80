#pragma once

// When a run's tasks were at work, by events on their streams. Events of one GPU are compared with
// one another; those of several by the host's clock, on which each GPU's first event is placed to
// half the time that a GPU takes to answer (tens of microseconds at most): so much may the clocks
// of two GPUs differ. Events are made before the run and read after it.
//
// Of a step that is played from a recording only the end is known: there all of its tasks seem to
// be. Not thread-safe.

#include <cstddef>
#include <optional>
#include <vector>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/runtime/dispatcher.h"
#include "exec/runtime/ranks.h"
#include "sim/plan/plan.h"
#include "sim/timeline/execution.h"
#include "sim/timeline/timeline.h"

namespace strata::cuda {

class StreamClock {
 public:
  /// `ranks`: null, or whose clock counts. `played`: steps without times of tasks.
  StreamClock(const Plan& plan, CudaBackend& backend, std::size_t steps, const Ranks* ranks,
              StepRange played = {});

  /// The run begins at 0; nothing may be under way.
  void begin();
  /// What the stream does from here on until end() is the task.
  void start(Turn turn, std::uint32_t stream);
  void end(Turn turn, std::uint32_t stream);
  /// The played step is what the first stream did until here.
  void end_played(std::uint32_t step) { ends_[step]->record(backend_.stream(0)); }

  /// By step and task: start and end of those that this process did, once all is done.
  std::vector<Span> measured() const;

 private:
  struct Times {
    Event start, end;
  };
  /// An event of a device, and when that was on the host's clock.
  struct Mark {
    Event event;
    Seconds at;
  };
  std::optional<Times>& times(Turn turn) { return times_[turn.step * plan_.size() + turn.task()]; }
  Span measured(std::size_t step, TaskId task) const;
  Mark mark(DeviceId device);
  Seconds now() const;

  const Plan& plan_;
  CudaBackend& backend_;
  const Ranks* ranks_;
  std::vector<std::optional<Times>> times_;  // by step and task
  std::vector<std::optional<Event>> ends_;   // by step
  std::vector<std::optional<Mark>> marks_;   // by device
  Seconds begin_;
};

/// What follows from all tasks' spans: a task was ready when all that it waits for had ended, and a
/// collective started when the last of its participants came.
void derive_readiness(const Plan& plan, std::vector<Span>& spans);

}  // namespace strata::cuda
