#include "exec/runtime/dispatcher.h"

namespace strata {

Dispatcher::Dispatcher(const Plan& plan, std::size_t steps)
    : plan_(plan),
      steps_(steps),
      successors_(plan.size()),
      carried_successors_(plan.size()),
      waiting_(steps * plan.size()),
      ready_(plan.device_count()),
      left_(steps * plan.size()),
      left_by_device_(plan.device_count()) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId id(i);
    for (TaskId before : plan.dependencies(id)) successors_[before()].push_back(id);
    for (TaskId before : plan.carried(id)) carried_successors_[before()].push_back(id);
    if (plan[id].stream == Stream::device) left_by_device_[plan[id].device()] += steps;
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t carried = step == 0 ? 0 : plan.carried(id).size();
      waiting_[step * plan.size() + i] =
          static_cast<std::uint32_t>(plan.dependencies(id).size() + carried);
    }
  }
}

Turn Dispatcher::turn_at(std::size_t slot) const {
  return {static_cast<std::uint32_t>(slot / plan_.size()), TaskId(slot % plan_.size())};
}

void Dispatcher::start(const std::function<void(Turn)>& became_ready) {
  for (std::size_t at = 0; at < waiting_.size(); ++at) {
    const Turn turn = turn_at(at);
    const bool waits = !plan_.dependencies(turn.task).empty() ||
                       (turn.step > 0 && !plan_.carried(turn.task).empty());
    if (!waits) make_ready(turn, became_ready);
  }
}

std::optional<Turn> Dispatcher::take(DeviceId device) {
  Queue& queue = ready_[device()];
  if (queue.empty()) return std::nullopt;
  const Turn turn = turn_at(queue.top());
  queue.pop();
  return turn;
}

void Dispatcher::complete(Turn turn, const std::function<void(Turn)>& became_ready) {
  --left_by_device_[plan_[turn.task].device()];
  end(turn, became_ready);
}

void Dispatcher::end(Turn turn, const std::function<void(Turn)>& became_ready) {
  --left_;
  for (TaskId next : successors_[turn.task()]) release({turn.step, next}, became_ready);
  if (turn.step + 1 == steps_) return;
  for (TaskId next : carried_successors_[turn.task()]) {
    release({turn.step + 1, next}, became_ready);
  }
}

void Dispatcher::release(Turn turn, const std::function<void(Turn)>& became_ready) {
  if (--waiting_[slot(turn)] == 0) make_ready(turn, became_ready);
}

void Dispatcher::make_ready(Turn turn, const std::function<void(Turn)>& became_ready) {
  became_ready(turn);
  const Task& task = plan_[turn.task];
  if (task.stream == Stream::device) {
    ready_[task.device()].push(slot(turn));
  } else {
    end(turn, became_ready);
  }
}

}  // namespace strata
