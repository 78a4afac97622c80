#include "sim/simulate/transfer_ways.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "sim/cluster/domain_routes.h"

namespace strata {
namespace {

/// What comes to a device from devices of its domain, or from others.
struct Arrivals {
  double senders = 0;
  double bytes = 0;
  BytesPerSecond narrowest = kNoLimit;  ///< of the links on their way

  void add(double count, double moved, BytesPerSecond bandwidth) {
    senders += count;
    bytes += moved;
    narrowest = std::min(narrowest, bandwidth);
  }
  double seconds(double share) const { return bytes / (share * narrowest.value); }
};

class Ways {
 public:
  Ways(const Plan& plan, const Cluster& cluster)
      : plan_(plan), cluster_(cluster), routes_(cluster), ways_(plan.transfers().size()) {}

  std::vector<TransferWay> run() && {
    for (std::vector<Arrived>& all : arrived_by_edge()) {
      const std::vector<DeviceId> senders = senders_of(all);
      std::sort(all.begin(), all.end(), [](const Arrived& a, const Arrived& b) {
        return std::tie(a.to, a.transfer) < std::tie(b.to, b.transfer);
      });
      for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
        const DeviceId to = all[first].to;
        while (last < all.size() && all[last].to == to) ++last;
        const bool sends = std::ranges::binary_search(senders, plan_.representative(to));
        const auto together = std::span(all).subspan(first, last - first);
        const TransferWay way = fastest(together, sends);
        for (const Arrived& arrived : together) ways_[arrived.transfer] = way;
      }
    }
    return std::move(ways_);
  }

 private:
  /// All transfers for one input of a layer, in one round.
  using Edge = std::tuple<std::uint32_t, bool, Phase, LayerId, std::uint32_t>;
  struct Arrived {
    DeviceId to;
    std::uint32_t transfer = 0;
  };

  // Most of an edge's transfers stand side by side in the plan.
  std::vector<std::vector<Arrived>> arrived_by_edge() const {
    std::vector<std::vector<Arrived>> all;
    std::map<Edge, std::size_t> numbers;
    auto at = numbers.end();
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const Task& task = plan_[TaskId(i)];
      if (task.kind != TaskKind::transfer || plan_.exchange_of(task) != nullptr) continue;
      if (plan_.is_on_host(task)) continue;
      const Transfer& transfer = plan_.transfers()[task.detail];
      const Edge edge(task.round, task.again, task.phase, task.layer, transfer.input);
      if (at == numbers.end() || at->first != edge) {
        at = numbers.try_emplace(edge, numbers.size()).first;
      }
      if (at->second == all.size()) all.emplace_back();
      all[at->second].push_back({task.device, task.detail});
    }
    return all;
  }

  // They are in order, and some stand several times.
  std::vector<DeviceId> senders_of(std::span<const Arrived> all) const {
    std::vector<DeviceId> senders;
    for (const Arrived& arrived : all) {
      for (const Piece& piece : plan_.pieces(plan_.transfers()[arrived.transfer])) {
        senders.push_back(plan_.representative(piece.from));
      }
    }
    std::sort(senders.begin(), senders.end());
    return senders;
  }

  TransferWay fastest(std::span<const Arrived> together, bool sends) const {
    Arrivals inside, between;
    for (const Arrived& arrived : together) {
      const Transfer& transfer = plan_.transfers()[arrived.transfer];
      // All pieces have one sender, but for flows that were put together: of how many is not known.
      double count = transfer.copies;
      for (const Piece& piece : plan_.pieces(transfer)) {
        const bool near = cluster_[piece.from].fast_domain() == cluster_[arrived.to].fast_domain();
        (near ? inside : between)
            .add(moves_values(piece) ? 0 : count,
                 static_cast<double>(transfer.copies * piece.bytes.value),
                 narrowest(piece.from, arrived.to));
        count = 0;
      }
    }
    const double copied = cluster_.communication_library().copy;
    const double parts = sends && inside.senders > 0 ? 1 + copied / inside.senders : 1;
    TransferWay best;
    double least = std::numeric_limits<double>::infinity();
    for (const TransferProtocol& protocol : cluster_.communication_library().protocols) {
      const TransferWay way{protocol.latency + inside.senders * protocol.step +
                                between.senders * protocol.network_step,
                            protocol.share / parts, protocol.network_share};
      const double seconds = way.latency.value + std::max(inside.seconds(way.share),
                                                          between.seconds(way.network_share));
      if (seconds < least) best = way, least = seconds;
    }
    return best;
  }

  BytesPerSecond narrowest(DeviceId from, DeviceId to) const {
    BytesPerSecond least = kNoLimit;
    routes_.for_each_link(from, to,
                          [&](LinkId link) { least = std::min(least, cluster_[link].bandwidth); });
    return least;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const DomainRoutes routes_;
  std::vector<TransferWay> ways_;
};

}  // namespace

std::vector<TransferWay> transfer_ways(const Plan& plan, const Cluster& cluster) {
  if (cluster.communication_library().protocols.empty()) return {};
  return Ways(plan, cluster).run();
}

}  // namespace strata
