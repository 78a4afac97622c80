#include "sim/graph/blocks.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace strata {
namespace {

// Whose numbers of distances an attention has is nothing that its block differs in.
bool have_equal_ops(const Layer& x, const Layer& y) {
  if (x.op == y.op) return true;
  const auto *a = std::get_if<Attention>(&x.op), *b = std::get_if<Attention>(&y.op);
  if (a == nullptr || b == nullptr || a->buckets == 0) return false;
  Attention own = *a;
  own.bias_of = b->bias_of;
  return own == *b;
}

bool alike(const Graph& graph, LayerId a, LayerId b) {
  const Layer &x = graph[a], &y = graph[b];
  return have_equal_ops(x, y) && x.output == y.output && x.parameters == y.parameters &&
         x.speed == y.speed && x.routing == y.routing && x.frozen == y.frozen &&
         x.format == y.format &&
         std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(),
                    [&](LayerId from, LayerId other) { return a() - from() == b() - other(); });
}

}  // namespace

std::vector<std::size_t> alike_layers(const Graph& graph) {
  // Few of equal signatures and extents differ.
  std::map<std::pair<std::string, Extents>, std::vector<LayerId>> distinct;
  std::vector<std::size_t> keys;
  keys.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    std::vector<LayerId>& known = distinct[{signature(layer.op), layer.output}];
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](LayerId one) { return alike(graph, one, LayerId(i)); });
    keys.push_back(same != known.end() ? (*same)() : i);
    if (same == known.end()) known.emplace_back(i);
  }
  return keys;
}

std::vector<Repeat> repeated_blocks(const Graph& graph) {
  std::vector<Repeat> blocks = find_repeats(alike_layers(graph), kLeastTimes);
  std::erase_if(blocks, [](const Repeat& block) { return block.length < kLeastLayers; });
  return blocks;
}

}  // namespace strata
