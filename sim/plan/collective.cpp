#include "sim/plan/collective.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/domain_routes.h"
#include "sim/plan/phase_shapes.h"

namespace strata {
namespace {

// Sums loads by link and hands them out in the links' order.
class LoadSum {
 public:
  explicit LoadSum(const DomainRoutes& routes) : routes_(routes) {}

  void add_route(DeviceId from, DeviceId to, double weight, double share) {
    routes_.for_each_link(from, to, [&](LinkId link) { added_.push_back({link, weight, share}); });
  }
  std::vector<LinkLoad> loads(double scale = 1) && {
    std::stable_sort(added_.begin(), added_.end(),
                     [](const LinkLoad& a, const LinkLoad& b) { return a.link < b.link; });
    std::vector<LinkLoad> result;
    for (auto first = added_.begin(); first != added_.end();) {
      double weight = 0, demand = 0;
      const LinkId link = first->link;
      for (; first != added_.end() && first->link == link; ++first) {
        weight += first->weight;
        demand += first->demand();
      }
      result.push_back({link, weight * scale, demand > 0 ? weight / demand : 1});
    }
    return result;
  }

 private:
  const DomainRoutes& routes_;
  std::vector<LinkLoad> added_;
};

CollectivePhase as_is(const PhaseShape& shape) {
  CollectivePhase phase{shape.bytes_per_byte, shape.latency, {}};
  phase.loads.reserve(shape.loads.size());
  for (const StepLoad& load : shape.loads) phase.loads.push_back({load.link, load.weight()});
  return phase;
}

// Inside domains, what a device copies for itself takes its time as the parts that it passes on do.
CollectivePhase by(const TransferProtocol& protocol, double copy, const PhaseShape& shape) {
  CollectivePhase phase = as_is(shape);
  phase.latency +=
      protocol.latency + shape.inside * protocol.step + shape.between * protocol.network_step;
  const double parts = shape.parts > 0 ? (shape.parts + copy) / shape.parts : 1;
  for (std::size_t i = 0; i < phase.loads.size(); ++i) {
    const StepLoad& load = shape.loads[i];
    phase.loads[i].share = load.weight() / (load.inside * parts / protocol.share +
                                            load.between / protocol.network_share);
  }
  return phase;
}

// The links of a ring through the switch are those of each device to it and back: the whole tensor
// and one part more cross each of them, once.
CollectivePhase by(const SwitchSums& sums, std::size_t devices, const PhaseShape& ring) {
  CollectivePhase phase = as_is(ring);
  phase.bytes_per_byte = 1 + 1 / static_cast<double>(devices);
  phase.latency = sums.latency + 2 / ring.inside * ring.latency;
  for (LinkLoad& load : phase.loads) load.share = sums.share;
  return phase;
}

// In one domain: a part to each other device, and the own one copied at their rate.
CollectivePhase by(const AllToAlls& all, const PhaseShape& shape) {
  CollectivePhase phase = as_is(shape);
  phase.latency += all.latency + shape.parts * all.step;
  const double share = all.share * shape.parts / (shape.parts + all.copy);
  for (LinkLoad& load : phase.loads) load.share = share;
  return phase;
}

PhaseShape sent_once(PhaseShape shape, const SentOnce& sent) {
  for (StepLoad& load : shape.loads) {
    load.inside *= sent.inside;
    load.between *= sent.between;
  }
  std::erase_if(shape.loads, [](const StepLoad& load) { return load.weight() <= 0; });
  return shape;
}

CollectivePhase by(const TokenSends& sends, const PhaseShape& shape) {
  CollectivePhase phase = as_is(shape);
  phase.latency += sends.latency;
  const bool forwards =
      std::ranges::any_of(shape.loads, [](const StepLoad& load) { return load.between > 0; });
  const double inside = forwards ? sends.forward_share : sends.share;
  for (std::size_t i = 0; i < phase.loads.size(); ++i) {
    const StepLoad& load = shape.loads[i];
    phase.loads[i].share =
        load.weight() / (load.inside / inside + load.between / sends.network_share);
  }
  return phase;
}

double seconds_per_byte(const Cluster& cluster, const CollectivePhase& phase) {
  double slowest = 0;
  for (const LinkLoad& load : phase.loads) {
    slowest = std::max(slowest, load.demand() / cluster[load.link].bandwidth.value);
  }
  return phase.bytes_per_byte * slowest;
}

// None of either's needs is more than the other's.
CollectivePhase least_of(const CollectivePhase& a, const CollectivePhase& b) {
  CollectivePhase least{1, std::min(a.latency, b.latency), {}};
  for (std::size_t i = 0; i < a.loads.size(); ++i) {  // the links are the same
    least.loads.push_back({a.loads[i].link, std::min(a.bytes_per_byte * a.loads[i].demand(),
                                                     b.bytes_per_byte * b.loads[i].demand())});
  }
  return least;
}

}  // namespace

Seconds Collective::Way::time(Bytes bytes) const {
  return phase.latency + Seconds{seconds_per_byte * static_cast<double>(bytes.value)};
}

Collective::Collective(SyncAlgorithm algorithm, GroupWork work, const Cluster& cluster,
                       std::span<const DeviceId> devices, const SentOnce& sent) {
  if (devices.size() < 2) return;
  const CommunicationLibrary& library = cluster.communication_library();
  for (PhaseShape& whole : phase_shapes(algorithm, work, cluster, devices)) {
    const PhaseShape shape = sent.by_token ? sent_once(std::move(whole), sent) : std::move(whole);
    Ways& ways = phases_.emplace_back();
    const auto add = [&](CollectivePhase phase) {
      const double seconds = seconds_per_byte(cluster, phase);
      ways.push_back({std::move(phase), seconds});
    };
    if (library.protocols.empty() || shape.loads.empty()) add(as_is(shape));
    if (shape.loads.empty()) continue;
    if (library.token_sends && sent.by_token) {
      add(by(*library.token_sends, shape));
      continue;
    }
    if (library.all_to_all && work == GroupWork::all_to_all && shape.between == 0) {
      add(by(*library.all_to_all, shape));
      continue;
    }
    for (const TransferProtocol& protocol : library.protocols) {
      add(by(protocol, library.copy, shape));
    }
    const bool sums = algorithm == SyncAlgorithm::ring && work == GroupWork::all_reduce;
    if (library.switch_sums && sums && shape.between == 0) {
      add(by(*library.switch_sums, devices.size(), shape));
    }
    ways_ *= static_cast<std::uint32_t>(ways.size());
  }
}

std::size_t Collective::fastest(const Ways& ways, Bytes bytes) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < ways.size(); ++k) {
    if (ways[k].time(bytes) < ways[best].time(bytes)) best = k;
  }
  return best;
}

