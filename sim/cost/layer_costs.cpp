#include "sim/cost/layer_costs.h"

#include <algorithm>

#include "sim/base/ceil_div.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/regions.h"
#include "sim/plan/work_kind.h"

namespace strata {
namespace {

// Of a shard of a layer that is one product with others: what it has of that product's cost. A host
// launches the product where the first of its parts is computed. Where nothing is known of the
// product but of the layer, the layer's own cost stays.
void merge(const PartOfProduct& product, const CostModel& model, std::span<const Extents> inputs,
           const DTypes& types, Optimizer optimizer, PhaseCosts& costs) {
  const ShardWork work{&product.op, product.output, inputs, product.parameters, types, optimizer};
  for (int i = 0; i < kKernelPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    Cost& own = costs[static_cast<std::size_t>(i)];
    Cost merged = model.compute(work, phase);
    if (merged.source == CostSource::analytic && own.source != CostSource::analytic) continue;
    merged.seconds = product.share * merged.seconds;
    if (!(is_forward(phase) ? product.first : product.last)) merged.kernels = 0;
    own = merged;
  }
}

// Before these phases a pass reads and writes tensors, so many bytes together: an elementwise
// kernel of as many.
void add_pass(std::int64_t bytes, const ShardWork& work, const CostModel& model,
              PhaseCosts& costs) {
  const std::int64_t size = element_bytes(work.dtypes.values);
  const Op pass = Activation{ActivationKind::relu};
  const Extents elements = {{1, ceil_div(bytes, 2 * size), 1, 1, 1}};
  const Cost more =
      model.compute({&pass, elements, std::span(&elements, 1), {}, work.dtypes}, Phase::forward);
  for (const Phase phase : {Phase::forward, Phase::backward_data}) {
    Cost& cost = costs[static_cast<std::size_t>(phase)];
    cost.seconds = cost.seconds + more.seconds;
    cost.source = std::max(cost.source, more.source);
    cost.kernels += more.kernels;
  }
}

// Parameters in fewer bits become the products' type in a pass before each product: it reads them
// and writes what the product reads.
void add_unpacking(const Layer& layer, const ShardWork& work, const CostModel& model,
                   PhaseCosts& costs) {
  if (layer.format == WeightFormat::plain) return;
  const std::int64_t size = element_bytes(work.dtypes.values), held = work.parameters.total();
  add_pass(held_bytes(layer, held, work.dtypes.values).value + held * size, work, model, costs);
}

// Slots that an all-to-all exchanged lie by the device that sent them: a pass brings those of an
// expert together, and another back (Megatron-LM's sort_chunks_by_idxs). It is counted where tokens
// come from and return to, which have as many slots.
void add_sorting(const Layer& layer, const ShardWork& work, const CostModel& model,
                 PhaseCosts& costs) {
  if (layer.routing.dispatch != TokenDispatch::alltoall) return;
  const bool sends = std::holds_alternative<Dispatch>(layer.op);
  if (!sends && !std::holds_alternative<Combine>(layer.op)) return;
  const std::int64_t slots = volume(sends ? work.output : work.inputs.front());
  add_pass(2 * slots * element_bytes(work.dtypes.values), work, model, costs);
}

// A product for each expert, and in few bits a cast of what each reads.
void launch_each(const Layer& layer, const ShardWork& work, PhaseCosts& costs) {
  if (!layer.routing.product_each || !std::holds_alternative<ExpertLinear>(layer.op)) return;
  const bool casts = work.dtypes.values != stored(work.dtypes.values);
  const auto experts = static_cast<std::int32_t>(work.output[Dim::d]);
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    std::int32_t& kernels = costs[static_cast<std::size_t>(phase)].kernels;
    if (kernels > 0) kernels = experts * (casts && phase != Phase::backward_weights ? 2 : 1);
  }
}

// A layer with those that are one product with it, in order.
struct Costed {
  LayerId layer;
  std::span<const LayerId> product;
};

// Whether a loss reads the layer, through elementwise layers at most.
bool ends(const Graph& graph, LayerId layer) {
  return std::ranges::any_of(graph.consumers(layer), [&](LayerId consumer) {
    const Op& op = graph[consumer].op;
    return is_loss(op) || (is_elementwise(op) && ends(graph, consumer));
  });
}

}  // namespace

DTypes types_of(const Graph& graph, LayerId layer, DTypes types) {
  if (!traits(graph[layer].op).casts || ends(graph, layer)) types.values = stored(types.values);
  return types;
}

