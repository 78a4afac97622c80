#pragma once

// What plans of one graph on one cluster have in common: the strategies of a search differ in few
// layers, so each edge is worked out once for each pair of cuts that meet in it. A plan lowered
// with it is the same plan. Thread-safe.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "sim/plan/class_boxes.h"
#include "sim/plan/sync_costs.h"
#include "sim/step/exchange_groups.h"
#include "sim/step/layer_counts.h"

namespace strata {

class LoweringMemo {
 public:
  /// Both must outlive this.
  LoweringMemo(const Graph& graph, const Cluster& cluster) : graph_(graph), sync_costs_(cluster) {}

  SyncCosts& sync_costs() { return sync_costs_; }

  /// What any strategy's step does of each layer (count_actions()), but for what is computed again.
  std::span<const LayerCounts> counts();

  /// Equal classes are one object.
  std::shared_ptr<const DeviceClasses> classes(DeviceClasses classes);

  /// What the edge into input number `input` of `consumer` reads; without classes (null) all of it,
  /// and then none is `returned` but where either layer has copies. `whole_gradient`: of the
  /// producer (gets_whole_gradient()). `classes` must come from here.
  std::shared_ptr<const ClassBoxes> boxes(LayerId consumer, std::size_t input,
                                          const Config& producer_config,
                                          const Config& consumer_config, bool whole_gradient,
                                          const DeviceClasses* classes);

  /// Of a layer that is cut in r, the parts of its sums: what their owners get and, `returned`,
  /// what goes back from those; all of it both ways without classes.
  std::shared_ptr<const ClassBoxes> sums(LayerId layer, const Config& config,
                                         const DeviceClasses* classes);

  /// Which devices exchange what the edge reads, or the gradients that are returned; and the terms
  /// of a layer that is cut in r.
  std::shared_ptr<const ExchangeGroups> exchanges(LayerId consumer, std::size_t input,
                                                  const Config& producer_config,
                                                  const Config& consumer_config, bool returned);
  std::shared_ptr<const ExchangeGroups> exchanges_of_sums(LayerId layer, const Config& config);

 private:
  using Boxes = std::shared_ptr<const ClassBoxes>;
  using SumsKey = std::tuple<Extents, std::int64_t, const DeviceClasses*, Config>;
  /// Layers that are alike, as those of blocks, have one edge: its access, both outputs and sums.
  using EdgeKey = std::tuple<AccessMap, Extents, Extents, std::int64_t, std::int64_t, bool,
                             const DeviceClasses*, Config, Config>;

  const Graph& graph_;
  SyncCosts sync_costs_;
  std::once_flag counted_;
  std::vector<LayerCounts> counts_;
  std::mutex lock_;
  std::vector<std::shared_ptr<const DeviceClasses>> classes_;
  std::map<EdgeKey, Boxes> boxes_;
  std::map<SumsKey, Boxes> sums_;
  using Groups = std::shared_ptr<const ExchangeGroups>;
  std::map<EdgeKey, Groups> exchanges_;  // where its flag says that gradients are returned
  std::map<SumsKey, Groups> exchanges_of_sums_;
  std::size_t held_ = 0;  // boxes in all, and devices in groups

  template <class Key, class Value, class Make>
  std::shared_ptr<const Value> remembered(std::map<Key, std::shared_ptr<const Value>>& known,
                                          Key key, const Make& make);
};

}  // namespace strata
