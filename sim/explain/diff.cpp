#include "sim/explain/diff.h"

namespace strata {

StrategyDiff diff(const Case& input, const Strategy& before, const Strategy& after) {
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  StrategyDiff result{predict(input, before, options), predict(input, after, options), {}};
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId layer(i);
    if (is_input(input.graph[layer].op)) continue;
    if (before[layer] != after[layer]) result.changed.push_back(layer);
  }
  return result;
}

}  // namespace strata
