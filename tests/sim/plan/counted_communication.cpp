#include "counted_communication.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "sim/graph/regions.h"
#include "sim/strategy/shared_weight.h"
#include "sim/strategy/stages.h"

namespace strata::testing {
namespace {

using Element = PerDim<std::int64_t>;

void for_elements(const Box& box, const std::function<void(const Element&)>& visit) {
  Element e;
  for (e[Dim::n] = box[Dim::n].begin; e[Dim::n] < box[Dim::n].end; ++e[Dim::n])
    for (e[Dim::c] = box[Dim::c].begin; e[Dim::c] < box[Dim::c].end; ++e[Dim::c])
      for (e[Dim::d] = box[Dim::d].begin; e[Dim::d] < box[Dim::d].end; ++e[Dim::d])
        for (e[Dim::h] = box[Dim::h].begin; e[Dim::h] < box[Dim::h].end; ++e[Dim::h])
          for (e[Dim::w] = box[Dim::w].begin; e[Dim::w] < box[Dim::w].end; ++e[Dim::w]) visit(e);
}

// The elements of one input that one output element reads, by the op's formula. Windows give a
// range per spatial dim; everything else is written out.
struct Reads {
  const Graph& graph;
  LayerId layer;
  std::size_t input;

  Box operator()(const Element& out) const {
    const Layer& l = graph[layer];
    const Extents& in = graph[l.inputs[input]].output;
    Box box;
    for (Dim dim : kDims) box[dim] = {out[dim], out[dim] + 1};
    if (const auto* conv = std::get_if<Convolution>(&l.op)) {
      windows(conv->windows, out, in, box);
      const std::int64_t per_group = l.output[Dim::c] / conv->groups;
      const std::int64_t group = out[Dim::c] / per_group, width = in[Dim::c] / conv->groups;
      box[Dim::c] = {group * width, (group + 1) * width};
    } else if (const auto* pool = std::get_if<Pooling>(&l.op)) {
      windows(pool->windows, out, in, box);
    } else if (std::holds_alternative<AdaptivePooling>(l.op)) {
      for (Dim dim : kSpatialDims) {
        const std::int64_t s = in[dim], o = l.output[dim];
        box[dim] = {out[dim] * s / o, ((out[dim] + 1) * s + o - 1) / o};
      }
    } else if (std::holds_alternative<Multiply>(l.op)) {
      for (Dim dim : kSpatialDims) {
        if (in[dim] == 1) box[dim] = {0, 1};  // a gate's
      }
      if (in[Dim::c] == 1) box[Dim::c] = {0, 1};
    } else if (std::holds_alternative<FullyConnected>(l.op)) {
      for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) box[dim] = {0, in[dim]};
    } else if (std::holds_alternative<Linear>(l.op) || std::holds_alternative<Router>(l.op) ||
               std::holds_alternative<ExpertLinear>(l.op)) {
      box[Dim::c] = {0, in[Dim::c]};
    } else if (const auto* dispatch = std::get_if<Dispatch>(&l.op)) {
      group(dispatch->groups, out, in, box);
    } else if (const auto* combine = std::get_if<Combine>(&l.op)) {
      group(combine->groups, out, in, box);
    } else if (std::holds_alternative<Embedding>(l.op)) {
      box[Dim::c] = {0, 1};
    } else if (const auto* attention = std::get_if<Attention>(&l.op)) {
      const std::int64_t own = attention->head_size - attention->shared_size;
      const std::int64_t of_values =
          attention->value_size > 0 ? attention->value_size : attention->head_size;
      const std::int64_t sizes[] = {attention->head_size, own, of_values, attention->shared_size};
      const std::int64_t size = sizes[input], head = out[Dim::c] / of_values;
      const std::int64_t group = l.output[Dim::c] / of_values / (in[Dim::c] / size);
      const std::int64_t read = input == 3 ? 0 : head / group * size;
      box[Dim::c] = {read, read + size};
      if (input > 0) box[Dim::w] = {0, attention->causal ? out[Dim::w] + 1 : in[Dim::w]};
      if (input > 0 && attention->window > 0) {
        box[Dim::w].begin = std::max<std::int64_t>(0, out[Dim::w] + 1 - attention->window);
      }
    } else if (std::holds_alternative<Tokens>(l.op)) {
      for (Dim dim : kSpatialDims) box[dim] = {0, in[dim]};
    } else if (std::holds_alternative<ClassToken>(l.op)) {
      box[Dim::w] = {out[Dim::w] - 1, out[Dim::w] == 0 ? -1 : out[Dim::w]};
    } else if (const auto* select = std::get_if<SelectToken>(&l.op)) {
      box[Dim::w] = {select->position, select->position + 1};
    } else if (const auto* lrn = std::get_if<LocalResponseNorm>(&l.op)) {
      box[Dim::c] = {std::max<std::int64_t>(0, out[Dim::c] - (lrn->size - 1) / 2),
                     std::min(in[Dim::c], out[Dim::c] + lrn->size / 2 + 1)};
    } else if (std::holds_alternative<Concat>(l.op)) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < input; ++i) offset += graph[l.inputs[i]].output[Dim::c];
      const std::int64_t c = out[Dim::c] - offset;
      box[Dim::c] = c >= 0 && c < in[Dim::c] ? Interval{c, c + 1} : Interval{0, 0};
    } else if (std::holds_alternative<Flatten>(l.op)) {
      std::int64_t rest = out[Dim::c];
      for (Dim dim : {Dim::w, Dim::h, Dim::d, Dim::c}) {
        box[dim] = {rest % in[dim], rest % in[dim] + 1};
        rest /= in[dim];
      }
    }
    return box;
  }

  // All experts, and all tokens or slots of the element's group.
  void group(std::int64_t groups, const Element& out, const Extents& in, Box& box) const {
    const std::int64_t each = in[Dim::w] / groups;
    const std::int64_t own = out[Dim::w] / (graph[layer].output[Dim::w] / groups);
    box[Dim::d] = {0, in[Dim::d]};
    box[Dim::w] = {own * each, (own + 1) * each};
    if (input > 0) box[Dim::c] = {0, in[Dim::c]};
  }

  static void windows(const Windows& windows, const Element& out, const Extents& in, Box& box) {
    for (Dim dim : kSpatialDims) {
      const Window& w = windows[dim];
      Interval& hull = box[dim] = {0, 0};
      for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
        const std::int64_t at = out[dim] * w.stride - w.pad_begin + tap * w.dilation;
        if (at < 0 || at >= in[dim]) continue;
        hull = hull.empty() ? Interval{at, at + 1} : Interval{hull.begin, at + 1};
      }
    }
  }
};

