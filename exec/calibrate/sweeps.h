#pragma once

// In which order shards' shapes are measured. A sweep goes forward and back through the network
// with one shape for each layer: about a step's work lies between two uses of anything, so caches
// hold what they would hold in a step. Sweep k takes every layer's k-th shape. Immutable but for
// cut(); thread-safe to read.

#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/measure/runner.h"
#include "sim/profile/measured_cost.h"

namespace strata {

/// A shard's shape, with the phases that are asked for.
struct Shape {
  LayerId layer;
  Tile output;
  std::vector<Phase> phases;
  std::vector<CostKey> keys;  ///< by phase
};

/// Shapes by their numbers, in the network's order.
using Sweep = std::vector<std::size_t>;

class Sweeps {
 public:
  Sweeps(const Graph& graph, const MeasureList& list);

  const Shape& operator[](std::size_t shape) const { return shapes_[shape]; }
  std::span<const Sweep> all() const { return all_; }
  /// By shard of the list: its key, which is one of a shape's.
  std::vector<const CostKey*> keys_of_list() const;

  /// A sweep whose shapes hold more than `most` bytes at once goes to and fro over one stretch of
  /// layers after another: memory of that size is in no cache either way.
  void cut(const std::function<Bytes(const Shape&)>& held, Bytes most);

 private:
  void add(const Graph& graph, const MeasureRequest& request, const MeasureList& list);
  void plan();

  std::vector<Shape> shapes_;
  /// A phase of a shape, by its place among the shape's phases.
  struct Place {
    std::size_t shape = 0, phase = 0;
  };
  std::map<std::pair<LayerId, CostKey>, Place> asked_;
  std::map<std::pair<LayerId, CostKey>, std::size_t> by_shape_;
  std::vector<Place> places_;  // by shard of the list
  std::vector<Sweep> all_;
};

}  // namespace strata
