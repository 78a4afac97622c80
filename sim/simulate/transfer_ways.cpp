#include "sim/simulate/transfer_ways.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "sim/cluster/host_routes.h"

namespace strata {
namespace {

/// What comes to a device from devices of its host, or from others.
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
  Ways(const Plan& plan, const Cluster& cluster, const std::vector<bool>& all_reduced)
      : plan_(plan),
        cluster_(cluster),
        all_reduced_(all_reduced),
        routes_(cluster),
        ways_(plan.transfers().size()) {}

  std::vector<TransferWay> run() && {
    std::vector<Arrived> all;
    std::set<std::pair<Edge, DeviceId>> senders;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const Task& task = plan_[TaskId(i)];
      if (task.kind != TaskKind::transfer || plan_.exchange_of(task) != nullptr) continue;
      const Transfer& transfer = plan_.transfers()[task.detail];
      const Edge edge(task.round, task.again, task.phase, task.layer, transfer.input);
      for (const Piece& piece : plan_.pieces(transfer)) {
        senders.emplace(edge, plan_.representative(piece.from));
      }
      const bool half = !all_reduced_.empty() && all_reduced_[i];
      all.push_back({edge, task.device, task.detail, half});
    }
    std::sort(all.begin(), all.end(), [](const Arrived& a, const Arrived& b) {
      return std::tie(a.edge, a.to, a.transfer) < std::tie(b.edge, b.to, b.transfer);
    });
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      const Arrived& begin = all[first];
      while (last < all.size() && all[last].edge == begin.edge && all[last].to == begin.to) ++last;
      const bool sends = senders.contains({begin.edge, plan_.representative(begin.to)});
      const auto together = std::span(all).subspan(first, last - first);
      const TransferWay way = fastest(together, sends);
      for (const Arrived& arrived : together) ways_[arrived.transfer] = way;
    }
    return std::move(ways_);
  }

 private:
  /// All transfers for one input of a layer, in one round.
  using Edge = std::tuple<std::uint32_t, bool, Phase, LayerId, std::uint32_t>;
  struct Arrived {
    Edge edge;
    DeviceId to;
    std::uint32_t transfer = 0;
    bool half = false;  // of an all-reduce
  };

  TransferWay fastest(std::span<const Arrived> together, bool sends) const {
    Arrivals inside, between;
    for (const Arrived& arrived : together) {
      const Transfer& transfer = plan_.transfers()[arrived.transfer];
      // All pieces have one sender, but for flows that were put together: of how many is not known.
      double count = transfer.copies;
      for (const Piece& piece : plan_.pieces(transfer)) {
        const bool host = cluster_[piece.from].host == cluster_[arrived.to].host;
        (host ? inside : between)
            .add(empty(piece.box) ? 0 : count,
                 static_cast<double>(transfer.copies * piece.bytes.value),
                 narrowest(piece.from, arrived.to));
        count = 0;
      }
    }
    const double of_all = together.front().half ? 0.5 : 1;
    const double copied = of_all * cluster_.communication_library().copy;
    const double parts = sends && inside.senders > 0 ? 1 + copied / inside.senders : 1;
    TransferWay best;
    double least = std::numeric_limits<double>::infinity();
    for (const TransferProtocol& protocol : cluster_.communication_library().protocols) {
      const TransferWay way{of_all * protocol.latency + inside.senders * protocol.step +
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
  const std::vector<bool>& all_reduced_;  // by task; or none
  const HostRoutes routes_;
  std::vector<TransferWay> ways_;
};

// Whether the transfer brings a sum to a device that sent a part of it.
bool fetches_back(const Plan& plan, TaskId transfer, TaskId sum) {
  if (plan[sum].kind != TaskKind::compute || !is_sum(plan[sum].phase)) return false;
  const auto sent = [&](const Piece& part) {
    return plan.representative(part.from) == plan[transfer].device;
  };
  const auto brought = plan.dependencies(sum);
  return std::any_of(brought.begin(), brought.end(), [&](TaskId part) {
    if (plan[part].kind != TaskKind::transfer) return false;
    const auto pieces = plan.pieces(plan.transfers()[plan[part].detail]);
    return std::any_of(pieces.begin(), pieces.end(), sent);
  });
}

}  // namespace

std::vector<TransferWay> transfer_ways(const Plan& plan, const Cluster& cluster,
                                       const std::vector<bool>& all_reduced) {
  if (cluster.communication_library().protocols.empty()) return {};
  return Ways(plan, cluster, all_reduced).run();
}

std::vector<bool> added_by_library(const Plan& plan, const std::vector<bool>& all_reduced) {
  std::vector<bool> found = all_reduced;
  if (plan.exchanges().empty()) return found;
  found.resize(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const TaskId sum(i);
    if (plan[sum].kind != TaskKind::compute || !is_sum(plan[sum].phase)) continue;
    for (const TaskId part : plan.dependencies(sum)) {
      const Exchange* exchange = plan.exchange_of(plan[part]);
      if (exchange != nullptr && exchange->work == GroupWork::reduce_scatter) found[i] = true;
    }
  }
  return found;
}

std::vector<bool> all_reduced(const Plan& plan, const Cluster& cluster, PartialSums sums) {
  if (sums == PartialSums::in_parts || cluster.communication_library().protocols.empty()) return {};
  std::vector<bool> found(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[TaskId(i)].kind != TaskKind::transfer) continue;
    for (TaskId sum : plan.dependencies(TaskId(i))) {
      if (!fetches_back(plan, TaskId(i), sum)) continue;
      found[i] = found[sum()] = true;
      for (TaskId part : plan.dependencies(sum)) {
        if (plan[part].kind == TaskKind::transfer) found[part()] = true;
      }
    }
  }
  return found;
}

}  // namespace strata