bool slides(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Pooling>(op);
}

// What a shard reads: the union over its elements; of a window, the hull in each dim. Of its sums'
// terms, those that it adds up.
std::set<Element> read_elements(const Reads& reads, const Tile& shard) {
  std::set<Element> elements;
  Box hull;
  bool first = true;
  for_elements(shard, [&](const Element& out) {
    Box box = reads(out);
    const Layer& layer = reads.graph[reads.layer];
    if (layer.reduction > 1 && !std::holds_alternative<Embedding>(layer.op)) {
      box[Dim::c] = intersect(box[Dim::c], shard.terms);
    }
    if (empty(box)) return;
    if (!slides(reads.graph[reads.layer].op)) {
      for_elements(box, [&](const Element& e) { elements.insert(e); });
      return;
    }
    for (Dim dim : kDims) {
      hull[dim].begin = first ? box[dim].begin : std::min(hull[dim].begin, box[dim].begin);
      hull[dim].end = first ? box[dim].end : std::max(hull[dim].end, box[dim].end);
    }
    first = false;
  });
  if (!first) for_elements(hull, [&](const Element& e) { elements.insert(e); });
  return elements;
}

bool holds(const Box& box, const Element& e) {
  bool inside = true;
  for (Dim dim : kDims) inside = inside && box[dim].begin <= e[dim] && e[dim] < box[dim].end;
  return inside;
}

