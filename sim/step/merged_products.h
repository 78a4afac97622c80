#pragma once

// The pass that merges products: linear layers that read one input, or such layers of experts,
// computed as one product. So do frameworks whose weights of query, key and value, or of a gate and
// what it gates, lie in one matrix. Pure; thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// How linear layers that read one input are computed.
enum class Products : std::uint8_t { apart, merged };

/// Which layers of a graph are one product.
struct MergedProducts {
  std::vector<std::vector<LayerId>> by_layer;  ///< none at all where nothing is merged

  /// The layers that are one product with `layer`, itself among them, in the graph's order; none
  /// where it is computed apart.
  std::span<const LayerId> of(LayerId layer) const {
    return by_layer.empty() ? std::span<const LayerId>{} : by_layer[layer()];
  }
  bool empty() const { return by_layer.empty(); }
  bool operator==(const MergedProducts&) const = default;
};

/// Where they are to be merged, layers are one product that read the same, hold their own weights,
/// and all have a bias or none has, whatever cuts them; those that meet() apart from the others.
MergedProducts merge_products(const Graph& graph, Products products);

/// A shard as part of a product.
struct PartOfProduct {
  Op op;
  Extents output;
  Parameters parameters;
  double share = 1;                ///< of the product's columns that are the shard's
  bool first = true, last = true;  ///< of the layers that are this product
};
/// The product that the shard of `layer` is a part of where the other `layers` are cut as it is,
/// each in proportion to its columns. Its inputs are the shard's.
PartOfProduct part_of_product(const Graph& graph, std::span<const LayerId> layers, LayerId layer,
                              const Tile& shard);

}  // namespace strata
