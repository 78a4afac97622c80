#include "sim/graph/graph.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ceil_div.h"
#include "sim/base/error.h"
#include "sim/graph/op.h"
#include "sim/graph/ops/limits.h"

namespace strata {
namespace {

std::vector<Extents> input_extents(std::span<const Layer> layers, std::span<const LayerId> ids) {
  std::vector<Extents> extents;
  extents.reserve(ids.size());
  for (LayerId id : ids) extents.push_back(layers[id()].output);
  return extents;
}

/// Extents' product, or -1 above kMaxElements.
std::int64_t bounded_volume(const Extents& e) {
  std::int64_t v = 1;
  for (Dim dim : kDims) v = bounded_product(v, e[dim], kMaxElements);
  return v;
}

void check_name(const std::string& layer_name) {
  if (layer_name.empty()) throw InputError("a layer needs a name");
  const bool printable = std::none_of(layer_name.begin(), layer_name.end(), [](char ch) {
    return static_cast<unsigned char>(ch) < 0x20 || ch == 0x7f;
  });
  if (!printable) throw InputError("a layer's name must not hold control characters");
}

}  // namespace

LayerId Graph::find(std::string_view layer_name) const {
  const auto it = by_name_.find(layer_name);
  return it == by_name_.end() ? LayerId{} : it->second;
}

Graph Graph::with_batch(std::int64_t batch) const {
  if (batch > largest_batch_) {
    throw InputError(fmt::format("network {}: a batch of {} is too large; allowed: up to {}", name_,
                                 batch, largest_batch_));
  }
  GraphBuilder builder(name_, batch);
  std::vector<double> speeds;
  std::vector<ExpertRouting> routings;
  for (const Layer& layer : layers_) {
    const LayerId added = builder.add(layer.name, layer.op, layer.inputs);
    if (layer.frozen) builder.freeze(added, layer.format);
    builder.adapt(added, layer.adapts);
    speeds.push_back(layer.speed);
    routings.push_back(layer.routing);
  }
  return std::move(builder).build().with_speeds(speeds).with_routings(routings);
}

Graph Graph::with_speeds(std::span<const double> speeds) const {
  Graph result = *this;
  for (std::size_t i = 0; i < speeds.size(); ++i) result.layers_[i].speed = speeds[i];
  return result;
}

Graph Graph::with_routings(std::span<const ExpertRouting> routings) const {
  Graph result = *this;
  for (std::size_t i = 0; i < routings.size(); ++i) result.layers_[i].routing = routings[i];
  return result;
}

std::int64_t Graph::parameters() const {
  std::int64_t total = 0;
  for (const Layer& layer : layers_) total += layer.held().total();
  return total;
}

std::int64_t Graph::trained_parameters() const {
  std::int64_t total = 0;
  for (const Layer& layer : layers_) total += layer.frozen ? 0 : layer.held().total();
  return total;
}

Bytes held_bytes(const Layer& layer, std::int64_t values, DType dtype) {
  constexpr std::int64_t kOfScale = 64, kOfSecondScale = 256 * kOfScale;
  const auto each = [&](std::int64_t count) { return ceil_div(values, count); };
  switch (layer.format) {
    case WeightFormat::int8:
      return Bytes{values + 4 * each(std::max<std::int64_t>(1, layer.reduction))};
    case WeightFormat::nf4:
      return Bytes{each(2) + each(kOfScale) + 4 * each(kOfSecondScale)};
    case WeightFormat::plain:
      break;
  }
  return Bytes{values * element_bytes(dtype)};
}

namespace {

// Through which tokens came to the experts of a layer; null where it has none.
const Dispatch* dispatch_before(const Graph& graph, const Layer& layer) {
  const Layer* at = &layer;
  while (!std::holds_alternative<Dispatch>(at->op)) {
    if (at->inputs.empty()) return nullptr;
    at = &graph[at->inputs.front()];
  }
  return &std::get<Dispatch>(at->op);
}

}  // namespace

std::int64_t Graph::active_parameters() const {
  std::int64_t total = 0;
  for (const Layer& layer : layers_) {
    const std::int64_t held = layer.held().total();
    const bool of_experts = std::holds_alternative<ExpertLinear>(layer.op);
    const Dispatch* const dispatch = of_experts ? dispatch_before(*this, layer) : nullptr;
    total += dispatch == nullptr ? held : held / layer.output[Dim::d] * dispatch->top_k;
  }
  return total;
}

namespace {

// Which layers a loss depends on; all of them where the graph has no loss.
std::vector<bool> reaches_loss(const Graph& graph) {
  std::vector<bool> reaches(graph.size(), false);
  bool any = false;
  for (std::size_t i = graph.size(); i-- > 0;) {
    const bool loss = is_loss(graph.layers()[i].op);
    const auto consumers = graph.consumers(LayerId(i));
    any = any || loss;
    reaches[i] = loss || std::any_of(consumers.begin(), consumers.end(),
                                     [&](LayerId consumer) { return reaches[consumer()]; });
  }
  return any ? reaches : std::vector<bool>(graph.size(), true);
}

}  // namespace

std::vector<bool> requires_gradient(const Graph& graph) {
  const std::vector<bool> reaches = reaches_loss(graph);
  std::vector<bool> requires_it(graph.size(), false);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph.layers()[i];
    bool requires_one = layer.trains();
    for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
      requires_one = requires_one || (requires_it[layer.inputs[k]()] && has_gradient(layer.op, k));
    }
    requires_it[i] = reaches[i] && requires_one;
  }
  return requires_it;
}