// Whether the device has the element: a copy has what it computes.
bool has(const Layer& layer, const Config& config, DeviceId device, const Element& e) {
  const Partition cut = partition(layer, config.degrees);
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    if (config.devices[shard] != device) continue;
    const auto number = static_cast<std::int64_t>(shard);
    if (holds(cut.repeats() ? cut.tile(number) : cut.box(number), e)) return true;
  }
  return false;
}

DeviceId owner_of_gradient(const Layer& layer, const Config& config, const Element& e) {
  const Partition cut = partition(layer, config.degrees);
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    if (holds(cut.box(shard), e)) return config.devices[static_cast<std::size_t>(shard)];
  }
  return {};
}

// What is cut in r and read by copies of the same cut alone, each by that on its device.
bool stays_on_devices(const Graph& graph, const Strategy& strategy, LayerId layer) {
  if (strategy[layer].degrees.r == 1) return false;
  for (LayerId reader : graph.consumers(layer)) {
    if (!partition(graph[reader], strategy[reader].degrees).repeats() ||
        strategy[reader] != strategy[layer]) {
      return false;
    }
    for (std::size_t input = 0; input < graph[reader].inputs.size(); ++input) {
      if (graph[reader].inputs[input] != layer) continue;
      const Partition cut = partition(graph[reader], strategy[reader].degrees);
      const Partition read = partition(graph[layer], strategy[layer].degrees);
      for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
        for (const Element& e : read_elements({graph, reader, input}, cut.tile(shard))) {
          if (!holds(read.tile(shard), e)) return false;
        }
      }
    }
  }
  return true;
}

// Of every output element each device that adds up some of its terms but does not own it; of copies
// those that get its gradient.
std::int64_t count_partial_sums(const Layer& layer, const Config& config) {
  if (config.degrees.r == 1) return 0;
  const Partition cut = partition(layer, config.degrees);
  std::int64_t elements = 0;
  for_elements(whole(layer.output), [&](const Element& e) {
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      elements += holds(cut.tile(shard), e) && !holds(cut.box(shard), e);
    }
  });
  return elements;
}

// The layers that read it, or its norm.
std::set<LayerId> readers_of(const Graph& graph, LayerId layer) {
  std::set<LayerId> readers;
  for (LayerId reader : graph.consumers(layer)) {
    readers.insert(reader);
    if (!std::holds_alternative<RmsNorm>(graph[reader].op)) continue;
    for (LayerId beyond : graph.consumers(reader)) readers.insert(beyond);
  }
  return readers;
}

// The product that it adapts, or itself.
LayerId adapted_product(const Graph& graph, LayerId layer) {
  return graph[layer].adapts.valid() ? graph[layer].adapts : layer;
}

// The layers that read a product, or what its adapter adds to it.
std::set<LayerId> readers_of_product(const Graph& graph, LayerId product) {
  std::set<LayerId> readers = readers_of(graph, product);
  for (LayerId reader : graph.consumers(product)) {
    if (graph[reader].adapts == product) readers.merge(readers_of(graph, reader));
  }
  return readers;
}

// A product of what another product that is cut alike has read. An adapter's goes with the one it
// adapts.
bool reads_with_another(const Graph& graph, const Strategy& strategy, LayerId layer) {
  if (!traits(graph[layer].op).shares_reading) return false;
  const std::vector<bool> trains = requires_gradient(graph);
  for (std::size_t i = 0; i < layer(); ++i) {
    const Layer& before = graph.layers()[i];
    const bool alike = before.op.index() == graph[layer].op.index();
    if (!alike || before.inputs != graph[layer].inputs) continue;
    if (before.weight_of.valid() || graph[layer].weight_of.valid()) continue;
    if (trains[i] != trains[layer()]) continue;
    const LayerId own = adapted_product(graph, layer), other = adapted_product(graph, LayerId(i));
    const std::set<LayerId> readers = readers_of_product(graph, own);
    const std::set<LayerId> others = readers_of_product(graph, other);
    const bool meet =
        own == other || std::any_of(readers.begin(), readers.end(),
                                    [&](LayerId reader) { return others.contains(reader); });
    if (meet) return strategy[LayerId(i)] == strategy[layer];
  }
  return false;
}

