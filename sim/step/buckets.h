#pragma once

// Gradient buckets: which parameter gradients replicas sum at once. A device's gradients lie in the
// order in which the backward pass makes them, and a bucket is an interval of that: one collective
// where each layer would have its own, whose latencies add up. Values; thread-safe.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/graph/graph.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// A layer's parameter shard in a bucket.
struct BucketPart {
  /// A layer that holds a copy of the weight (weight_copies()), and its first replica.
  struct Copy {
    LayerId layer;
    std::size_t first = 0;
  };
  LayerId layer;
  std::vector<std::uint32_t> shards;  ///< of layer_of() the replica, by replica
  std::int64_t first = 0;             ///< where its gradients begin, in values
  std::vector<Copy> copies = {};      ///< one after another, behind the layer's own replicas

  LayerId layer_of(std::size_t replica) const {
    LayerId holder = layer;
    for (const Copy& copy : copies) {
      if (replica >= copy.first) holder = copy.layer;
    }
    return holder;
  }
};

/// Gradients that the same devices hold, in the order of the backward pass. It is summed once the
/// last part is there.
struct Bucket {
  std::vector<DeviceId> devices;  ///< by replica
  std::vector<BucketPart> parts;
  std::int64_t values = 0;
  /// Buckets of the same values, one for each group of replicas that share: the first of them, and
  /// how many.
  std::uint32_t first_alike = 0, alike = 1;
  bool frozen = false;  ///< of parameters that have no gradients, and are shared alone
};

/// Whether several layers hold copies of a weight in it.
inline bool has_copies(const Bucket& bucket) {
  return std::any_of(bucket.parts.begin(), bucket.parts.end(),
                     [](const BucketPart& part) { return !part.copies.empty(); });
}

/// A strategy's buckets, by when they are full: each ends with the layer that brings it to
/// `capacity`, of `element_bytes` a value, or with the last one; the first that its devices fill
/// already at kFirstBucket, so that communication begins early (the rule of PyTorch's
/// DistributedDataParallel, by layers). With a capacity of 0 every parameter shard has its own.
/// Layers in `trains`; parameter shards that one device holds have none. Layers that hold copies of
/// a weight have theirs where its owner has them. Parts begin at multiples of `unit` values, behind
/// gaps that nobody reads. Replicas of a layer that share in groups have a bucket for each group,
/// of `group` of them in order (0: of all), or of the largest divisor of their number below it.
/// Where parameters are shared, those of layers in `frozen` have buckets of their own.
std::vector<Bucket> gradient_buckets(const Graph& graph, const Strategy& strategy,
                                     const std::vector<bool>& trains, Bytes capacity,
                                     std::int64_t element_bytes, std::int64_t unit = 1,
                                     std::int64_t group = 0, const std::vector<bool>& frozen = {});

inline constexpr Bytes kFirstBucket{std::int64_t{1} << 20};

}  // namespace strata
