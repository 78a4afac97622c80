#include "exec/mpi/rank_turns.h"

namespace strata::mpi {

RankTurns::RankTurns(const Plan& plan, DeviceId own, std::size_t steps)
    : plan_(plan),
      steps_(steps),
      successors_(plan.size()),
      carried_successors_(plan.size()),
      waiting_(steps * plan.size()) {
  for (std::size_t i = 0; i < plan.size(); ++i) parts_.push_back(part_of(plan, TaskId(i), own));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId id(i);
    if (part(id) == Part::none) continue;
    left_ += steps;
    // A task follows itself: with its sender elsewhere, a transfer may wait for nothing here.
    std::uint32_t first = 0, carried = 1;
    carried_successors_[i].push_back(id);
    for (TaskId before : plan.dependencies(id)) {
      if (part(before) == Part::none) continue;
      successors_[before()].push_back(id);
      ++first;
    }
    for (TaskId before : plan.carried(id)) {
      if (part(before) == Part::none || before == id) continue;
      carried_successors_[before()].push_back(id);
      ++carried;
    }
    for (std::size_t step = 0; step < steps; ++step) {
      waiting_[step * plan.size() + i] = first + (step == 0 ? 0 : carried);
    }
  }
}

void RankTurns::start(const Told& may_begin) {
  for (std::size_t at = 0; at < waiting_.size(); ++at) {
    const TaskId task(at % plan_.size());
    if (part(task) == Part::none || waiting_[at] > 0) continue;
    may_begin({static_cast<std::uint32_t>(at / plan_.size()), task});
  }
}

void RankTurns::complete(Turn turn, const Told& may_begin) {
  --left_;
  for (TaskId next : successors_[turn.task()]) release({turn.step, next}, may_begin);
  if (turn.step + 1 == steps_) return;
  for (TaskId next : carried_successors_[turn.task()]) release({turn.step + 1, next}, may_begin);
}

void RankTurns::release(Turn turn, const Told& may_begin) {
  if (--waiting_[slot(turn)] == 0) may_begin(turn);
}

}  // namespace strata::mpi