// A layer that reads of another stage what one before it in its chunk reads, shard by shard.
bool reads_across_stages_with_another(const Graph& graph, const Strategy& strategy,
                                      const Stages& stages, LayerId layer, std::size_t input) {
  const LayerId producer = graph[layer].inputs[input];
  if (stages.stages() == 1 || stages.chunk_of(producer).stage == stages.chunk_of(layer).stage) {
    return false;
  }
  const auto flattens = [&](LayerId reader) {
    return std::holds_alternative<Flatten>(graph[reader].op);
  };
  const Partition cut = partition(graph[layer], strategy[layer].degrees);
  const auto alike = [&](LayerId other, std::size_t other_input) {
    const Partition other_cut = partition(graph[other], strategy[other].degrees);
    if (strategy[other] != strategy[layer] || cut.repeats() != other_cut.repeats()) return false;
    for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
      if (read_elements({graph, layer, input}, cut.tile(shard)) !=
          read_elements({graph, other, other_input}, other_cut.tile(shard))) {
        return false;
      }
    }
    return true;
  };
  for (LayerId other : graph.consumers(producer)) {
    if (layer < other || flattens(layer)) break;
    if (flattens(other)) continue;
    const bool together = stages.chunk_of_layer[other()] == stages.chunk_of_layer[layer()] &&
                          graph.needs_gradient(other) == graph.needs_gradient(layer);
    const std::size_t before = other == layer ? input : graph[other].inputs.size();
    for (std::size_t k = 0; together && k < before; ++k) {
      if (graph[other].inputs[k] == producer && alike(other, k)) return true;
    }
  }
  return false;
}

// The gradients of what a layer's shards read: of copies one gives each element back.
std::int64_t count_returned(const Graph& graph, const Strategy& strategy, LayerId layer,
                            std::size_t input) {
  const LayerId producer = graph[layer].inputs[input];
  const Partition cut = partition(graph[layer], strategy[layer].degrees);
  if (stays_on_devices(graph, strategy, producer)) return 0;
  std::int64_t elements = 0;
  std::map<Box, std::set<DeviceId>> copies;  // by what they compute
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    copies[cut.repeats() ? Box(cut.tile(shard)) : cut.box(shard)].insert(
        strategy[layer].devices[static_cast<std::size_t>(shard)]);
  }
  std::set<Box> counted;
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    const Box computed = cut.repeats() ? Box(cut.tile(shard)) : cut.box(shard);
    if (cut.repeats() && !counted.insert(computed).second) continue;
    for (const Element& e : read_elements({graph, layer, input}, cut.tile(shard))) {
      const DeviceId owner = owner_of_gradient(graph[producer], strategy[producer], e);
      const DeviceId own = strategy[layer].devices[static_cast<std::size_t>(shard)];
      elements += cut.repeats() ? !copies[computed].contains(owner) : own != owner;
    }
  }
  return elements;
}

bool contains(Interval interval, std::int64_t i) {
  return interval.begin <= i && i < interval.end;
}

// Where a row of a layer's parameters stands: in the dims that these carry, and in the terms.
struct ParameterRow {
  Element at{};
  std::int64_t term = 0;
};

std::vector<ParameterRow> parameter_rows(const Layer& layer) {
  Box box;
  for (Dim dim : kDims) box[dim] = {0, layer.parameters.loops[dim] ? layer.output[dim] : 1};
  std::vector<ParameterRow> rows;
  for_elements(box, [&](const Element& at) {
    if (at[Dim::c] % layer.parameters.channels_a_row != 0) return;  // a head's first has its row
    for (std::int64_t term = 0; term < layer.reduction; ++term) rows.push_back({at, term});
  });
  return rows;
}