namespace {

// What a layer is but for its name, its neighbours and whose weight it shares.
bool alike(const Graph& graph, LayerId a, LayerId b) {
  const Layer &x = graph[a], &y = graph[b];
  return x.output == y.output && x.parameters == y.parameters && x.reduction == y.reduction &&
         x.units == y.units && x.format == y.format && ends(graph, a) == ends(graph, b) &&
         x.speed == y.speed && x.routing == y.routing &&
         x.weight_of.valid() == y.weight_of.valid() && x.op == y.op &&
         std::ranges::equal(x.inputs, y.inputs, [&](LayerId i, LayerId j) {
           return graph[i].output == graph[j].output;
         });
}

bool cost_the_same(const Graph& graph, const Costed& a, const Costed& b) {
  const auto same_place = [&](LayerId i, LayerId j) {
    return (i == a.layer) == (j == b.layer) && alike(graph, i, j);
  };
  return alike(graph, a.layer, b.layer) && std::ranges::equal(a.product, b.product, same_place);
}

std::vector<LayerId> first_equal_layers(const Graph& graph, const MergedProducts& products) {
  std::vector<LayerId> first;
  std::vector<Costed> distinct;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Costed own{LayerId(i), products.of(LayerId(i))};
    const auto same = std::ranges::find_if(
        distinct, [&](const Costed& known) { return cost_the_same(graph, known, own); });
    first.push_back(same != distinct.end() ? same->layer : own.layer);
    if (same == distinct.end()) distinct.push_back(own);
  }
  return first;
}

}  // namespace

PhaseCosts shard_costs(const Graph& graph, LayerId layer, std::span<const LayerId> product,
                       const Tile& shard, std::span<const Extents> inputs,
                       const ComputeSettings& settings, const CostModel& model) {
  const Layer& l = graph[layer];
  const DTypes types = types_of(graph, layer, settings.dtypes);
  const ShardWork work{&l.op, extents(shard),    inputs, shard_parameters(l, shard),
                       types, settings.optimizer};
  PhaseCosts costs;
  for (int phase = 0; phase < kKernelPhases; ++phase) {
    costs[static_cast<std::size_t>(phase)] = model.compute(work, static_cast<Phase>(phase));
  }
  if (!product.empty()) {
    merge(part_of_product(graph, product, layer, shard), model, inputs, types, settings.optimizer,
          costs);
  }
  launch_each(l, work, costs);  // of products alone: passes are launched once
  add_unpacking(l, work, model, costs);
  add_sorting(l, work, model, costs);
  costs[static_cast<std::size_t>(Phase::forward)].host_waits =
      l.routing.counts_on_host && std::holds_alternative<Dispatch>(l.op);
  // A layer's kernels are its passes'; the optimizer has kernels of its own.
  for (int phase = 0; phase < static_cast<int>(Phase::update); ++phase) {
    Cost& cost = costs[static_cast<std::size_t>(phase)];
    cost.seconds = cost.seconds / l.speed;
  }
  return costs;
}

LayerCosts::LayerCosts(const Graph& graph, const ComputeSettings& settings)
    : graph_(graph),
      settings_(settings),
      products_(merge_products(graph, settings.products)),
      first_equal_(first_equal_layers(graph, products_)),
      known_(graph.size()),
      of_shards_(graph.size()) {}

const PhaseCosts& LayerCosts::operator()(LayerId layer, const Tile& of, const CostModel& model) {
  const Layer& l = graph_[layer];
  const Tile shard = loaded(l, of);
  std::vector<Extents> inputs = input_extents(graph_, layer, of);
  if (shard[Dim::w] != of[Dim::w]) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool slots = !graph_[l.inputs[i]].routing.load.empty();
      if (slots) inputs[i][Dim::w] = shard[Dim::w].size();
    }
  }
  const Extents shape = extents(shard);
  const Parameters parameters = shard_parameters(l, shard);
  const std::lock_guard guard(lock_);
  auto& of_equal = known_[first_equal(layer)()];
  for (const auto& known : of_equal) {
    if (known->model == &model && known->output == shape && known->inputs == inputs &&
        known->parameters == parameters) {
      return known->costs;
    }
  }
  const PhaseCosts costs =
      shard_costs(graph_, layer, products_.of(layer), shard, inputs, settings_, model);
  of_equal.push_back(
      std::make_unique<const Known>(Known{&model, shape, std::move(inputs), parameters, costs}));
  return of_equal.back()->costs;
}

LayerCosts::OfShards::OfShards(LayerCosts& all, LayerId layer, const Config& config)
    : all_(all),
      layer_(layer),
      partition_(partition(all.graph_[layer], config.degrees)),
      known_(config.devices.size()) {}

const PhaseCosts& LayerCosts::OfShards::operator()(std::size_t shard, const CostModel& model) {
  if (const PhaseCosts* known = known_[shard].load(std::memory_order_acquire)) return *known;
  const PhaseCosts& costs = all_(layer_, partition_.tile(static_cast<std::int64_t>(shard)), model);
  known_[shard].store(&costs, std::memory_order_release);
  return costs;
}

LayerCosts::OfShards& LayerCosts::of_shards(LayerId layer, const Config& config) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<OfShards>& known = of_shards_[layer()][config];
  if (!known) known.reset(new OfShards(*this, layer, config));
  return *known;
}

}  // namespace strata
