#pragma once

// How long a step of a network that is a chain of layers must last because each layer waits for the
// one before it: forward to the loss, back to the first layer, whose parameters are then summed and
// updated before its next forward pass. A sum over pairs of neighbours, so that its least value
// over all strategies is found layer by layer.
//
// Proof (docs/solve.md has it at length). Between two layers all that is known of the earlier one
// is the earliest time at which one of its shards ends; nothing that it sends begins before. From
// there each device of the later layer waits for what it needs (exchange_bound.h), then computes.
// Going back, a device that has computed the gradient of a layer's inputs computes that of its
// parameters before it goes on to the layer below, if the latter waits for the former: plan order
// prefers it, and it was ready as early. Where a layer is cut in r, the shards of one sum wait for
// one another.
//
// Seconds. Thread-safe once built.

#include <cstdint>
#include <vector>

#include "sim/plan/sync_costs.h"
#include "sim/search/exchange_bound.h"
#include "sim/search/shard_times.h"

namespace strata {

/// A layer's shards under one cut, by device.
struct ChainShards {
  std::vector<std::size_t> devices;  ///< by shard
  ExchangeBound::DeviceSet has{};    ///< whether the device has one
  std::array<ShardTimes, ExchangeBound::kMostDevices> times{};
  std::vector<Box> owned;                ///< by shard
  std::vector<std::vector<Box>> needed;  ///< by shard: of the layer before
  // Of a layer that is cut in r:
  std::vector<ExchangeBound::DeviceSet> sums;  ///< by device: who shares its sums; else empty
  ExchangeBound::Traffic partial{};            ///< bytes of terms, to those who add them up
  ExchangeBound::Times collected{}, spread{};  ///< when these, and gradients back, have arrived
};

class LayerChain {
 public:
  /// Whether the network is such a chain, which is computed in one round, on so few devices that
  /// copy what they receive by engines of their own and are all connected, by which boxes go pair
  /// by pair. Several rounds wait for one another less.
  static bool applies(const Case& input);

  /// Precondition: applies(input). Both must outlive this.
  LayerChain(const Case& input, const ExchangeBound& exchange);

  /// In order.
  std::span<const LayerId> layers() const { return layers_; }
  /// Of the k-th layer.
  ChainShards shards(std::size_t k, const Cut& cut, ShardTimer& timer) const;

  /// From when the first shard of the first layer begins until one of them has its output.
  double begin(const ChainShards& first) const;
  /// From the output of layer k - 1 to that of layer k, and back; for the last one its gradient
  /// included.
  struct Link {
    double seconds;
    ExchangeBound::Traffic forward, backward;  ///< bytes
  };
  Link link(std::size_t k, const ChainShards& earlier, const Cut& earlier_cut,
            const ChainShards& later) const;
  /// What link() counts beside transfers; no more than that.
  double computed(std::size_t k, const ChainShards& earlier, const ChainShards& later) const;

 private:
  using Times = ExchangeBound::Times;
  using Traffic = ExchangeBound::Traffic;
  using DeviceSet = ExchangeBound::DeviceSet;

  Traffic needed(const ChainShards& earlier, const ChainShards& later) const;
  double forward(const Traffic& traffic, const ChainShards& later, bool last) const;
  Times gradients(const Traffic& traffic, const ChainShards& earlier) const;
  Times meet(const ChainShards& shards, const Times& ends, bool forward) const;
  Times wait_for_sums(const Traffic& traffic, const ChainShards& shards) const;
  double update(const ChainShards& first, const Cut& cut, const Times& gradients) const;
  void update_at_server(const ChainShards& first, std::span<const std::uint32_t> replicas,
                        std::size_t server, double bytes, const Times& gradients,
                        Times& updated) const;
  double sum_seconds(const std::vector<DeviceId>& devices, double bytes) const;
  static double least(const ChainShards& shards, const Times& times);

  const Case& input_;
  const ExchangeBound& exchange_;
  std::vector<LayerId> layers_;
  std::uint32_t first_ordinal_;
  mutable SyncCosts sync_costs_;
};

}  // namespace strata
