#include "sim/plan/plan.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/plan/bytes_moved.h"
#include "sim/plan/work_kind.h"
#include "sim/strategy/shared_weight.h"

namespace strata {

Interval share_of(std::int64_t values, std::size_t participants, std::size_t k, std::int64_t unit) {
  const std::int64_t units = values / unit, all = static_cast<std::int64_t>(participants);
  const std::int64_t each = units / all, longer = units % all;
  const auto begin = [&](std::int64_t at) { return (at * each + std::min(at, longer)) * unit; };
  const auto at = static_cast<std::int64_t>(k);
  return {begin(at), begin(at + 1)};
}

Interval Group::part_of(std::size_t k) const {
  return share_of(values, buffers.size(), k, how == Combination::sum ? 1 : 2);
}

std::int64_t Group::moved(std::size_t k) const {
  const auto others = static_cast<std::int64_t>(buffers.size() - 1);
  const std::int64_t own = part_of(k).size();
  const std::int64_t summed = work == GroupWork::all_gather ? 0 : others * own;
  return summed + (work == GroupWork::reduce_scatter ? 0 : values - own);
}

// Tasks are added one after another.
std::size_t Group::participant(TaskId task) const {
  const std::vector<TaskId>& all = gathers.empty() || task < gathers.front() ? tasks : gathers;
  const auto at = std::lower_bound(all.begin(), all.end(), task);
  assert(at != all.end() && *at == task);
  return static_cast<std::size_t>(at - all.begin());
}

std::span<const Piece> Plan::moves(TaskId id) const {
  const Task& task = tasks_[id()];
  if (task.kind == TaskKind::transfer) return pieces(transfers_[task.detail]);
  if (task.kind != TaskKind::compute || task.detail == 0) return {};
  const Gathered& own = gathered_[task.detail - 1];
  return std::span(gathered_pieces_).subspan(own.first_piece, own.last_piece - own.first_piece);
}

Bytes Plan::assembled(TaskId id) const {
  Bytes sum;
  if (tasks_[id()].kind != TaskKind::compute || !assembles_[tasks_[id()].device()]) return sum;
  for (const Piece& piece : moves(id)) sum += piece.bytes;
  return sum;
}

// Each of them has as many of each class.
std::int64_t Plan::alike(const Group& group) const {
  if (!classes_) return 1;
  std::int64_t devices = 0;
  for (TaskId task : group.tasks) devices += members(tasks_[task()].device);
  return devices / static_cast<std::int64_t>(participants(group).size());
}

HeldShard weight_on(const Graph& graph, const Plan& plan, LayerId layer, DeviceId device) {
  for (std::size_t i = layer(); i < graph.size(); ++i) {
    const LayerId holder(i);
    if (holder != layer && graph[holder].weight_of != layer) continue;
    const ShardDevices& devices = plan.placement(holder).devices;
    const auto at = std::find(devices.begin(), devices.end(), device);
    if (at != devices.end()) return {holder, static_cast<std::uint32_t>(at - devices.begin())};
  }
  throw InternalError("a device updates what it does not hold");
}

HeldShard owner_of_weight(const Graph& graph, const Plan& plan, HeldShard holder) {
  const LayerId owner = graph[holder.layer].weight_of;
  if (!owner.valid()) return holder;
  const auto part_of = [&](LayerId layer, std::int64_t shard) {
    const Partition cut = partition(graph[layer], plan.placement(layer).degrees);
    return weight_part(graph[layer], cut.tile(shard));
  };
  const WeightPart held = part_of(holder.layer, holder.shard);
  for (std::uint32_t shard = 0; shard < plan.placement(owner).devices.size(); ++shard) {
    if (part_of(owner, shard) == held) return {owner, shard};
  }
  throw InternalError("no shard of its owner has the part of a weight that a layer has");
}

void add_moved(Bytes bytes, std::int64_t times, Bytes& sum) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  std::int64_t more = 0;
  const bool counts = !__builtin_mul_overflow(bytes.value, times, &more);
  if (!counts || more > kMost - sum.value) {
    throw InputError(
        fmt::format("a step moves more bytes than can be counted; allowed: {} bytes", kMost));
  }
  sum += Bytes{more};
}

Communication communication(const Plan& plan, Rounds rounds) {
  Communication sum;
  std::map<double, Bytes> exchanged;  // by what is moved of it; rounded once, in whatever order
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer || !rounds.contain(task)) continue;
    if (plan.is_on_host(task)) continue;
    const Exchange* const exchange = plan.exchange_of(task);
    const bool whole = exchange == nullptr || exchange->moved == 1;
    Bytes& all = work_kind(task) == WorkKind::sync ? sum.sync
                 : whole                           ? sum.transfer
                                                   : exchanged[exchange->moved];
    add_moved(plan.transfers()[task.detail].bytes, plan.alike(task), all);
  }
  for (const auto& [moved, bytes] : exchanged) {
    add_moved(Bytes{std::llround(moved * static_cast<double>(bytes.value))}, 1, sum.transfer);
  }
  for (const Group& group : plan.groups()) {
    if (!rounds.contain(plan[group.tasks.front()])) continue;
    const auto replicas = static_cast<std::int64_t>(plan.participants(group).size());
    const int halves = group.work == GroupWork::all_reduce ? 2 : 1;
    add_moved(group.bytes, plan.alike(group) * halves * (replicas - 1),
              group.purpose == GroupPurpose::parameters ? sum.sync : sum.statistics);
  }
  return sum;
}

std::string_view name(BufferKind kind) {
  constexpr auto kBuffers = std::to_array<std::string_view>(
      {"parameters", "optimizer state", "parameter gradient", "gradient at the server",
       "gradients of a round", "gathered parameters", "activation", "partial output", "saved",
       "network input", "gathered input", "statistics", "input gradient", "received gradient",
       "gathered gradient"});
  static_assert(kBuffers.size() == static_cast<std::size_t>(BufferKind::gathered_gradient) + 1);
  return kBuffers[static_cast<std::size_t>(kind)];
}

}  // namespace strata
