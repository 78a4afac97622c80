#pragma once

// How what devices exchange loads the links, for a cluster that is the same group of devices
// several times (its hosts): then one formula serves every group, and a table of t_X asks for the
// maximum over groups of a few sums.
//
// Device g m + s is number s of the m devices of group g. An exchange is, per group, the rows
//   V(s, t)   bytes that number t reads of what number s of the same group owns,   row s m + t
//   Out(s)    bytes of number s that other groups read,                            row m m + s
//   In(t)     bytes that number t reads of other groups,                           row m m + m + t
//   OutWithin(s), InWithin(t): the same of the others in its own group,  rows m m + 2 m + s, 3 m +
//   t
// and the load of any link, forward, is a sum of rows of its group: within a group the routes are
// told pair by pair, between groups every route is the source's way out and then the
// target's way in. Backward the gradients go back: V(s, t) is V(t, s), Out is In.
//
// Every cluster is such a one: where hosts differ or wires cross between them, all its devices
// make one group. Immutable; thread-safe.

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace strata {

class GroupNetwork {
 public:
  using Row = std::uint32_t;
  using Sum = std::vector<Row>;  ///< the rows that add up; sorted

  /// The largest of several sums over all groups; where `bandwidth` is given (by group) each is
  /// divided by its group's first.
  struct Maximum {
    std::vector<Sum> sums;
    std::vector<double> bandwidth;
    bool operator==(const Maximum&) const = default;
  };
  /// A direction's time is the largest of maximum / bandwidth, plus the largest of the latencies
  /// whose maximum is not zero.
  struct Use {
    std::uint32_t maximum;  ///< an index of maxima()
    double value;           ///< bytes a second (1 where the maximum is divided), or seconds
  };
  struct Direction {
    std::vector<Use> bandwidths, latencies;
  };

  /// Looks at the routes of all pairs of devices. Throws Cancelled once `cancelled` is true.
  explicit GroupNetwork(const Cluster& cluster, const std::atomic<bool>* cancelled = nullptr);

  /// Lower bounds of all times. Each group as one device: what leaves or enters it takes at least
  /// as long as its links between groups need together, what stays inside takes no time.
  GroupNetwork between_groups() const;
  /// Each device as a group: what it sends or gets takes as long as all its links need together.
  GroupNetwork between_devices() const;

  std::size_t group_size() const { return size_; }
  std::size_t groups() const { return groups_; }
  /// All groups, or at most eight: the first, and the last ones of half the devices, a quarter ...
  std::vector<std::uint32_t> all_groups() const;
  std::vector<std::uint32_t> sampled_groups() const;
  const std::vector<Maximum>& maxima() const { return maxima_; }
  const Direction& forward() const { return forward_; }
  const Direction& backward() const { return backward_; }

 private:
  GroupNetwork() = default;
  bool try_groups(const Cluster& cluster, std::size_t size, const std::atomic<bool>* cancelled);
  std::uint32_t index_of(Maximum maximum);
  Row reversed(Row row) const;
  Sum reversed(const Sum& sum) const;
  Sum shortened(Sum sum) const;
  // A link as its sum of rows, with the bandwidth of the group where it is the fastest.
  using Links = std::vector<std::pair<Sum, double>>;
  static double joint_bandwidth(const Links& links, Sum rows);
  GroupNetwork bound(std::size_t groups, double latency,
                     const std::vector<std::pair<Sum, Sum>>& out_and_in) const;

  std::size_t size_ = 1, groups_ = 1;
  double latency_between_ = 0, least_latency_ = 0;
  Links links_;  ///< forward
  std::vector<Maximum> maxima_;
  Direction forward_, backward_;
};

}  // namespace strata
