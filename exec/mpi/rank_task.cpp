#include "exec/mpi/rank_run.h"

namespace strata::mpi {

std::size_t RankRun::participant(TaskId id, DeviceId device) const {
  const Group& group = group_of(id);
  std::size_t k = 0;
  while (plan_[group.tasks[k]].device != device) ++k;
  return k;
}

// How many values `sender` (an index into the task's senders) has for the task.
std::size_t RankRun::values_from(TaskId id, std::size_t sender) const {
  std::int64_t values = 0;
  switch (plan_[id].kind) {
    case TaskKind::reduce:
      values = group_of(id).part_of(participant(id, plan_[id].device)).size();
      break;
    case TaskKind::gather:
      values = group_of(id).part_of(participant(id, senders(plan_, id)[sender])).size();
      break;
    default:
      for (const Piece& piece : plan_.moves(id)) values += values_in(plan_, piece);
  }
  return static_cast<std::size_t>(values);
}

// Packed at once: whoever overwrites or gives back the tensors need not wait for the message.
void RankRun::send(Turn turn) {
  const TaskId id = turn.task;
  const std::vector<DeviceId> from = senders(plan_, id);
  std::size_t own = 0;
  while (from[own] != own_) ++own;
  Staging staging = messages_.take(values_from(id, own));
  float* to = staging.values.get();
  const auto count = static_cast<std::int64_t>(staging.size);
  if (plan_[id].kind != TaskKind::transfer) {
    const Group& group = group_of(id);
    const std::size_t me = participant(id, own_);
    const bool reduces = plan_[id].kind == TaskKind::reduce;
    const std::size_t part = reduces ? participant(id, plan_[id].device) : me;
    const std::int64_t first = group.brings_parts() ? 0 : group.part_of(part).begin;
    if (count > 0) {
      backend_.copy_values(to, work_.brought(group, me) + first, count);
    }
  }
  for (const Piece& piece : plan_.moves(id)) {
    if (moves_values(piece)) {
      backend_.copy_values(to, work_.values_of(piece.source.buffer), values_in(plan_, piece));
    } else {
      backend_.pack(to, work_.region(piece.source), plan_.box(piece));
    }
    to += values_in(plan_, piece);
  }
  work_.count(id, count);
  work_.let_go(id);
  messages_.begin({turn, plan_[id].device, true, std::move(staging)});
}

void RankRun::listen(Turn turn) {
  const std::vector<DeviceId> from = senders(plan_, turn.task);
  heard_[turn] = {from.size(), std::vector<Staging>(from.size())};
  for (std::size_t k = 0; k < from.size(); ++k) {
    messages_.begin({turn, from[k], false, messages_.take(values_from(turn.task, k))});
  }
}

void RankRun::do_task(Turn turn) {
  const TaskId id = turn.task;
  if (plan_[id].kind == TaskKind::compute) return work_.compute(turn);
  std::vector<Staging> parts = std::move(heard_.at(turn).parts);
  heard_.erase(turn);
  if (plan_[id].kind == TaskKind::reduce) reduce(id, parts);
  if (plan_[id].kind == TaskKind::gather) gather(id, parts);
  if (plan_[id].kind == TaskKind::transfer) {
    take_in(id, {parts.front().values.get(), parts.front().size});
  }
  for (Staging& part : parts) messages_.give_back(std::move(part));
}

void RankRun::take_in(TaskId id, std::span<const float> values) {
  const float* from = values.data();
  for (const Piece& piece : plan_.moves(id)) {
    if (moves_values(piece)) {
      backend_.copy_values(work_.values_of(piece.target.buffer), from, values_in(plan_, piece));
    } else {
      backend_.unpack(work_.region(piece.target), from, plan_.box(piece));
    }
    from += values_in(plan_, piece);
  }
}

// The same terms in the same order as devices in one process sum them: by participant.
void RankRun::reduce(TaskId id, const std::vector<Staging>& parts) {
  const Group& group = group_of(id);
  const std::size_t me = participant(id, own_);
  const Interval own = group.part_of(me);
  if (own.empty()) return;
  float* const brought = work_.brought(group, me) + own.begin;
  float* const to = group.results.empty() ? brought : work_.values_of(group.results[me]);
  std::vector<const float*> all;
  for (std::size_t k = 0, other = 0; k < group.buffers.size(); ++k) {
    all.push_back(k == me ? brought : parts[other++].values.get());
  }
  if (group.adds) all.push_back(to);
  backend_.combine(group.how, to, all, group.counts, 0, own.size());
}

void RankRun::gather(TaskId id, const std::vector<Staging>& parts) {
  const Group& group = group_of(id);
  const std::size_t me = participant(id, own_);
  const bool brings = group.brings_parts();
  float* to = brings ? work_.values_of(group.results[me]) : work_.brought(group, me);
  const Interval own = group.part_of(me);
  if (brings && !own.empty()) {
    backend_.copy_values(to + own.begin, work_.brought(group, me), own.size());
  }
  for (std::size_t k = 0, other = 0; k < group.buffers.size(); ++k) {
    if (k == me) continue;
    const Staging& part = parts[other++];
    backend_.copy_values(to + group.part_of(k).begin, part.values.get(),
                         static_cast<std::int64_t>(part.size));
  }
}

}  // namespace strata::mpi
