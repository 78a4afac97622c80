#include "exec/cuda/run/crossing.h"

#include <algorithm>

namespace strata::cuda {
namespace {

constexpr auto kValueBytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

Crossing::Crossing(const Plan& plan, const Program& program, CudaBackend& backend, StreamWork& work,
                   Peers* peers)
    : plan_(plan), program_(program), backend_(backend), work_(work), peers_(peers) {
  for (std::size_t d = 0; d < plan.device_count(); ++d) everybody_.emplace_back(d);
  for (std::size_t i = 0; i < plan.size(); ++i) concerned_.push_back(is_apart(TaskId(i)));
}

DeviceId Crossing::sender(TaskId id) const {
  return plan_.pieces(plan_.transfers()[plan_[id].detail]).front().from;
}

// A copy of memory as it lies goes between any two GPUs of a process.
bool Crossing::is_apart(TaskId id) const {
  const TaskProgram& task = program_[id];
  const DeviceId own = plan_[id].device;
  if (plan_[id].kind == TaskKind::transfer) {
    const DeviceId from = sender(id);
    if (!backend_.is_here(own) || !backend_.is_here(from)) return true;
    return !backend_.reaches(own, from) &&
           !std::all_of(task.moves.begin(), task.moves.end(),
                        [this](const Move& move) { return lies_whole(move); });
  }
  if (plan_[id].kind != TaskKind::reduce) return false;
  return std::any_of(task.group.buffers.begin(), task.group.buffers.end(), [&](BufferId part) {
    return !backend_.reaches(own, program_.buffers()[part()].device);
  });
}

bool Crossing::lies_whole(const Move& move) const {
  const auto box = [this](Slot slot) { return program_.buffers()[slot.buffer()].boxes[slot.box]; };
  return box(move.from) == move.box && box(move.to) == move.box;
}

std::int64_t Crossing::bytes_of(TaskId id) const {
  const TaskProgram& task = program_[id];
  if (task.to_values.valid()) return program_.buffers()[task.to_values()].values * kValueBytes;
  std::int64_t sum = 0;
  for (const Move& move : task.moves) sum += backend_.bytes(move.box);
  return sum;
}

Staged Crossing::take(DeviceId device, std::int64_t bytes) {
  return {device, backend_.allocate(device, bytes), bytes};
}

Staged Crossing::pack(TaskId id) {
  const TaskProgram& task = program_[id];
  const std::int64_t bytes = bytes_of(id);
  if (task.from_values.valid()) {
    return {sender(id), work_.values_of(task.from_values), bytes, true};
  }
  const Staged packed = take(sender(id), bytes);
  auto* at = static_cast<std::byte*>(packed.memory);
  for (const Move& move : task.moves) {
    backend_.copy({at, move.box}, work_.region(move.from), move.box);
    at += backend_.bytes(move.box);
  }
  return packed;
}

// Counted once, by the sender.
void Crossing::send(TaskId id, const Staged& packed, Stream& stream) {
  peers_->send(everybody_, plan_[id].device, packed.memory, packed.bytes, stream);
  const TaskProgram& task = program_[id];
  for (const Move& move : task.moves) work_.count(id, volume(move.box));
  if (task.from_values.valid()) work_.count(id, packed.bytes / kValueBytes);
}

// Values arrive where they belong.
Staged Crossing::arriving(TaskId id) {
  const TaskProgram& task = program_[id];
  const DeviceId own = plan_[id].device;
  if (!task.to_values.valid()) return take(own, bytes_of(id));
  return {own, work_.values_of(task.to_values), bytes_of(id), true};
}

Staged Crossing::fetch(TaskId id, const Staged& packed, Stream& stream) {
  const Staged arrived = arriving(id);
  copy(arrived.memory, packed.memory, packed.bytes, stream);
  for (const Move& move : program_[id].moves) work_.count(id, volume(move.box));
  return arrived;
}

Staged Crossing::receive(TaskId id, Stream& stream) {
  const Staged arrived = arriving(id);
  peers_->receive(everybody_, sender(id), arrived.memory, arrived.bytes, stream);
  return arrived;
}

void Crossing::unpack(TaskId id, const Staged& arrived) {
  auto* at = static_cast<std::byte*>(arrived.memory);
  for (const Move& move : program_[id].moves) {
    backend_.copy(work_.region(move.to), {at, move.box}, move.box);
    at += backend_.bytes(move.box);
  }
}

// Own part of the tensor, from everybody: those out of reach lie side by side in what was fetched.
Staged Crossing::reduce(TaskId id, Stream& stream) {
  const GroupPart& group = program_[id].group;
  const Interval part = group.part_of(group.own);
  const auto count = static_cast<std::int64_t>(group.buffers.size());
  const Staged fetched = take(plan_[id].device, count * part.size() * kValueBytes);
  auto* at = static_cast<float*>(fetched.memory);
  std::vector<const float*> parts;
  for (BufferId buffer : group.buffers) {
    const float* values = work_.values_of(buffer) + part.begin;
    if (!backend_.reaches(plan_[id].device, program_.buffers()[buffer()].device)) {
      copy(at, values, part.size() * kValueBytes, stream);
      values = at;
    }
    parts.push_back(values);
    at += part.size();
  }
  backend_.combine(group.how, work_.values_of(group.buffers[group.own]) + part.begin, parts,
                   group.counts, 0, part.size());
  work_.count(id, (count - 1) * part.size());
  return fetched;
}

void Crossing::give_back(const Staged& staged, Ticket last_user) {
  if (!staged.lent) backend_.release_after(staged.device, staged.memory, {last_user});
}

}  // namespace strata::cuda
