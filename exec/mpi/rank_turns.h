#pragma once

// What a rank may begin: the tasks of its own device and the sends that others' tasks want of it,
// each when those of its dependencies have ended in which this rank has a part. The others need no
// waiting: whatever this rank must not do before they have ended hears from them by a message.
// Knows nothing of messages or time. Not thread-safe.

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/mpi/parts.h"
#include "exec/runtime/dispatcher.h"

namespace strata::mpi {

class RankTurns {
 public:
  using Told = std::function<void(Turn)>;

  RankTurns(const Plan& plan, DeviceId own, std::size_t steps);

  Part part(TaskId task) const { return parts_[task()]; }
  /// Tells of all that waits for nothing; once, at the beginning.
  void start(const Told& may_begin);
  /// The task, or this rank's send for it, has ended.
  void complete(Turn turn, const Told& may_begin);
  bool finished() const { return left_ == 0; }

 private:
  std::size_t slot(Turn turn) const { return turn.step * plan_.size() + turn.task(); }
  void release(Turn turn, const Told& may_begin);

  const Plan& plan_;
  std::size_t steps_;
  std::vector<Part> parts_;  // by task
  std::vector<std::vector<TaskId>> successors_, carried_successors_;
  std::vector<std::uint32_t> waiting_;  // by slot: how many it still waits for
  std::size_t left_ = 0;
};

}  // namespace strata::mpi
