#include "sim/step/merged_products.h"

#include <algorithm>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// Whether the layer may be one of several products.
bool is_product(const Layer& layer) {
  const bool multiplies =
      std::holds_alternative<Linear>(layer.op) || std::holds_alternative<ExpertLinear>(layer.op);
  return multiplies && !layer.weight_of.valid();
}

std::vector<LayerId> products_of_one_input(const Graph& graph, LayerId layer) {
  const Layer& own = graph[layer];
  if (!is_product(own)) return {};
  std::vector<LayerId> layers;
  for (LayerId reader : graph.consumers(own.inputs.front())) {
    const Layer& other = graph[reader];
    const bool alike = other.op.index() == own.op.index() &&
                       other.adapts.valid() == own.adapts.valid() && other.format == own.format;
    if (is_product(other) && alike) layers.push_back(reader);
  }
  return layers;
}

// Beside an attention's query, key and value, which meet in it, a feed-forward layer's product is
// another, and so is that of another block's attention. All of one product have a bias, or none.
std::vector<LayerId> one_product(const Graph& graph, LayerId layer) {
  const std::vector<LayerId> layers = products_of_one_input(graph, layer);
  const auto meets_any = [&](LayerId it) {
    return std::ranges::any_of(
        layers, [&](LayerId other) { return other != it && meet(graph, it, other); });
  };
  const bool meets = meets_any(layer);
  std::vector<LayerId> together;
  for (LayerId other : layers) {
    const bool belongs = other == layer || (meets ? meet(graph, layer, other) : !meets_any(other));
    const bool alike = (graph[other].parameters.bias > 0) == (graph[layer].parameters.bias > 0);
    if (belongs && alike) together.push_back(other);
  }
  if (together.size() < 2) return {};
  return together;
}

}  // namespace

MergedProducts merge_products(const Graph& graph, Products products) {
  MergedProducts merged;
  if (products == Products::apart) return merged;
  bool any = false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    merged.by_layer.push_back(one_product(graph, LayerId(i)));
    any = any || !merged.by_layer.back().empty();
  }
  return any ? merged : MergedProducts{};
}

PartOfProduct part_of_product(const Graph& graph, std::span<const LayerId> layers, LayerId layer,
                              const Tile& shard) {
  const Layer& own = graph[layer];
  const std::int64_t whole = own.output[Dim::c], held = shard[Dim::c].size();
  std::int64_t columns = 0;
  for (LayerId each : layers) {
    columns += std::max<std::int64_t>(1, graph[each].output[Dim::c] * held / whole);
  }
  const bool of_experts = own.parameters.loops[Dim::d];
  const bool bias = own.parameters.bias > 0, adds_bias = bias && shard.terms.begin == 0;
  const std::int64_t weights = of_experts ? shard[Dim::d].size() : 1;
  PartOfProduct part{of_experts ? Op(ExpertLinear{columns, bias}) : Op(Linear{columns, bias}),
                     extents(shard),
                     {weights * columns * terms_in(own, shard), adds_bias ? weights * columns : 0,
                      own.parameters.loops}};
  part.output[Dim::c] = columns;
  part.share = static_cast<double>(held) / static_cast<double>(columns);
  part.first = layer == layers.front();
  part.last = layer == layers.back();
  return part;
}

}  // namespace strata