std::uint32_t Collective::fastest(Bytes bytes) const {
  std::uint32_t number = 0;
  for (const Ways& ways : phases_) {
    number = number * static_cast<std::uint32_t>(ways.size()) +
             static_cast<std::uint32_t>(fastest(ways, bytes));
  }
  return number;
}

std::vector<CollectivePhase> Collective::phases(std::uint32_t protocols) const {
  std::vector<CollectivePhase> result(phases_.size());
  for (std::size_t k = phases_.size(); k-- > 0;) {
    const auto count = static_cast<std::uint32_t>(phases_[k].size());
    result[k] = phases_[k][protocols % count].phase;
    protocols /= count;
  }
  return result;
}

std::vector<CollectivePhase> Collective::least() const {
  std::vector<CollectivePhase> result;
  for (const Ways& ways : phases_) {
    CollectivePhase least = ways.front().phase;
    for (std::size_t k = 1; k < ways.size(); ++k) least = least_of(least, ways[k].phase);
    result.push_back(std::move(least));
  }
  return result;
}

std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices, Bytes bytes,
                                               GroupWork work) {
  const Collective collective(algorithm, work, cluster, devices);
  return collective.phases(collective.fastest(bytes));
}

MovementLoads movement_loads(const Cluster& cluster, std::span<const Movement> movements) {
  MovementLoads result;
  const DomainRoutes routes(cluster);
  LoadSum sum(routes);
  for (const Movement& movement : movements) {
    sum.add_route(movement.from, movement.to, movement.bytes, movement.share);
    result.bytes += movement.bytes;
    result.latency = std::max(result.latency, routes.latency(movement.from, movement.to));
  }
  if (result.bytes > 0) result.loads = std::move(sum).loads(1 / result.bytes);
  return result;
}

}  // namespace strata
