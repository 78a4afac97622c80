#pragma once

// One call of RankExecutor::run() on one rank: walks its device's tasks, first ready in plan order,
// and everything between them that has to do with messages. A task that hears from others is ready
// when all it needs has arrived; its span is then the time of putting that where it belongs. No
// step of it blocks. Internal to exec/mpi.

#include <chrono>
#include <exception>
#include <map>
#include <queue>
#include <span>
#include <vector>

#include "exec/mpi/messages.h"
#include "exec/mpi/parts.h"
#include "exec/mpi/world.h"
#include "exec/runtime/backend.h"
#include "exec/runtime/task_work.h"

namespace strata::mpi {

class RankRun {
 public:
  /// Gives up after `patience` in which nothing happened.
  RankRun(const World& world, Messages& messages, const Plan& plan, Backend& backend,
          Executor& executor, std::size_t steps, const BatchOf& batch_of, Seconds patience);
  Execution execute();

 private:
  // rank_run.cpp: whose turn it is
  void work();
  void walk();
  void begin(Turn turn);
  void make_ready(Turn turn);
  void do_first_ready();
  void end(Turn turn);
  void arrived(Message message);
  void wait();
  std::string waits_for() const;
  std::string what_is_open() const;
  Seconds now() const { return {world_.now() - begin_}; }
  Span& span(Turn turn) { return spans_[turn.step * plan_.size() + turn.task()]; }
  Execution merged();

  // rank_task.cpp: what goes into messages and comes out of them
  void send(Turn turn);
  void listen(Turn turn);
  void do_task(Turn turn);
  void take_in(TaskId id, std::span<const float> values);
  void reduce(TaskId id, const std::vector<Staging>& parts);
  void gather(TaskId id, const std::vector<Staging>& parts);
  std::size_t values_from(TaskId id, std::size_t sender) const;
  const Group& group_of(TaskId id) const { return plan_.groups()[plan_[id].detail]; }
  std::size_t participant(TaskId id, DeviceId device) const;

  const World& world_;
  const Plan& plan_;
  Backend& backend_;
  DeviceId own_;
  TaskWork work_;
  std::vector<Part> parts_;  // by task
  Turns turns_;
  Messages& messages_;
  Seconds patience_;
  double begin_ = 0;  // on the clock of all
  std::vector<Span> spans_;
  std::vector<Turn> may_begin_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready_;
  struct Heard {
    std::size_t missing = 0;
    std::vector<Staging> parts;  // by sender
  };
  std::map<Turn, Heard> heard_;
  double last_progress_ = 0;
  std::exception_ptr error_;
};

}  // namespace strata::mpi
