#include "sim/simulate/step_flows.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/simulate/bounded_ticks.h"
#include "sim/simulate/transfer_ways.h"

namespace strata {
namespace {

Tick latency_ticks(Seconds latency) {
  return bounded_ticks(latency, [] { return "the latency of a transfer"; });
}

std::vector<Demand> demands(std::span<const LinkLoad> loads) {
  std::vector<Demand> result;
  result.reserve(loads.size());
  for (const LinkLoad& load : loads) result.push_back({load.link, load.demand()});
  return result;
}

// Who sends to whom how much and how, and how many do alike: rounds move the same again.
using Moved = std::vector<std::int64_t>;

void find_moved(const Plan& plan, const Task& task, std::span<const TransferWay> ways,
                Moved& moved) {
  moved.assign({static_cast<std::int64_t>(task.device()), plan.alike(task)});
  for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
    moved.push_back(static_cast<std::int64_t>(piece.from()));
    moved.push_back(piece.bytes.value);
  }
  if (!ways.empty()) {
    const TransferWay& way = ways[task.detail];
    for (const double value : {way.latency.value, way.share, way.network_share}) {
      moved.push_back(std::bit_cast<std::int64_t>(value));
    }
  }
}

// As many transfers like this cross each link of a class: those on the link that stands for it
// move as one, at the rate of each.
void count_alike(const Plan& plan, const Task& task, std::vector<LinkLoad>& loads) {
  const DeviceClasses& classes = *plan.classes();
  const auto alike = static_cast<double>(plan.alike(task));
  for (LinkLoad& load : loads) {
    load.weight *= alike / static_cast<double>(classes.members(load.link));
    load.link = classes.representative(load.link);
  }
  std::sort(loads.begin(), loads.end(),
            [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
}

Flow transfer_flow(const Plan& plan, const Cluster& cluster, std::span<const TransferWay> ways,
                   const Task& task) {
  std::vector<Movement> movements;
  const TransferWay way = ways.empty() ? TransferWay{} : ways[task.detail];
  for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
    const bool inside = cluster[piece.from].fast_domain() == cluster[task.device].fast_domain();
    movements.push_back({piece.from, task.device, static_cast<double>(piece.bytes.value),
                         inside ? way.share : way.network_share});
  }
  MovementLoads loads = movement_loads(cluster, movements);
  loads.latency += way.latency;
  if (plan.classes() != nullptr) count_alike(plan, task, loads.loads);
  return {demands(loads.loads), loads.bytes, latency_ticks(loads.latency)};
}

std::vector<std::vector<Flow>> flows_of_shapes(const Plan& plan) {
  std::vector<std::vector<Flow>> shapes;
  for (const GroupShape& shape : plan.group_shapes()) {
    std::vector<Flow>& flows = shapes.emplace_back();
    for (const CollectivePhase& phase : shape.phases) {
      // One of several that has nothing to do: not two hosts, say.
      if (phase.loads.empty() && shape.phases.size() > 1) continue;
      flows.push_back({demands(phase.loads), phase.bytes_per_byte, latency_ticks(phase.latency)});
    }
  }
  return shapes;
}

}  // namespace

// What outlasts the clock by itself is named here; the engine would only give its number.
void check_flow(const Cluster& cluster, const Flow& flow, double bytes) {
  for (const Demand& demand : flow.demands) {
    const Link& link = cluster[demand.link];
    const Seconds least{bytes * demand.weight / link.bandwidth.value};
    bounded_ticks(least, [&] { return fmt::format("link {}: one transfer", link.name); });
  }
}

StepFlows step_flows(const Plan& plan, const Cluster& cluster, const std::atomic<bool>* cancelled) {
  const std::vector<TransferWay> ways = transfer_ways(plan, cluster);
  StepFlows flows{{}, {}, flows_of_shapes(plan), !ways.empty()};
  std::map<Moved, std::uint32_t> known;
  Moved moved;
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer) continue;
    throw_if_cancelled(cancelled);
    if (plan.exchange_of(task) != nullptr || plan.is_on_host(task)) {
      flows.transfers.push_back(0);
      continue;
    }
    find_moved(plan, task, ways, moved);
    const auto [at, fresh] =
        known.try_emplace(moved, static_cast<std::uint32_t>(flows.distinct.size()));
    flows.transfers.push_back(at->second);
    if (!fresh) continue;
    const Flow& flow = flows.distinct.emplace_back(transfer_flow(plan, cluster, ways, task));
    check_flow(cluster, flow, flow.bytes);
  }
  return flows;
}

}  // namespace strata
