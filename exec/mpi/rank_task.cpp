#include "exec/mpi/rank_run.h"

namespace strata::mpi {

std::size_t RankRun::participant(TaskId id, DeviceId device) const {
  const GroupPart& group = program_[id].group;
  std::size_t k = 0;
  while (program_.buffers()[group.buffers[k]()].device != device) ++k;
  return k;
}

// How many values `sender` (an index into the task's senders) has for the task.
std::size_t RankRun::values_from(TaskId id, std::size_t sender) const {
  const TaskProgram& task = program_[id];
  std::int64_t values = 0;
  switch (plan_[id].kind) {
    case TaskKind::reduce:
      values = task.group.part_of(task.group.own).size();
      break;
    case TaskKind::gather:
      values = task.group.part_of(participant(id, senders(plan_, id)[sender])).size();
      break;
    default:
      for (const Move& m : task.moves) values += volume(m.box);
      if (task.to_values.valid()) values = program_.buffers()[task.to_values()].values;
  }
  return static_cast<std::size_t>(values);
}

// Packed at once: whoever overwrites or gives back the tensors need not wait for the message.
void RankRun::send(Turn turn) {
  const TaskId id = turn.task;
  const TaskProgram& task = program_[id];
  const std::vector<DeviceId> from = senders(plan_, id);
  std::size_t own = 0;
  while (from[own] != own_) ++own;
  Staging staging = messages_.take(values_from(id, own));
  float* to = staging.values.get();
  const auto count = static_cast<std::int64_t>(staging.size);
  if (plan_[id].kind != TaskKind::transfer) {
    const std::size_t me = participant(id, own_);
    const std::size_t part = plan_[id].kind == TaskKind::reduce ? task.group.own : me;
    const float* values = work_.values_of(task.group.buffers[me]);
    backend_.copy_values(to, values + task.group.part_of(part).begin, count);
  } else if (task.from_values.valid()) {
    backend_.copy_values(to, work_.values_of(task.from_values), count);
  } else {
    for (const Move& m : task.moves) {
      backend_.pack(to, work_.region(m.from), m.box);
      to += volume(m.box);
    }
  }
  work_.count(id, count);
  work_.let_go(id);
  messages_.begin({turn, plan_[id].device, true, std::move(staging)});
}

void RankRun::listen(Turn turn) {
  const std::vector<DeviceId> from = senders(plan_, turn.task);
  heard_[slot(turn)] = {from.size(), std::vector<Staging>(from.size())};
  for (std::size_t k = 0; k < from.size(); ++k) {
    messages_.begin({turn, from[k], false, messages_.take(values_from(turn.task, k))});
  }
}

void RankRun::do_task(Turn turn) {
  const TaskId id = turn.task;
  if (plan_[id].kind == TaskKind::compute) return work_.compute(turn);
  std::vector<Staging> parts = std::move(heard_.at(slot(turn)).parts);
  heard_.erase(slot(turn));
  if (plan_[id].kind == TaskKind::reduce) reduce(id, parts);
  if (plan_[id].kind == TaskKind::gather) gather(id, parts);
  if (plan_[id].kind == TaskKind::transfer) {
    take_in(id, {parts.front().values.get(), parts.front().size});
  }
  for (Staging& part : parts) messages_.give_back(std::move(part));
}

void RankRun::take_in(TaskId id, std::span<const float> values) {
  const TaskProgram& task = program_[id];
  if (task.to_values.valid()) {
    backend_.copy_values(work_.values_of(task.to_values), values.data(),
                         static_cast<std::int64_t>(values.size()));
    return;
  }
  const float* from = values.data();
  for (const Move& m : task.moves) {
    backend_.unpack(work_.region(m.to), from, m.box);
    from += volume(m.box);
  }
}

// The same terms in the same order as devices in one process sum them: by participant.
void RankRun::reduce(TaskId id, const std::vector<Staging>& parts) {
  const GroupPart& group = program_[id].group;
  const Interval own = group.part_of(group.own);
  float* to = work_.values_of(group.buffers[group.own]) + own.begin;
  std::vector<const float*> all;
  for (std::size_t k = 0, other = 0; k < group.buffers.size(); ++k) {
    all.push_back(k == group.own ? to : parts[other++].values.get());
  }
  backend_.combine(group.how, to, all, group.counts, 0, own.size());
}

void RankRun::gather(TaskId id, const std::vector<Staging>& parts) {
  const GroupPart& group = program_[id].group;
  float* to = work_.values_of(group.buffers[group.own]);
  for (std::size_t k = 0, other = 0; k < group.buffers.size(); ++k) {
    if (k == group.own) continue;
    const Staging& part = parts[other++];
    backend_.copy_values(to + group.part_of(k).begin, part.values.get(),
                         static_cast<std::int64_t>(part.size));
  }
}

}  // namespace strata::mpi