// Of how many shards such a row is.
std::int64_t holders_of(const Layer& layer, const Config& config, const ParameterRow& row) {
  const Partition cut = partition(layer, config.degrees);
  std::int64_t holders = 0;
  for (std::int64_t shard = 0; shard < cut.shard_count(); ++shard) {
    const Tile tile = cut.tile(shard);
    bool holds_it = contains(tile.terms, row.term);
    for (Dim dim : kDims) {
      holds_it = holds_it && (!layer.parameters.loops[dim] || contains(tile[dim], row.at[dim]));
    }
    holders += holds_it;
  }
  return holders;
}

// The same of a layer that shares the weight: of a product, its terms are the owner's channels.
ParameterRow row_of_copy(const Layer& layer, const ParameterRow& row) {
  if (!std::holds_alternative<Linear>(layer.op)) return row;
  ParameterRow result;
  result.at[Dim::c] = row.term;
  result.term = row.at[Dim::c];
  return result;
}

}  // namespace

std::int64_t count_transfers(const Graph& graph, const Strategy& strategy) {
  std::int64_t elements = 0;
  const std::vector<bool> trains = requires_gradient(graph);
  const Stages stages = stages_of(graph, strategy);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (is_input(graph[layer].op)) continue;
    const std::int64_t parts = count_partial_sums(graph[layer], strategy[layer]);
    const bool copied = partition(graph[layer], strategy[layer].degrees).repeats();
    if (!copied) elements += parts;
    const bool spreads =
        !graph.consumers(layer).empty() && !stays_on_devices(graph, strategy, layer);
    if (trains[i] && spreads) elements += parts;
    for (std::size_t input = 0; input < graph[layer].inputs.size(); ++input) {
      const LayerId producer = graph[layer].inputs[input];
      if (is_input(graph[producer].op)) continue;
      // A tensor added to itself, or its square, is one region of one consumer.
      const Op& op = graph[layer].op;
      const bool joins = std::holds_alternative<Add>(op) || std::holds_alternative<Multiply>(op);
      const bool again = joins && input > 0 && graph[layer].inputs[0] == producer;
      if (again || reads_with_another(graph, strategy, layer)) continue;
      if (reads_across_stages_with_another(graph, strategy, stages, layer, input)) continue;
      const Partition outputs = partition(graph[layer], strategy[layer].degrees);
      for (std::int64_t shard = 0; shard < outputs.shard_count(); ++shard) {
        const DeviceId reader = strategy[layer].devices[static_cast<std::size_t>(shard)];
        for (const Element& e : read_elements({graph, layer, input}, outputs.tile(shard))) {
          elements += !has(graph[producer], strategy[producer], reader, e);
        }
      }
      if (trains[i] && trains[producer()] && has_gradient(op, input)) {
        elements += count_returned(graph, strategy, layer, input);
      }
    }
  }
  return elements;
}

std::int64_t count_sync(const Graph& graph, const Strategy& strategy) {
  std::int64_t elements = 0;
  const std::vector<bool> trains = requires_gradient(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    if (layer.held().total() == 0 || layer.frozen || !trains[i]) continue;
    const Partition cut = partition(layer, strategy[LayerId(i)].degrees);
    const std::int64_t copies = cut.repeats() ? strategy[LayerId(i)].degrees.r : 1;
    const std::vector<ParameterRow> rows = parameter_rows(layer);
    const auto of_weight = static_cast<std::int64_t>(rows.size());
    for (const ParameterRow& row : rows) {
      std::int64_t replicas = holders_of(layer, strategy[LayerId(i)], row);
      // Copies have the same gradients: each is summed with those of other shards alone.
      for (LayerId copy : weight_copies(graph, LayerId(i), strategy.configs())) {
        replicas += holders_of(graph[copy], strategy[copy], row_of_copy(graph[copy], row));
      }
      const std::int64_t bias =
          row.term == 0 ? layer.parameters.bias * layer.reduction / of_weight : 0;
      elements += 2 * (replicas - copies) * (layer.parameters.weight / of_weight + bias);
    }
  }
  return elements;
}

}  // namespace strata::testing
