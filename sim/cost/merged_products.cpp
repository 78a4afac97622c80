#include "sim/cost/merged_products.h"

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// Null for a layer that is not one of several products.
const Linear* product_of(const Layer& layer) {
  const auto* const linear = std::get_if<Linear>(&layer.op);
  return linear != nullptr && linear->weight_of.empty() ? linear : nullptr;
}

}  // namespace

std::vector<LayerId> products_of_one_input(const Graph& graph, LayerId layer) {
  const Linear* const own = product_of(graph[layer]);
  if (own == nullptr) return {};
  std::vector<LayerId> layers;
  for (LayerId reader : graph.consumers(graph[layer].inputs.front())) {
    const Linear* const other = product_of(graph[reader]);
    if (other != nullptr && other->bias == own->bias) layers.push_back(reader);
  }
  if (layers.size() < 2) return {};
  return layers;
}

MergedProduct merged_product(const Graph& graph, std::span<const LayerId> layers, LayerId layer,
                             const Tile& shard) {
  const Layer& own = graph[layer];
  const std::int64_t whole = own.output[Dim::c], held = shard[Dim::c].size();
  std::int64_t columns = 0;
  for (LayerId each : layers) {
    columns += std::max<std::int64_t>(1, graph[each].output[Dim::c] * held / whole);
  }
  const bool bias = std::get<Linear>(own.op).bias, adds_bias = bias && shard.terms.begin == 0;
  MergedProduct merged{Linear{columns, bias},
                       extents(shard),
                       {columns * terms_in(own, shard), adds_bias ? columns : 0}};
  merged.output[Dim::c] = columns;
  merged.share = static_cast<double>(held) / static_cast<double>(columns);
  merged.first = layer == layers.front();
  merged.last = layer == layers.back();
  return merged;
}

}  // namespace strata
