#include "exec/cuda/run/collectives.h"

#include <algorithm>
#include <utility>

#include "sim/base/error.h"

namespace strata::cuda {
namespace {

bool is_collective(const Plan& plan, const Group& group) {
  return !group.tasks.empty() && plan[group.tasks.front()].kind == TaskKind::collective;
}

}  // namespace

DeviceSet devices_of(const Plan& plan, const Group& group) {
  DeviceSet devices;
  for (TaskId task : group.tasks) devices.push_back(plan[task].device);
  return devices;
}

bool has_collectives(const Plan& plan) {
  return std::any_of(plan.groups().begin(), plan.groups().end(),
                     [&](const Group& group) { return is_collective(plan, group); });
}

Collectives::Collectives(const Plan& plan, CudaBackend& backend, StreamWork& work, Peers* peers)
    : plan_(plan), backend_(backend), work_(work), peers_(peers) {
  for (const Group& group : plan.groups()) {
    std::vector<TaskId>& here = here_.emplace_back();
    if (!is_collective(plan, group)) continue;
    check_order(group);
    std::copy_if(group.tasks.begin(), group.tasks.end(), std::back_inserter(here),
                 [&](TaskId task) { return backend.is_here(plan[task].device); });
  }
}

void Collectives::check_order(const Group& group) const {
  for (TaskId id = group.tasks.front(); id() <= group.tasks.back()(); id = TaskId(id() + 1)) {
    for (TaskId before : plan_.dependencies(id)) {
      if (before() < group.tasks.front()()) continue;
      if (std::find(group.tasks.begin(), group.tasks.end(), before) == group.tasks.end()) continue;
      throw InternalError("a task waits for one participant of a group before the last has come");
    }
  }
}

void Collectives::perform(std::uint32_t group) {
  const Group& all = plan_.groups()[group];
  if (all.work != GroupWork::all_reduce) return perform_half(group);
  const DeviceSet devices = devices_of(plan_, all);
  const auto everybodys = static_cast<std::int64_t>(all.buffers.size()) * all.values *
                          static_cast<std::int64_t>(sizeof(float));
  std::vector<PeerPart> parts;
  for (TaskId id : here_[group]) {
    const std::size_t me = all.participant(id);
    backend_.enter_stream(stream_of(id));
    PeerPart part{plan_[id].device, &backend_.stream(stream_of(id)), work_.brought(all, me),
                  nullptr};
    if (all.how != Combination::sum) {
      part.all = static_cast<float*>(backend_.allocate(part.device, everybodys));
    }
    parts.push_back(part);
    work_.count(id, all.moved(me));
  }
  if (all.how == Combination::sum) return peers_->sum(devices, parts, all.values);
  peers_->gather(devices, parts, all.values);
  combine(group, parts);
}

// What is to be added to what is there already comes beside it first.
void Collectives::perform_half(std::uint32_t group) {
  const Group& half = plan_.groups()[group];
  const bool scatters = half.work == GroupWork::reduce_scatter;
  std::vector<Interval> intervals;
  for (std::size_t k = 0; k < half.buffers.size(); ++k) intervals.push_back(half.part_of(k));
  std::vector<PeerPart> parts;
  std::vector<float*> sums;
  for (TaskId id : here_[group]) {
    const std::size_t me = half.participant(id);
    const Interval own = intervals[me];
    backend_.enter_stream(stream_of(id));
    float* const brought = work_.brought(half, me);
    const bool apart = !half.results.empty();
    float* const result = apart ? work_.values_of(half.results[me]) : nullptr;
    PeerPart part{plan_[id].device, &backend_.stream(stream_of(id)), brought, result};
    if (!apart && scatters) part.all = brought + own.begin;
    if (!apart && !scatters) part.values = brought + own.begin, part.all = brought;
    if (half.adds && !own.empty()) {
      const auto bytes = own.size() * static_cast<std::int64_t>(sizeof(float));
      part.all = static_cast<float*>(backend_.allocate(part.device, bytes));
    }
    sums.push_back(result);
    parts.push_back(part);
    work_.count(id, half.moved(me));
  }
  const DeviceSet devices = devices_of(plan_, half);
  if (!scatters) return peers_->gather_parts(devices, parts, intervals);
  peers_->scatter(devices, parts, intervals);
  if (!half.adds) return;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const TaskId id = here_[group][k];
    const std::int64_t own = intervals[half.participant(id)].size();
    gathered_.push_back(own > 0 ? parts[k].all : nullptr);
    if (own == 0) continue;
    backend_.enter_stream(stream_of(id));
    backend_.add_values(sums[k], parts[k].all, own);
  }
}

void Collectives::combine(std::uint32_t group, std::span<const PeerPart> parts) {
  const Group& all = plan_.groups()[group];
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const TaskId id = here_[group][k];
    std::vector<const float*> everybodys;
    for (std::size_t p = 0; p < all.buffers.size(); ++p) {
      everybodys.push_back(parts[k].all + static_cast<std::int64_t>(p) * all.values);
    }
    backend_.enter_stream(stream_of(id));
    backend_.combine(all.how, parts[k].values, everybodys, all.counts, 0, all.values);
    gathered_.push_back(parts[k].all);
  }
}

void Collectives::performed(std::uint32_t group, std::span<const Ticket> tickets) {
  for (std::size_t k = 0; k < gathered_.size(); ++k) {
    if (gathered_[k] == nullptr) continue;
    backend_.release_after(plan_[here_[group][k]].device, gathered_[k], {tickets[k]});
  }
  gathered_.clear();
}

}  // namespace strata::cuda
