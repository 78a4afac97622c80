#include "exec/runtime/turns.h"

#include <algorithm>

namespace strata {

// A join stands behind what it joins.
void set_join_spans(const Plan& plan, std::span<Span> spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TaskId id(i % plan.size());
    if (plan[id].kind != TaskKind::join) continue;
    Seconds last;
    for (TaskId before : plan.dependencies(id)) {
      last = std::max(last, spans[i - id() + before()].end);
    }
    spans[i] = {last, last, last};
  }
}

Turns::Turns(const Plan& plan, std::size_t steps, const std::vector<bool>& has_part,
             bool follow_themselves)
    : plan_(plan),
      steps_(steps),
      successors_(plan.size()),
      carried_successors_(plan.size()),
      waiting_(steps * plan.size()) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (has_part[i]) add(TaskId(i), has_part, follow_themselves);
  }
}

void Turns::add(TaskId id, const std::vector<bool>& has_part, bool follows_itself) {
  std::uint32_t first = 0, carried = 0;
  const auto follow = [&](TaskId before, auto& successors, std::uint32_t& count) {
    successors[before()].push_back(id);
    ++count;
  };
  const auto each_here = [&](std::span<const TaskId> tasks, const auto& visit) {
    for (TaskId before : tasks) {
      if (has_part[before()]) {
        visit(before);
      } else if (plan_[before].kind == TaskKind::join) {
        latest_first(plan_, plan_.dependencies(before), [&](TaskId joined) {
          if (has_part[joined()]) visit(joined);
        });
      }
    }
  };
  each_here(plan_.dependencies(id), [&](TaskId before) { follow(before, successors_, first); });
  each_here(plan_.carried(id), [&](TaskId before) {
    if (!follows_itself || before != id) follow(before, carried_successors_, carried);
  });
  if (follows_itself) follow(id, carried_successors_, carried);
  for (std::uint32_t step = 0; step < steps_; ++step) {
    waiting_[slot({step, id})] = first + (step == 0 ? 0 : carried);
  }
  tasks_.push_back(id);
  left_ += steps_;
}

// What is told of may end at once, and with it others begin: so all that wait for nothing are found
// before any is told of.
void Turns::start(const Visit& may_begin) {
  std::vector<Turn> first;
  for (std::uint32_t step = 0; step < steps_; ++step) {
    for (TaskId task : tasks_) {
      if (waiting_[slot({step, task})] == 0) first.push_back({step, task});
    }
  }
  for (Turn turn : first) may_begin(turn);
}

void Turns::complete(Turn turn, const Visit& may_begin) {
  --left_;
  for (TaskId next : successors_[turn.task()]) release({turn.step, next}, may_begin);
  if (turn.step + 1 == steps_) return;
  for (TaskId next : carried_successors_[turn.task()]) release({turn.step + 1, next}, may_begin);
}

void Turns::release(Turn turn, const Visit& may_begin) {
  if (--waiting_[slot(turn)] == 0) may_begin(turn);
}

}  // namespace strata
