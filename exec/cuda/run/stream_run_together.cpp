// Tasks in which several devices have a part.

#include "exec/cuda/run/stream_run.h"

namespace strata::cuda {

void StreamRun::issue_together(std::uint32_t step, const Group& group) {
  const std::uint32_t number = plan_[group.tasks.front()].detail;
  const auto here = collectives_.here(number);
  if (here.empty()) return;
  const auto stream_of = [this](TaskId id) {
    return backend_.stream_of(plan_[id].device, plan_[id].stream);
  };
  for (TaskId id : here) {
    wait_for({step, id}, stream_of(id));
    clock_.start({step, id}, stream_of(id));
  }
  if (work_.is_wanted(here.front())) collectives_.perform(number);
  std::vector<Ticket> tickets;
  for (TaskId id : here) {
    clock_.end({step, id}, stream_of(id));
    tickets.push_back(ticket({step, id}) = end_of({step, id}, stream_of(id)));
  }
  collectives_.performed(number, tickets);
  for (TaskId id : here) work_.issued({step, id}, ticket({step, id}));
}

// Packs what is sent, and hands it to the peer where the receiver is one's.
Ticket StreamRun::issue_sending(Turn turn, Staged& packed) {
  const DeviceId from = crossing_.sender(turn.task);
  const std::uint32_t stream = backend_.sending_stream(from);
  wait_for(turn, stream);
  if (work_.is_wanted(turn.task)) {
    backend_.enter_stream(stream);
    packed = crossing_.pack(turn.task);
    if (!backend_.is_here(plan_[turn.task].device)) {
      crossing_.send(turn.task, packed, backend_.stream(stream));
    }
  }
  return end_of(turn, stream);
}

// What both ends of it hold here is let go of once, after the later one.
void StreamRun::issue_across(Turn turn) {
  const DeviceId from = crossing_.sender(turn.task), to = plan_[turn.task].device;
  const bool wanted = work_.is_wanted(turn.task);
  Staged packed, arrived;
  if (backend_.is_here(from)) ticket(turn) = issue_sending(turn, packed);
  if (backend_.is_here(to)) {
    const std::uint32_t stream = backend_.stream_of(to, plan_[turn.task].stream);
    Stream& on = backend_.stream(stream);
    wait_for(turn, stream);
    if (backend_.is_here(from)) backend_.order().after(stream, ticket(turn));
    clock_.start(turn, stream);
    backend_.enter_stream(stream);
    if (wanted) {
      arrived = backend_.is_here(from) ? crossing_.fetch(turn.task, packed, on)
                                       : crossing_.receive(turn.task, on);
      crossing_.unpack(turn.task, arrived);
    }
    clock_.end(turn, stream);
    ticket(turn) = end_of(turn, stream);
    if (wanted) crossing_.give_back(arrived, ticket(turn));
  }
  if (!backend_.is_here(from) && !backend_.is_here(to)) return;
  if (wanted && backend_.is_here(from)) crossing_.give_back(packed, ticket(turn));
  work_.issued(turn, ticket(turn));
}

}  // namespace strata::cuda
