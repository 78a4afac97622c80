#include "gui/models/network/parts.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <variant>

#include "sim/graph/blocks.h"

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

std::vector<LayerId> joined(std::span<const std::vector<LayerId>> stretches) {
  std::vector<LayerId> layers;
  for (const std::vector<LayerId>& stretch : stretches) {
    layers.insert(layers.end(), stretch.begin(), stretch.end());
  }
  return layers;
}

std::vector<LayerId> repetition(std::vector<LayerId> layers, std::size_t later) {
  for (LayerId& layer : layers) layer = LayerId(layer() + later);
  return layers;
}

// "block*_query" of block2_query and block12_query.
std::string common_name(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (a == b) return a;
  auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first.base();
  while (front != a.begin() && is_digit(front[-1])) --front;
  while (back != a.end() && is_digit(*back)) ++back;
  return std::string(a.begin(), front) + "*" + std::string(std::max(front, back), a.end());
}

// A block may begin at any of its stretches: where it begins so that its layers' names have most in
// common.
Repeat with_best_names(const Graph& graph, std::span<const std::vector<LayerId>> stretches,
                       const std::vector<std::size_t>& keys, const Repeat& repeat) {
  Repeat best = repeat;
  std::size_t most = 0;
  for (Repeat at = repeat; at.first < repeat.first + repeat.length; ++at.first) {
    if (at.first > repeat.first &&
        (at.end() > keys.size() || keys[at.end() - 1] != keys[at.end() - 1 - at.length])) {
      break;
    }
    const std::vector<LayerId> second = joined(stretches.subspan(at.first + at.length, at.length));
    const std::size_t shared = common_prefix(graph, second).size();
    if (shared <= most) continue;
    most = shared;
    best = at;
  }
  return best;
}

std::vector<Repeat> repeated_stretches(const Graph& graph,
                                       std::span<const std::vector<LayerId>> stretches) {
  const std::vector<std::size_t> alike = alike_layers(graph);
  std::map<std::vector<std::size_t>, std::size_t> numbers;
  std::vector<std::size_t> keys;
  keys.reserve(stretches.size());
  for (const std::vector<LayerId>& stretch : stretches) {
    std::vector<std::size_t> layers;
    layers.reserve(stretch.size());
    for (const LayerId layer : stretch) layers.push_back(alike[layer()]);
    keys.push_back(numbers.try_emplace(std::move(layers), numbers.size()).first->second);
  }
  std::vector<Repeat> repeats;
  for (const Repeat& repeat : find_repeats(keys, kLeastTimes)) {
    if (joined(stretches.subspan(repeat.first, repeat.length)).size() < kLeastLayers) {
      continue;
    }
    if (!repeats.empty() && repeat.first < repeats.back().end()) continue;
    repeats.push_back(with_best_names(graph, stretches, keys, repeat));
  }
  return repeats;
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

std::string shown_name(const Part& part) {
  return part.times == 1 ? part.name : part.name + " ×" + std::to_string(part.times);
}

Parts::Parts(const Graph& graph, bool folds) {
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
  const std::vector<Repeat> repeats =
      folds ? repeated_stretches(graph, stretches) : std::vector<Repeat>{};
  auto repeat = repeats.begin();
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const bool folds_here = repeat != repeats.end() && repeat->first == s;
    const std::size_t length = folds_here ? repeat->length : 1;
    Place place{s};
    if (folds_here) place.times = repeat->times;
    add_block(graph, std::span(stretches).subspan(s, length), place);
    if (folds_here) s = repeat++->end() - 1;
  }
}

void Parts::add_block(const Graph& graph, std::span<const std::vector<LayerId>> stretches,
                      Place place) {
  const std::vector<LayerId> layers = joined(stretches);
  place.period = layers.size();
  if (units_of(graph, layers).size() > 1) {
    place.parent = add(PartKind::block, layers, place, graph);
  }
  for (const std::vector<LayerId>& stretch : stretches) {
    add_units(graph, stretch, place);
    ++place.stretch;
  }
}

std::size_t Parts::add(PartKind kind, const std::vector<LayerId>& layers, const Place& place,
                       const Graph& graph) {
  const std::size_t number = parts_.size();
  const auto name_of = [&](const std::vector<LayerId>& of) {
    return kind == PartKind::block ? block_name(graph, of) : graph[of.front()].name;
  };
  Part part{kind, name_of(layers), layers, place.parent, {}, place.stretch, place.times};
  if (place.times > 1) {
    // The first may follow layers with names of their own.
    part.name = common_name(name_of(repetition(layers, place.period)),
                            name_of(repetition(layers, (place.times - 1) * place.period)));
    if (first_.empty()) {
      first_.reserve(graph.size());
      for (std::size_t i = 0; i < graph.size(); ++i) first_.emplace_back(i);
    }
    for (std::size_t k = 1; k < place.times; ++k) {
      for (const LayerId layer : layers) {
        const LayerId again(layer() + k * place.period);
        first_[again()] = layer;
        part.layers.push_back(again);
      }
    }
  }
  parts_.push_back(std::move(part));
  if (place.parent) {
    parts_[*place.parent].children.push_back(number);
  } else {
    roots_.push_back(number);
  }
  return number;
}

void Parts::add_units(const Graph& graph, const std::vector<LayerId>& layers, Place place) {
  for (const std::vector<LayerId>& unit : units_of(graph, layers)) {
    if (unit.size() == 1) {
      add(PartKind::layer, unit, place, graph);
      continue;
    }
    Place inside = place;
    inside.parent = add(PartKind::unit, unit, place, graph);
    for (const LayerId layer : unit) add(PartKind::layer, {layer}, inside, graph);
  }
}

bool Parts::folded() const {
  return !first_.empty();
}

LayerId Parts::first_of(LayerId layer) const {
  return first_.empty() ? layer : first_[layer()];
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
