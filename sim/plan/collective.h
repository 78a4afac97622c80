#pragma once

// How replicas sum a tensor: the algorithm, and what it puts on every link of the device graph.
// A collective is a short sequence of phases; each phase is one activity that loads all of its
// links at once, so a ring of a thousand devices is one entry, not a million messages.
//
//   ring          2 (r-1)/r B over every hop, 2 (r-1) latencies (reduce-scatter, all-gather). Where
//                 domains have several ways to each other (rails), as many rings as these carry
//                 share B, and each leaves a domain at another device; inside a domain where
//                 devices have links to each other, several rings go over these (mesh_rings.h)
//   tree          two binary trees, each carrying half: B/2 up and B/2 down every edge,
//                 2 ceil(log2 r) latencies (Sanders, Speck, Traeff 2009: two-tree broadcast)
//   hierarchical  ring reduce-scatter inside each domain, ring all-reduce of the parts between
//                 domains, ring all-gather inside
//   all-to-all    B/r^2 over the route of each pair, the latency of the longest; whatever the
//   algorithm ps            gradients to one replica and parameters back (plain transfers,
//   Section 5.1)
//
// Values and pure functions; thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/step/gradient_sync.h"

namespace strata {

/// `weight` bytes cross the link for every byte that the activity counts. Of the link's bandwidth
/// it can use `share` at most: it takes up the link as weight / share bytes would.
struct LinkLoad {
  LinkId link;
  double weight = 1;
  double share = 1;
  double demand() const { return weight / share; }
  bool operator==(const LinkLoad&) const = default;
};

/// One activity: `bytes_per_byte` * B bytes at one rate over all `loads` (sorted by link).
struct CollectivePhase {
  double bytes_per_byte = 0;
  Seconds latency;
  std::vector<LinkLoad> loads;
  bool operator==(const CollectivePhase&) const = default;
};

/// Of what an all-to-all of slots sends, what goes where a token goes once to each device of a
/// domain, and once to each domain, that has experts of it.
struct SentOnce {
  bool by_token = false;  ///< else the whole, as the library's all-to-alls
  double inside = 1;      ///< of the bytes inside domains
  double between = 1;     ///< and between them
  auto operator<=>(const SentOnce&) const = default;
};

/// A collective of some devices, for tensors of any size. Where the cluster says how its library
/// moves bytes (communication_library.h), each phase is done by the protocol that is the fastest
/// for the size on idle links. Ring, tree or hierarchical. The latter has three phases: inside the
/// domains, between them, inside; of a half, two. One that has nothing to do (in one domain, or
/// with one device a domain) is empty. One device has no phases.
class Collective {
 public:
  Collective() = default;
  Collective(SyncAlgorithm algorithm, GroupWork work, const Cluster& cluster,
             std::span<const DeviceId> devices, const SentOnce& sent = {});

  /// A number for the protocols that are the fastest for a tensor of so many bytes; 0 where there
  /// is no choice.
  std::uint32_t fastest(Bytes bytes) const;
  bool has_choice() const { return ways_ > 1; }
  /// For a tensor of one byte. `protocols`: such a number.
  std::vector<CollectivePhase> phases(std::uint32_t protocols) const;
  /// Phases that need no more of any link, and wait no longer, than those of any protocols.
  std::vector<CollectivePhase> least() const;

 private:
  struct Way {
    CollectivePhase phase;
    double seconds_per_byte = 0;
    Seconds time(Bytes bytes) const;
  };
  using Ways = std::vector<Way>;  // of one phase
  static std::size_t fastest(const Ways& ways, Bytes bytes);

  std::vector<Ways> phases_;
  std::uint32_t ways_ = 1;
};

/// The phases of a tensor of one byte, by the protocols that are the fastest for `bytes`.
std::vector<CollectivePhase> collective_phases(SyncAlgorithm algorithm, const Cluster& cluster,
                                               std::span<const DeviceId> devices, Bytes bytes = {},
                                               GroupWork work = GroupWork::all_reduce);

/// The loads of bytes moving from several devices to others at once, per byte of their total.
struct Movement {
  DeviceId from, to;
  double bytes = 0;
  double share = 1;  ///< of the links' bandwidth that it can use
};
struct MovementLoads {
  double bytes = 0;
  Seconds latency;              ///< the longest route's
  std::vector<LinkLoad> loads;  ///< sorted by link; weight = share of `bytes` on the link
};
MovementLoads movement_loads(const Cluster& cluster, std::span<const Movement> movements);

}  // namespace strata
