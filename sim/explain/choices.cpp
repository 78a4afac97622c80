#include "sim/explain/choices.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/parallel.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/rounds.h"
#include "sim/search/score.h"
#include "sim/solver/solve.h"
#include "sim/timeline/critical_path.h"

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
  Explainer(const Case& input, const SearchSpace& space, const Strategy& strategy, LayerId asked)
      : input_(input),
        strategy_(strategy),
        counts_(count_actions(input.graph, kernels_of(input), strategy.segments())),
        space_(space),
        asked_(asked),
        variable_(space[*space.variable_of(asked)]) {
    for (LayerId layer : variable_.layers) add_neighbours(layer);
  }

  // Costs are remembered by whoever asks, so each worker asks its own Eq1.
  std::vector<ChoiceCosts> choices(const SolveLimits& limits) const {
    const std::vector<const CostModel*> models = cost_models(input_);
    std::deque<Eq1> workers;  // which cannot be moved
    for (unsigned k = 0; k < core_count(); ++k) {
      workers.emplace_back(input_.graph, input_.cluster, models, input_.sync.algorithm,
                           compute_settings(input_));
    }
    std::vector<ChoiceCosts> costs(variable_.cuts->size());
    parallel_for(costs.size(), core_count(), [&](std::size_t i, unsigned worker) {
      throw_if_cancelled(limits.cancelled);
      costs[i] = costs_of((*variable_.cuts)[i], workers[worker]);
    });
    return costs;
  }

 private:
  bool reads(LayerId layer, std::size_t input) const { return counts_[layer()].reads[input]; }

  bool shares(LayerId layer) const {
    return std::find(variable_.layers.begin(), variable_.layers.end(), layer) !=
           variable_.layers.end();
  }

  void add_neighbours(LayerId layer) {
    const Graph& graph = input_.graph;
    for (std::size_t k = 0; k < graph[layer].inputs.size(); ++k) {
      const LayerId producer = graph[layer].inputs[k];
      if (reads(layer, k) && !shares(producer)) neighbours_.push_back({layer, k, producer, true});
    }
    // A consumer that reads the layer twice stands twice.
    LayerId before;
    for (LayerId consumer : graph.consumers(layer)) {
      if (consumer == before || shares(consumer)) continue;
      before = consumer;
      for (std::size_t k = 0; k < graph[consumer].inputs.size(); ++k) {
        if (graph[consumer].inputs[k] == layer && reads(consumer, k)) {
          neighbours_.push_back({consumer, k, consumer, false});
        }
      }
    }
  }

  ChoiceCosts costs_of(const Cut& cut, Eq1& eq1) const {
    ChoiceCosts costs;
    const Config config = config_of(cut);
    costs.config = space_.config_of(asked_, cut, config);
    for (LayerId layer : variable_.layers) {
      const Config own = space_.config_of(layer, cut, config);
      costs.configs.push_back(own);
      costs.compute += eq1.compute(layer, own, counts_[layer()], input_.rounds);
      costs.sync += eq1.sync(layer, own, input_.rounds);
      costs.transfer_out +=
          rounds() * eq1.partial_sums(layer, own, counts_[layer()].spreads_gradient);
    }
    for (const Neighbour& n : neighbours_) {
      const Config& other = strategy_[n.other];
      const LayerId layer = n.comes_in ? n.consumer : input_.graph[n.consumer].inputs[n.input];
      const Config own = space_.config_of(layer, cut, config);
      const bool returns = counts_[n.consumer()].returns[n.input];
      const Seconds time =
          rounds() * (n.comes_in ? eq1.transfer(n.consumer, n.input, other, own, returns)
                                 : eq1.transfer(n.consumer, n.input, own, other, returns));
      (n.comes_in ? costs.transfer_in : costs.transfer_out) += time;
      if (time <= costs.binding_transfer) continue;
      costs.binding = n.other;
      costs.binding_transfer = time;
    }
    return costs;
  }

  double rounds() const { return input_.rounds; }

  const Case& input_;
  const Strategy& strategy_;
  const std::vector<LayerCounts> counts_;  // by layer
  const SearchSpace& space_;
  LayerId asked_;
  const SearchVariable& variable_;
  std::vector<Neighbour> neighbours_;
};

// The steps of so many choices of the least regret are simulated, fewer where each takes long:
// tasks that are lowered and simulated in all.
constexpr std::size_t kMostChoices = 128, kChoicesWork = 4'000'000;

// Nothing where it takes too long, or a link is too slow for the simulation's clock.
std::optional<Scored> simulated(const Case& input, const Strategy& strategy, CaseMemo& memo) try {
  if (!quick_to_simulate(input, strategy)) return std::nullopt;
  return score_simulated(input, strategy, &memo, true);
} catch (const InputError&) {
  return std::nullopt;
}

