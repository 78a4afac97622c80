#pragma once

// How replicas sum their gradients, and what they share (sim/plan/collective.h has what that puts
// on links). Values.

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.h"

namespace strata {

enum class SyncAlgorithm : std::uint8_t { ps, ring, tree, hierarchical, automatic };
inline constexpr std::array<std::string_view, 5> kSyncNames = {"ps", "ring", "tree", "hierarchical",
                                                               "auto"};
constexpr std::string_view name(SyncAlgorithm sync) {
  return kSyncNames[static_cast<std::size_t>(sync)];
}

/// What the replicas of a parameter shard share, an interval each, where they would all have all of
/// it (ZeRO's stages, Rajbhandari et al. 2020).
enum class Zero : std::uint8_t {
  nothing,
  state,      ///< the optimizer's; each updates its interval, and then all gather the parameters
  gradients,  ///< too, once those of a round are summed
  parameters  ///< too, which are gathered for each pass that uses them
};
inline constexpr std::array<std::string_view, 4> kZeroNames = {"0", "1", "2", "3"};
constexpr std::string_view name(Zero zero) {
  return kZeroNames[static_cast<std::size_t>(zero)];
}

/// What leaves the devices for the memory of their hosts (ZeRO-Offload, Ren et al. 2021).
enum class Offload : std::uint8_t {
  nothing,
  optimizer  ///< its state, and the update by it: gradients go there, and parameters come back
};
inline constexpr std::array<std::string_view, 2> kOffloadNames = {"none", "optimizer"};
constexpr std::string_view name(Offload offload) {
  return kOffloadNames[static_cast<std::size_t>(offload)];
}

/// How replicas sum their gradients: by which algorithm, and how many bytes at once (buckets.h);
/// 0 for each layer by itself, as a parameter server always does; what they share meanwhile,
/// and where they update by the sum.
struct GradientSync {
  SyncAlgorithm algorithm = SyncAlgorithm::ring;
  Bytes bucket = {};
  Zero zero = Zero::nothing;
  /// Replicas share in groups of so many, and groups sum their intervals (hybrid sharding); 0: all.
  std::int64_t zero_group = 0;
  Offload offload = Offload::nothing;
  /// Updated parameters come by broadcasts, a layer's after another's, which each replica passes on
  /// in so long; 0: all of a bucket by one all-gather.
  Seconds broadcast_hop = {};

  constexpr GradientSync(SyncAlgorithm by = SyncAlgorithm::ring, Bytes at_once = {},
                         Zero shared = Zero::nothing, std::int64_t group = 0)
      : algorithm(by), bucket(at_once), zero(shared), zero_group(group) {}
  bool shares() const { return zero != Zero::nothing; }
  bool updates_on_host() const { return offload == Offload::optimizer; }
  /// Of values in a bucket (gradient_buckets()): its parameters lie there, too, of which kernels
  /// move 16 bytes at once.
  std::int64_t unit() const { return shares() ? 4 : 1; }
  /// Whether a replica may be the parameter server of others.
  bool may_serve() const {
    return algorithm == SyncAlgorithm::ps || (algorithm == SyncAlgorithm::automatic &&
                                              bucket == Bytes{} && !shares() && !updates_on_host());
  }
  Bytes bucket_in_use() const { return algorithm == SyncAlgorithm::ps ? Bytes{} : bucket; }
  bool operator==(const GradientSync&) const = default;
};

/// Throws InputError for a parameter server whose replicas would share.
void check(const GradientSync& sync);

/// What PyTorch's DistributedDataParallel takes where nothing else is said.
inline constexpr Bytes kUsualBucket{std::int64_t{25} << 20};

/// Of an all-reduce, which half: each device gets its interval of the sum, or all get everybody's
/// interval. Between the two stands what replicas do with an interval each (LowerOptions::zero). An
/// all-to-all sums nothing: each device gets another part of what each has.
enum class GroupWork : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all };

}  // namespace strata
