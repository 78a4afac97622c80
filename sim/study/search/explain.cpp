#include "sim/study/search/explain.h"

#include <algorithm>
#include <deque>
#include <variant>

#include "sim/base/parallel.h"
#include "sim/solver/solve.h"
#include "sim/study/case/eq1_tables.h"

namespace strata {
namespace {

// An edge between one of the layers that share the config and one that does not.
struct Neighbour {
  LayerId consumer;
  std::size_t input = 0;
  LayerId other;
  bool comes_in = false;
};

class Explainer {
 public:
  Explainer(const Case& input, const SearchSpace& space, const Strategy& strategy,
            std::uint32_t variable)
      : input_(input), strategy_(strategy), variable_(space[variable]) {
    for (LayerId layer : variable_.layers) add_neighbours(layer);
  }

  // Costs are remembered by whoever asks, so each worker asks its own Eq1.
  std::vector<ChoiceCosts> choices() const {
    const std::vector<const CostModel*> models = cost_models(input_);
    std::deque<Eq1> workers;  // which cannot be moved
    for (unsigned k = 0; k < core_count(); ++k) {
      workers.emplace_back(input_.graph, input_.cluster, models, input_.sync.algorithm,
                           input_.dtypes);
    }
    std::vector<ChoiceCosts> costs(variable_.cuts->size());
    parallel_for(costs.size(), core_count(), [&](std::size_t i, unsigned worker) {
      costs[i] = costs_of(config_of((*variable_.cuts)[i]), workers[worker]);
    });
    return costs;
  }

 private:
  bool shares(LayerId layer) const {
    return std::find(variable_.layers.begin(), variable_.layers.end(), layer) !=
           variable_.layers.end();
  }

  void add_neighbours(LayerId layer) {
    const Graph& graph = input_.graph;
    for (std::size_t k = 0; k < graph[layer].inputs.size(); ++k) {
      const LayerId producer = graph[layer].inputs[k];
      if (!shares(producer)) neighbours_.push_back({layer, k, producer, true});
    }
    // A consumer that reads the layer twice stands twice.
    LayerId before;
    for (LayerId consumer : graph.consumers(layer)) {
      if (consumer == before || shares(consumer)) continue;
      before = consumer;
      for (std::size_t k = 0; k < graph[consumer].inputs.size(); ++k) {
        if (graph[consumer].inputs[k] == layer) {
          neighbours_.push_back({consumer, k, consumer, false});
        }
      }
    }
  }

  ChoiceCosts costs_of(const Config& config, Eq1& eq1) const {
    ChoiceCosts costs;
    costs.config = config;
    const Config follows{output_degrees(config.degrees), config.devices};
    for (LayerId layer : variable_.layers) {
      const Config& own = layer == variable_.leader ? config : follows;
      costs.compute += eq1.compute(layer, own);
      costs.sync += eq1.sync(layer, own);
      costs.transfer_out += eq1.partial_sums(layer, own);
    }
    for (const Neighbour& n : neighbours_) {
      const Config& other = strategy_[n.other];
      const Seconds time = n.comes_in ? eq1.transfer(n.consumer, n.input, other, config)
                                      : eq1.transfer(n.consumer, n.input, config, other);
      (n.comes_in ? costs.transfer_in : costs.transfer_out) += time;
      if (time <= costs.binding_transfer) continue;
      costs.binding = n.other;
      costs.binding_transfer = time;
    }
    return costs;
  }

  const Case& input_;
  const Strategy& strategy_;
  const SearchVariable& variable_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace

Explanation explain(const Case& input, const SearchOptions& options, const Strategy& strategy,
                    LayerId layer) {
  const SearchSpace space(input.graph, input.cluster, options);
  const std::uint32_t variable = *space.variable_of(layer);
  const CostTables tables = eq1_tables(input, space);
  const SolveResult found = strata::solve(tables, {}, 1);
  const std::vector<double> marginals =
      counterfactuals(tables, variable, found.best.front().choices);

  Explanation result;
  result.layers = space[variable].layers;
  result.choices = Explainer(input, space, strategy, variable).choices();
  result.optimum = Seconds{*std::min_element(marginals.begin(), marginals.end())};
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    result.choices[i].regret = Seconds{marginals[i]} - result.optimum;
    if (result.choices[i].config == strategy[layer]) result.chosen = i;
  }
  return result;
}

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