std::int64_t macs(const Graph& graph, LayerId layer, const Tile& shard) {
  const Layer& it = graph[layer];
  const std::int64_t each = macs_per_output(it.op, input_extents(graph.layers(), it.inputs));
  return volume(shard) * (each / it.reduction) * terms_in(it, shard);
}

std::int64_t macs(const Graph& graph, LayerId layer) {
  return macs(graph, layer, whole(graph[layer].output));
}

GraphBuilder::GraphBuilder(std::string name, std::int64_t batch) {
  if (batch < 1 || batch > kMaxExtent) {
    throw InputError(fmt::format("batch {} is not in 1 ... {}", batch, kMaxExtent));
  }
  graph_.name_ = std::move(name);
  graph_.batch_ = batch;
}

void GraphBuilder::check_inputs(const std::vector<LayerId>& inputs) const {
  for (LayerId input : inputs) {
    if (!input.valid() || input() >= graph_.size()) {
      throw InputError("an input is not a layer that was added before");
    }
    const Layer& producer = graph_[input];
    if (is_loss(producer.op)) {
      throw InputError(fmt::format("reads {}, but a loss is the end of a network", producer.name));
    }
  }
}

namespace {

// The layer whose parameters the op's are, by name; empty where it has its own.
std::string_view weight_owner(const Op& op) {
  if (const auto* linear = std::get_if<Linear>(&op)) return linear->weight_of;
  if (const auto* embedding = std::get_if<Embedding>(&op)) return embedding->weight_of;
  if (const auto* attention = std::get_if<Attention>(&op)) return attention->bias_of;
  return {};
}

// Of an attention, those of as many heads and the same buckets.
bool has_same_biases(const Layer& owner, const Layer& layer, const Attention& op) {
  const auto* const of = std::get_if<Attention>(&owner.op);
  return of != nullptr && of->buckets == op.buckets && of->max_distance == op.max_distance &&
         of->causal == op.causal && owner.parameters == layer.parameters &&
         owner.units == layer.units;
}

}  // namespace

LayerId GraphBuilder::find_weight(std::string_view owner, const Op& op, const Layer& layer) const {
  const auto* const attention = std::get_if<Attention>(&op);
  const std::string_view key = attention != nullptr ? "bias_of" : "weight_of";
  const LayerId id = find(owner);
  if (!id.valid()) {
    throw InputError(fmt::format("{} names '{}', which is not a layer before it", key, owner));
  }
  const Layer& it = graph_[id];
  if (it.weight_of.valid()) {
    throw InputError(fmt::format("{} names {}, whose weight is that of {}; allowed: {}", key, owner,
                                 graph_[it.weight_of].name, graph_[it.weight_of].name));
  }
  if (attention != nullptr) {
    if (has_same_biases(it, layer, *attention)) return id;
    throw InputError(fmt::format(
        "bias_of names {}, which is no attention of {} heads of {} channels with the same buckets",
        owner, layer.units[Dim::c], layer.output[Dim::c] / layer.units[Dim::c]));
  }
  const bool embeds = std::holds_alternative<Embedding>(op);
  const std::int64_t numbers = embeds ? layer.reduction : layer.output[Dim::c];
  const std::int64_t features = embeds ? layer.output[Dim::c] : layer.reduction;
  if (!std::holds_alternative<Embedding>(it.op) || it.reduction != numbers ||
      it.output[Dim::c] != features) {
    throw InputError(
        fmt::format("weight_of names {}, which is no embedding of {} numbers with {} features",
                    owner, numbers, features));
  }
  return id;
}

