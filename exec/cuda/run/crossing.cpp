#include "exec/cuda/run/crossing.h"

#include <algorithm>

namespace strata::cuda {
namespace {

constexpr auto kValueBytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

Crossing::Crossing(const Plan& plan, CudaBackend& backend, StreamWork& work, Peers* peers)
    : plan_(plan), backend_(backend), work_(work), peers_(peers) {
  for (std::size_t d = 0; d < plan.device_count(); ++d) everybody_.emplace_back(d);
  for (std::size_t i = 0; i < plan.size(); ++i) concerned_.push_back(is_apart(TaskId(i)));
}

DeviceId Crossing::sender(TaskId id) const {
  return plan_.pieces(plan_.transfers()[plan_[id].detail]).front().from;
}

// A copy of memory as it lies goes between any two GPUs of a process.
bool Crossing::is_apart(TaskId id) const {
  const DeviceId own = plan_[id].device;
  if (plan_[id].kind == TaskKind::transfer) {
    const auto pieces = plan_.moves(id);
    const DeviceId from = sender(id);
    if (!backend_.is_here(own) || !backend_.is_here(from)) return true;
    return !backend_.reaches(own, from) &&
           !std::all_of(pieces.begin(), pieces.end(),
                        [this](const Piece& piece) { return lies_whole(piece); });
  }
  if (plan_[id].kind != TaskKind::reduce) return false;
  const auto& parts = plan_.groups()[plan_[id].detail].buffers;
  return std::any_of(parts.begin(), parts.end(),
                     [&](BufferId part) { return !backend_.reaches(own, plan_[part].device); });
}

bool Crossing::lies_whole(const Piece& piece) const {
  if (moves_values(piece)) return true;
  const Box& box = plan_.box(piece);
  return plan_.box(piece.source) == box && plan_.box(piece.target) == box;
}

std::int64_t Crossing::bytes_of(TaskId id) const {
  std::int64_t sum = 0;
  for (const Piece& piece : plan_.moves(id)) {
    sum += moves_values(piece) ? values_in(plan_, piece) * kValueBytes
                               : backend_.bytes(plan_.box(piece));
  }
  return sum;
}

Staged Crossing::take(DeviceId device, std::int64_t bytes) {
  return {device, backend_.allocate(device, bytes), bytes};
}

// Values go from where they lie to where they belong.
bool Crossing::carries_values(TaskId id) const {
  return moves_values(plan_.moves(id).front());
}

Staged Crossing::pack(TaskId id) {
  const std::int64_t bytes = bytes_of(id);
  if (carries_values(id)) {
    return {sender(id), work_.values_of(plan_.moves(id).front().source.buffer), bytes, true};
  }
  const Staged packed = take(sender(id), bytes);
  auto* at = static_cast<std::byte*>(packed.memory);
  for (const Piece& piece : plan_.moves(id)) {
    const Box& box = plan_.box(piece);
    backend_.copy({at, box}, work_.region(piece.source), box);
    at += backend_.bytes(box);
  }
  return packed;
}

// Counted once, by the sender.
void Crossing::send(TaskId id, const Staged& packed, Stream& stream) {
  peers_->send(everybody_, plan_[id].device, packed.memory, packed.bytes, stream);
  for (const Piece& piece : plan_.moves(id)) work_.count(id, values_in(plan_, piece));
}

Staged Crossing::arriving(TaskId id) {
  const DeviceId own = plan_[id].device;
  if (!carries_values(id)) return take(own, bytes_of(id));
  return {own, work_.values_of(plan_.moves(id).front().target.buffer), bytes_of(id), true};
}

Staged Crossing::fetch(TaskId id, const Staged& packed, Stream& stream) {
  const Staged arrived = arriving(id);
  copy(arrived.memory, packed.memory, packed.bytes, stream);
  for (const Piece& piece : plan_.moves(id)) work_.count(id, values_in(plan_, piece));
  return arrived;
}

Staged Crossing::receive(TaskId id, Stream& stream) {
  const Staged arrived = arriving(id);
  peers_->receive(everybody_, sender(id), arrived.memory, arrived.bytes, stream);
  return arrived;
}

void Crossing::unpack(TaskId id, const Staged& arrived) {
  if (arrived.lent) return;
  auto* at = static_cast<std::byte*>(arrived.memory);
  for (const Piece& piece : plan_.moves(id)) {
    const Box& box = plan_.box(piece);
    backend_.copy(work_.region(piece.target), {at, box}, box);
    at += backend_.bytes(box);
  }
}

// Own part of the tensor, from everybody: those out of reach lie side by side in what was fetched.
Staged Crossing::reduce(TaskId id, Stream& stream) {
  const Group& group = plan_.groups()[plan_[id].detail];
  const std::size_t me = group.participant(id);
  const Interval part = group.part_of(me);
  const auto count = static_cast<std::int64_t>(group.buffers.size());
  const Staged fetched = take(plan_[id].device, count * part.size() * kValueBytes);
  auto* at = static_cast<float*>(fetched.memory);
  std::vector<const float*> parts;
  for (std::size_t k = 0; k < group.buffers.size(); ++k) {
    const BufferId buffer = group.buffers[k];
    const float* values = work_.brought(group, k) + part.begin;
    if (!backend_.reaches(plan_[id].device, plan_[buffer].device)) {
      copy(at, values, part.size() * kValueBytes, stream);
      values = at;
    }
    parts.push_back(values);
    at += part.size();
  }
  float* const to = group.results.empty() ? work_.brought(group, me) + part.begin
                                          : work_.values_of(group.results[me]);
  if (group.adds) parts.push_back(to);
  if (!part.empty()) backend_.combine(group.how, to, parts, group.counts, 0, part.size());
  work_.count(id, (count - 1) * part.size());
  return fetched;
}

void Crossing::give_back(const Staged& staged, Ticket last_user) {
  if (!staged.lent) backend_.release_after(staged.device, staged.memory, {last_user});
}

}  // namespace strata::cuda
