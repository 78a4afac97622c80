#include "sim/graph/blocks.h"

#include <algorithm>

namespace strata {
namespace {

constexpr std::size_t kLeastTimes = 3, kLeastLayers = 4;

bool alike(const Graph& graph, LayerId a, LayerId b) {
  const Layer &x = graph[a], &y = graph[b];
  return x.op == y.op && x.output == y.output && x.parameters == y.parameters &&
         x.speed == y.speed &&
         std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(),
                    [&](LayerId from, LayerId other) { return a() - from() == b() - other(); });
}

}  // namespace

std::vector<Repeat> repeated_blocks(const Graph& graph) {
  std::vector<LayerId> distinct;
  std::vector<std::size_t> keys;
  keys.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto same = std::find_if(distinct.begin(), distinct.end(),
                                   [&](LayerId known) { return alike(graph, known, LayerId(i)); });
    keys.push_back(static_cast<std::size_t>(same - distinct.begin()));
    if (same == distinct.end()) distinct.emplace_back(i);
  }
  std::vector<Repeat> blocks = find_repeats(keys, kLeastTimes);
  std::erase_if(blocks, [](const Repeat& block) { return block.length < kLeastLayers; });
  return blocks;
}

}  // namespace strata