void simulate_choices(const Case& input, const Strategy& strategy, const SolveLimits& limits,
                      Explanation& explanation) {
  CaseMemo memo(input);
  const std::optional<Scored> own = simulated(input, strategy, memo);
  if (!own) return;
  explanation.step = own->step;
  explanation.work = own->work;
  std::vector<std::size_t> order(explanation.choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return explanation.choices[a].regret < explanation.choices[b].regret;
  });
  const std::size_t affordable = kChoicesWork / std::max<std::size_t>(own->work, 1);
  order.resize(std::min({order.size(), kMostChoices, affordable}));
  if (explanation.chosen) order.push_back(*explanation.chosen);
  parallel_for(order.size(), limits.threads, [&](std::size_t i, unsigned) {
    throw_if_cancelled(limits.cancelled);
    ChoiceCosts& choice = explanation.choices[order[i]];
    if (order[i] == explanation.chosen && i + 1 < order.size()) return;  // comes last, too
    const std::optional<Scored> with =
        simulated(input, with_choice(strategy, explanation, order[i]), memo);
    if (!with) return;
    choice.step = with->step;
    choice.fits = with->fits;
    choice.peak_memory = with->peak_memory;
  });
}

// What the layers receive, send and sum, in this order.
std::vector<Exposure> exposures_of(const Case& input, const Strategy& strategy,
                                   const std::vector<LayerId>& layers) {
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  options.all_rounds = true;
  options.critical_path = options.memory = options.eq1 = false;
  const Prediction p = predict(input, strategy, options);
  const auto path = critical_path(p.plan, p.timeline);
  const auto among = [&](LayerId layer) {
    return std::find(layers.begin(), layers.end(), layer) != layers.end();
  };
  std::vector<Exposure> in, out, sums;
  for (const Exposure& part : exposures(input.graph, p.plan, p.timeline, path).parts) {
    if (!part.producer.valid()) {
      if (among(part.layer)) sums.push_back(part);
    } else if (among(part.layer)) {
      in.push_back(part);
    } else if (among(part.producer)) {
      out.push_back(part);
    }
  }
  in.insert(in.end(), out.begin(), out.end());
  in.insert(in.end(), sums.begin(), sums.end());
  return in;
}

}  // namespace

std::optional<std::size_t> Explanation::best_other() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i == chosen || choices[i].step <= Seconds{} || !choices[i].fits) continue;
    if (!best || choices[i].step < choices[*best].step) best = i;
  }
  return best;
}

Strategy with_choice(const Strategy& strategy, const Explanation& explanation, std::size_t choice) {
  std::vector<Config> configs(strategy.configs().begin(), strategy.configs().end());
  for (std::size_t i = 0; i < explanation.layers.size(); ++i) {
    configs[explanation.layers[i]()] = explanation.choices[choice].configs[i];
  }
  return Strategy(strategy.name(), std::move(configs)).with(strategy.segments());
}

namespace {

// Of the choices that cut the layer as the strategy does, the one that cuts most of the others that
// go with it likewise: layers that share a weight may differ in what one of them shows alone.
std::optional<std::size_t> chosen_of(const SearchSpace& space, std::uint32_t variable,
                                     const Strategy& strategy, LayerId layer) {
  const Cuts& cuts = *space[variable].cuts;
  std::optional<std::size_t> chosen;
  std::size_t most = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Config leader = config_of(cuts[i]);
    const auto is_cut_so = [&](LayerId l) {
      return space.config_of(l, cuts[i], leader) == strategy[l];
    };
    if (!is_cut_so(layer)) continue;
    const auto& layers = space[variable].layers;
    const auto alike =
        static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), is_cut_so));
    if (alike > most) chosen = i, most = alike;
  }
  return chosen;
}

}  // namespace

Explanation explain(const Case& whole, const SearchOptions& options, const Strategy& asked,
                    LayerId layer, const SolveLimits& limits) {
  const Case input = in_rounds(whole, asked);
  const Strategy strategy = with_recomputation(input, asked);
  const SearchSpace space(input.graph, input.cluster, options);
  const std::uint32_t variable = *space.variable_of(layer);
  const CostTables tables = eq1_tables(input, space, {limits.threads, limits.cancelled});
  const SolveResult found = strata::solve(tables, {}, 1);
  const std::vector<double> marginals =
      counterfactuals(tables, variable, found.best.front().choices, limits);
  throw_if_cancelled(limits.cancelled);

  Explanation result;
  result.layers = space[variable].layers;
  result.choices = Explainer(input, space, strategy, layer).choices(limits);
  result.optimum = Seconds{*std::min_element(marginals.begin(), marginals.end())};
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    result.choices[i].regret = Seconds{marginals[i]} - result.optimum;
  }
  result.chosen = chosen_of(space, variable, strategy, layer);
  simulate_choices(input, strategy, limits, result);
  if (result.step > Seconds{}) result.exposures = exposures_of(input, strategy, result.layers);
  return result;
}

}  // namespace strata
