#pragma once

// Linear layers that read one input, computed as one product: what a framework does whose weights
// of query, key and value, or of a gate and what it gates, lie in one matrix. Their shards then
// cost a part of that product (KernelTraits::merges_products). Pure; thread-safe.

#include <span>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// The linear layers that are one product with `layer`, itself among them, in the graph's order:
/// they read what it reads, hold their own weights, and all have a bias or none has. Empty where
/// there are no others.
std::vector<LayerId> products_of_one_input(const Graph& graph, LayerId layer);

/// A shard as part of a product.
struct MergedProduct {
  Op op;
  Extents output;
  Parameters parameters;
  double share = 1;                ///< of the product's columns that are the shard's
  bool first = true, last = true;  ///< of the layers that are this product
};
/// The product that the shard of `layer` is a part of where the other `layers` are cut as it is,
/// each in proportion to its columns. Its inputs are the shard's.
MergedProduct merged_product(const Graph& graph, std::span<const LayerId> layers, LayerId layer,
                             const Tile& shard);

}  // namespace strata