Layer GraphBuilder::infer(std::string layer_name, Op op, std::vector<LayerId> inputs) const {
  const std::vector<Extents> extents = input_extents(graph_.layers_, inputs);
  Layer layer;
  layer.output = infer_output(op, extents);
  if (is_input(op)) layer.output[Dim::n] = graph_.batch_;
  layer.parameters = infer_parameters(op, extents);
  layer.reduction = reduction(op, extents, layer.output);
  layer.units = units(op, extents);
  const std::string_view owner = weight_owner(op);
  if (!owner.empty()) layer.weight_of = find_weight(owner, op, layer);
  layer.name = std::move(layer_name);
  layer.op = canonical(std::move(op));
  layer.inputs = std::move(inputs);
  return layer;
}

void GraphBuilder::count(const Layer& layer) {
  const std::int64_t outputs = bounded_volume(layer.output);
  const Parameters held = layer.held();
  const auto extents = input_extents(graph_.layers_, layer.inputs);
  std::int64_t elements =
      outputs >= 0 && held.weight >= 0 ? outputs + held.total() : kMaxElements + 1;
  for (const Extents& input : extents) {
    elements = std::min(elements + volume(input), kMaxElements + 1);
  }
  if (elements > kMaxElements - elements_) {
    throw InputError(
        fmt::format("the network makes, reads and holds more than {} activations and parameters",
                    kMaxElements));
  }
  const std::int64_t work = bounded_product(outputs, macs_per_output(layer.op, extents), kMaxMacs);
  if (work < 0 || work > kMaxMacs - macs_) {
    throw InputError(fmt::format("the network has more than {} multiply-accumulates", kMaxMacs));
  }
  elements_ += elements;
  parameters_ += held.total();
  macs_ += work;
}

// Of a layer, all but the parameters grows with the batch.
std::int64_t GraphBuilder::largest_batch() const {
  const std::int64_t activations = (elements_ - parameters_) / graph_.batch_;
  const std::int64_t work = std::max<std::int64_t>(1, macs_ / graph_.batch_);
  return std::min({kMaxExtent, (kMaxElements - parameters_) / activations, kMaxMacs / work});
}

void GraphBuilder::freeze(LayerId layer, WeightFormat format) {
  Layer& it = graph_.layers_[layer()];
  if (format != WeightFormat::plain && (!traits(it.op).casts || it.weight_of.valid())) {
    throw InputError(fmt::format(
        "layer {}: parameters of a {} are not kept in fewer bits; allowed: those of a linear layer",
        it.name, strata::name(it.op)));
  }
  it.frozen = true;
  it.format = format;
}

LayerId GraphBuilder::add(std::string layer_name, Op op, std::vector<LayerId> inputs) try {
  check_name(layer_name);
  if (graph_.by_name_.contains(layer_name)) throw InputError("its name is already taken");
  if (graph_.size() >= kMaxLayers) {
    throw InputError(fmt::format("more than {} layers", kMaxLayers));
  }
  check_inputs(inputs);
  Layer layer = infer(layer_name, std::move(op), std::move(inputs));
  count(layer);
  const LayerId id(graph_.size());
  for (LayerId input : layer.inputs) graph_.consumers_[input()].push_back(id);
  graph_.by_name_.emplace(layer.name, id);
  graph_.layers_.push_back(std::move(layer));
  graph_.consumers_.emplace_back();
  return id;
} catch (InputError& error) {
  error.add_context(fmt::format("layer {}", layer_name));
  throw;
}

Graph GraphBuilder::build() && {
  const bool has_input = std::any_of(graph_.layers_.begin(), graph_.layers_.end(),
                                     [](const Layer& layer) { return is_input(layer.op); });
  if (!has_input) throw InputError(fmt::format("network {}: it has no input layer", graph_.name_));
  graph_.largest_batch_ = largest_batch();
  graph_.needs_gradient_ = requires_gradient(graph_);
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const LayerId owner = graph_.layers_[i].weight_of;
    if (!owner.valid()) continue;
    const Layer& layer = graph_.layers_[i];
    if (layer.frozen != graph_[owner].frozen) {
      throw InputError(fmt::format(
          "network {}: one of layers {} and {}, which share a weight, is frozen; allowed: both",
          graph_.name_, layer.name, graph_[owner].name));
    }
    if (layer.frozen || !graph_.needs_gradient_[i] || graph_.needs_gradient_[owner()]) continue;
    throw InputError(
        fmt::format("network {}: layer {} trains the weight of {}, which no loss reads",
                    graph_.name_, graph_.layers_[i].name, graph_[owner].name));
  }
  return std::move(graph_);
}

}  // namespace strata
