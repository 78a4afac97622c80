#include "sim/study/search/score.h"

#include <algorithm>
#include <variant>

#include "sim/study/case/eq1_tables.h"

namespace strata {
namespace {

/// Pairs of devices that exchange something, over all edges.
constexpr double kMostPairs = 3e6;

// Along a dim a part meets the parts that lie where it does; along the channels of a layer that
// mixes them, all.
double pairs(const Op& consumer, const Degrees& from, const Degrees& to) {
  const auto* convolution = std::get_if<Convolution>(&consumer);
  const bool mixes = (convolution != nullptr && convolution->groups == 1) ||
                     std::holds_alternative<FullyConnected>(consumer);
  double product = 1;
  for (Dim dim : kDims) {
    const double p = from[dim], q = to[dim];
    product *= dim == Dim::c && mixes ? p * q : std::max(p, q);
  }
  return product;
}

}  // namespace

Scored score(const Case& input, const Strategy& strategy) {
  const Prediction p = predict(input, strategy);
  return {strategy, p.eq1_seconds(), p.step_seconds(), p.communication,
          *std::max_element(p.peak_memory.begin(), p.peak_memory.end())};
}

Scored score_eq1(const Case& input, const Strategy& strategy) {
  const std::vector<const CostModel*> models = cost_models(input);
  Eq1 eq1(input.graph, input.cluster, models, input.sync.algorithm, input.dtypes);
  return {strategy, total(eq1.terms(strategy)), {}, {}, {}};
}

bool quick_to_simulate(const Graph& graph, const Strategy& strategy) {
  double sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId consumer(i);
    for (LayerId producer : graph[consumer].inputs) {
      sum += pairs(graph[consumer].op, strategy[producer].degrees, strategy[consumer].degrees);
    }
  }
  return sum <= kMostPairs;
}

}  // namespace strata
