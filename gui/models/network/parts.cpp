#include "gui/models/network/parts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace strata::gui {
namespace {

// So many parts at once are a picture; more are a wall.
constexpr std::size_t kFew = 60;

bool follows(const Graph& graph, LayerId layer) {
  const Layer& it = graph[layer];
  return follows_producer(it.op) && it.inputs.size() == 1 && !is_input(graph[it.inputs.front()].op);
}

// Layers of one unit: each but the first reads the one before it, alone.
std::vector<std::vector<LayerId>> units_of(const Graph& graph, const std::vector<LayerId>& layers) {
  std::vector<std::vector<LayerId>> units;
  std::map<LayerId, std::size_t> unit_of;
  for (const LayerId layer : layers) {
    const auto producer =
        follows(graph, layer) ? unit_of.find(graph[layer].inputs.front()) : unit_of.end();
    const bool joins = producer != unit_of.end() && graph.consumers(producer->first).size() == 1 &&
                       units[producer->second].back() == producer->first;
    if (!joins) units.emplace_back();
    const std::size_t unit = joins ? producer->second : units.size() - 1;
    units[unit].push_back(layer);
    unit_of[layer] = unit;
  }
  return units;
}

std::string common_prefix(const Graph& graph, const std::vector<LayerId>& layers) {
  std::string prefix = graph[layers.front()].name;
  for (const LayerId layer : layers) {
    const std::string& name = graph[layer].name;
    const auto ends = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(ends.first, prefix.end());
  }
  return prefix;
}

// "layer1_0" of layer1_0_conv1, layer1_0_add, ...; where names say nothing, the layer that joins.
std::string block_name(const Graph& graph, const std::vector<LayerId>& layers) {
  std::string prefix = common_prefix(graph, layers);
  const std::string& last = graph[layers.back()].name;
  if (prefix == last) return last;
  const std::size_t cut = prefix.find_last_of("_./");
  return cut == std::string::npos || cut == 0 ? last : prefix.substr(0, cut);
}

}  // namespace

// An edge that passes over a layer is a path around it. Beside the network's own, edges go from
// the front to every input and from every layer that nobody reads to the end.
std::vector<LayerId> unavoidable(const Graph& graph) {
  std::vector<LayerId> found;
  std::size_t reach = 0;  // of the edges from layers before this one
  bool dangles = false;   // one of them is read by nobody
  std::size_t last_input = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph[LayerId(i)].inputs.empty()) last_input = i;
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (reach <= i && i >= last_input && !dangles) found.emplace_back(i);
    const auto readers = graph.consumers(LayerId(i));
    for (const LayerId reader : readers) reach = std::max(reach, reader());
    dangles = dangles || readers.empty();
  }
  return found;
}

Parts::Parts(const Graph& graph) {
  std::vector<std::vector<LayerId>> stretches;
  std::vector<LayerId> layers;
  std::vector<LayerId> cuts = unavoidable(graph);
  for (std::size_t i = 0, next = 0; i < graph.size(); ++i) {
    layers.emplace_back(i);
    const bool ends = next < cuts.size() && cuts[next]() == i;
    if (ends) ++next;
    if (!ends && i + 1 < graph.size()) continue;
    // What follows element-wise what the stretch before ends with belongs to it.
    const bool more = layers.size() == 1 && !stretches.empty() && follows(graph, layers.front());
    if (more) stretches.back().push_back(layers.front());
    if (!more) stretches.push_back(layers);
    layers.clear();
  }
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const std::vector<LayerId>& stretch = stretches[s];
    const bool block = units_of(graph, stretch).size() > 1;
    if (!block) {
      add_units(graph, stretch, std::nullopt, s);
      continue;
    }
    const std::size_t part = add(PartKind::block, stretch, std::nullopt, s, graph);
    add_units(graph, stretch, part, s);
  }
}

std::size_t Parts::add(PartKind kind, std::vector<LayerId> layers,
                       std::optional<std::size_t> parent, std::size_t stretch, const Graph& graph) {
  const std::size_t number = parts_.size();
  const std::string name =
      kind == PartKind::block ? block_name(graph, layers) : graph[layers.front()].name;
  parts_.push_back({kind, name, std::move(layers), parent, {}, stretch});
  if (parent) {
    parts_[*parent].children.push_back(number);
  } else {
    roots_.push_back(number);
  }
  return number;
}

void Parts::add_units(const Graph& graph, const std::vector<LayerId>& layers,
                      std::optional<std::size_t> parent, std::size_t stretch) {
  for (const std::vector<LayerId>& unit : units_of(graph, layers)) {
    if (unit.size() == 1) {
      add(PartKind::layer, unit, parent, stretch, graph);
      continue;
    }
    const std::size_t part = add(PartKind::unit, unit, parent, stretch, graph);
    for (const LayerId layer : unit) add(PartKind::layer, {layer}, part, stretch, graph);
  }
}

std::vector<std::size_t> Parts::visible(const OpenParts& open) const {
  std::vector<std::size_t> result;
  std::vector<std::size_t> left(roots_.rbegin(), roots_.rend());
  while (!left.empty()) {
    const std::size_t part = left.back();
    left.pop_back();
    const std::vector<std::size_t>& children = parts_[part].children;
    if (children.empty() || !open.contains(part)) {
      result.push_back(part);
    } else {
      left.insert(left.end(), children.rbegin(), children.rend());
    }
  }
  return result;
}

OpenParts Parts::of_kind(PartKind kind) const {
  OpenParts open;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind == kind) open.insert(i);
  }
  return open;
}

OpenParts Parts::all_open() const {
  OpenParts open = of_kind(PartKind::block);
  open.merge(of_kind(PartKind::unit));
  return open;
}

OpenParts Parts::usual() const {
  return visible(blocks_open()).size() <= kFew ? blocks_open() : blocks_shut();
}

OpenParts Parts::showing(LayerId layer, OpenParts open) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const bool holds = std::binary_search(part.layers.begin(), part.layers.end(), layer);
    if (holds && !part.children.empty()) open.insert(i);
  }
  return open;
}

}  // namespace strata::gui
