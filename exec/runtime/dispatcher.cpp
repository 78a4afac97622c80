#include "exec/runtime/dispatcher.h"

namespace strata {

Dispatcher::Dispatcher(const Plan& plan, std::size_t steps)
    : plan_(plan),
      turns_(plan, steps),
      ready_(plan.device_count()),
      left_by_device_(plan.device_count()) {
  for (const Task& task : plan.tasks()) {
    if (task.stream == Stream::device) left_by_device_[task.device()] += steps;
  }
}

void Dispatcher::start(const Turns::Visit& became_ready) {
  turns_.start([&](Turn turn) { make_ready(turn, became_ready); });
}

std::optional<Turn> Dispatcher::take(DeviceId device) {
  auto& queue = ready_[device()];
  if (queue.empty()) return std::nullopt;
  const Turn turn = queue.top();
  queue.pop();
  return turn;
}

void Dispatcher::complete(Turn turn, const Turns::Visit& became_ready) {
  --left_by_device_[plan_[turn.task].device()];
  end(turn, became_ready);
}

void Dispatcher::end(Turn turn, const Turns::Visit& became_ready) {
  turns_.complete(turn, [&](Turn next) { make_ready(next, became_ready); });
}

void Dispatcher::make_ready(Turn turn, const Turns::Visit& became_ready) {
  became_ready(turn);
  const Task& task = plan_[turn.task];
  if (task.stream == Stream::device) {
    ready_[task.device()].push(turn);
  } else {
    end(turn, became_ready);
  }
}

}  // namespace strata
