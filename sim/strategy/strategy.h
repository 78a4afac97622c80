#pragma once

// How each layer is cut and which devices hold its shards (Section 4). A Config is a degree for
// each loop; its product is how many devices share the layer. Immutable values; thread-safe.

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/index.h"
#include "sim/cluster/cluster.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/shard_devices.h"

namespace strata {

/// One layer's cut. Shard i sits on devices[i]; shards are numbered as Partition does.
struct Config {
  Degrees degrees = kWhole;
  ShardDevices devices;  ///< product(degrees) distinct devices

  auto operator<=>(const Config&) const = default;
};

/// A cut with its shards on the first devices of the cluster's order.
Config config_on_first_devices(const Degrees& degrees);

/// A Config for every layer of a graph, in the graph's order.
class Strategy {
 public:
  Strategy() = default;
  Strategy(std::string name, std::vector<Config> configs)
      : name_(std::move(name)), configs_(std::move(configs)) {}

  const std::string& name() const { return name_; }
  /// The same cuts by another name.
  Strategy called(std::string name) const {
    Strategy other = *this;
    other.name_ = std::move(name);
    return other;
  }
  /// The same cuts, of which layers are computed again.
  Strategy with(Segments segments) const {
    Strategy other = *this;
    other.segments_ = std::move(segments);
    return other;
  }
  const Config& operator[](LayerId id) const { return configs_[id()]; }
  std::span<const Config> configs() const { return configs_; }
  std::size_t size() const { return configs_.size(); }
  const Segments& segments() const { return segments_; }
  std::uint32_t segment(LayerId id) const { return segments_.empty() ? 0 : segments_[id()]; }

  bool operator==(const Strategy&) const = default;

 private:
  std::string name_;
  std::vector<Config> configs_;
  Segments segments_;  ///< that are computed again (recomputation.h)
};

/// The paper's baselines (Section 6) over all `devices` of a cluster; INTERFACE.md, "Cutting a
/// tensor". Degrees are clipped to the extents.
Strategy data_parallel(const Graph& graph, int devices);
Strategy model_parallel(const Graph& graph, int devices);
Strategy owt_parallel(const Graph& graph, int devices);

/// Along which dim the shards of a layer that is cut by `degrees`, of which r is more than 1, had
/// best divide their sums: that in which its first reader is cut the most, among equal ones the
/// first in order; nothing where no dim has room. `configs`: by layer; of readers alone.
std::optional<Dim> best_scatter(const Graph& graph, LayerId layer, const Degrees& degrees,
                                std::span<const Config> configs);

/// All that is wrong with the strategy for this graph and cluster, one line each, naming the layer
/// and the dim; empty if it is sound.
std::vector<std::string> validate(const Strategy& strategy, const Graph& graph,
                                  const Cluster& cluster);

}  // namespace strata
