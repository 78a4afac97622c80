#include "gui/models/network/network_nodes.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "gui/models/short_name.h"
#include "sim/plan/work_kind.h"
#include "sim/strategy/config_text.h"

namespace strata::gui {
namespace {

std::size_t ways_of(const Scene& scene, const Part& part) {
  std::vector<std::vector<Config>> ways;
  for (std::size_t k = 0; k < part.times; ++k) {
    std::vector<Config> cuts;
    cuts.reserve(part.layers_each());
    for (std::size_t i = 0; i < part.layers_each(); ++i) {
      cuts.push_back(scene.prediction.strategy[part.layers[k * part.layers_each() + i]]);
    }
    if (std::ranges::find(ways, cuts) == ways.end()) ways.push_back(std::move(cuts));
  }
  return ways.size();
}

// "conv2d + batch_norm + relu"; of a block, what it holds most of.
std::string op_text(const Graph& graph, const Part& part) {
  if (part.kind == PartKind::block) return std::to_string(part.layers_each()) + " layers";
  std::string text;
  for (std::size_t i = 0; i < part.layers_each(); ++i) {
    if (!text.empty()) text += " + ";
    text += title(graph[part.layers[i]].op);
  }
  return text;
}

LayerTerms sum(const LayerTerms& a, const LayerTerms& b) {
  return {a.compute + b.compute, a.transfer + b.transfer, a.sync + b.sync};
}

// "query" of block*_query: the frame around it says "block* ×12".
std::string name_within(const Parts& parts, const Part& part) {
  if (part.times == 1 || !part.parent) return part.name;
  const Part* block = &parts[*part.parent];
  while (block->parent) block = &parts[*block->parent];
  const std::size_t shared = block->name.size() + 1;
  const bool inside = part.name.size() > shared && part.name.starts_with(block->name);
  return inside ? part.name.substr(shared) : part.name;
}

NetworkNode node_of(const Scene& scene, const Parts& parts, std::size_t number) {
  const Part& part = parts[number];
  const Graph& graph = scene.input.graph;
  NetworkNode node;
  node.part = number;
  node.name = part.kind == PartKind::block ? shown_name(part) : name_within(parts, part);
  node.op = op_text(graph, part);
  node.layers = part.layers.size();
  node.network_input = is_input(graph[part.layers.front()].op);
  node.cuts = cuts_of(scene, part.layers);
  for (const LayerId layer : part.layers) {
    node.terms = sum(node.terms, scene.prediction.terms[layer()]);
    const auto& locked = scene.document.locked;
    if (std::binary_search(locked.begin(), locked.end(), graph[layer].name)) ++node.locked;
    if (scene.stages.several()) node.stages.push_back(scene.stages.stage_of(layer));
  }
  std::ranges::sort(node.stages);
  node.stages.erase(std::unique(node.stages.begin(), node.stages.end()), node.stages.end());
  return node;
}

void find_shared(std::vector<NetworkNode>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NetworkNode& node : nodes) names.push_back(node.name);
  const std::vector<std::size_t> shared = shared_prefixes(names);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].shared = shared[i];
}

}  // namespace

std::vector<NamedCut> cuts_of(const Scene& scene, std::span<const LayerId> layers) {
  std::vector<std::pair<Config, std::vector<LayerId>>> holders;
  for (const LayerId layer : layers) {
    if (is_input(scene.input.graph[layer].op)) continue;
    const Config& cut = scene.prediction.strategy[layer];
    const auto known = std::ranges::find(holders, cut, [](const auto& it) { return it.first; });
    if (known == holders.end()) {
      holders.push_back({cut, {layer}});
    } else {
      known->second.push_back(layer);
    }
  }
  std::vector<NamedCut> cuts;
  cuts.reserve(holders.size());
  for (const auto& [cut, held] : holders) {
    cuts.push_back({cut, config_text(scene.input.graph, held, cut)});
  }
  return cuts;
}

std::vector<std::vector<Bytes>> moved_forward(const Graph& graph, const Plan& plan) {
  std::vector<std::vector<Bytes>> moved(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) moved[i].resize(graph[LayerId(i)].inputs.size());
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer || task.phase != Phase::forward) continue;
    const Transfer& transfer = plan.transfers()[task.detail];
    moved[task.layer()][transfer.input] += Bytes{plan.alike(task) * transfer.bytes.value};
  }
  return moved;
}

NetworkPicture network_picture(const Scene& scene, const Parts& parts, const OpenParts& open) {
  const Graph& graph = scene.input.graph;
  NetworkPicture picture;
  std::vector<std::size_t> node_of_layer(graph.size());
  for (const std::size_t part : parts.visible(open)) {
    for (const LayerId layer : parts[part].layers) node_of_layer[layer()] = picture.nodes.size();
    picture.nodes.push_back(node_of(scene, parts, part));
  }
  std::vector<LayerId> all;
  all.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) all.emplace_back(i);
  picture.cuts = cuts_of(scene, all);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const bool folded = parts[part].kind == PartKind::block && parts[part].times > 1;
    if (folded) picture.ways[part] = ways_of(scene, parts[part]);
  }
  find_shared(picture.nodes);
  const auto moved = moved_forward(graph, scene.prediction.plan);
  std::map<std::pair<std::size_t, std::size_t>, Bytes> edges;  // by consumer, producer
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
      // As the first repetition reads them: what the others read of the one before comes in, too.
      const std::size_t later = i - parts.first_of(LayerId(i))();
      const std::size_t from = node_of_layer[layer.inputs[k]() - later], to = node_of_layer[i];
      if (from != to) edges[{to, from}] += moved[i][k];
    }
  }
  for (const auto& [ends, bytes] : edges) {
    picture.edges.push_back({ends.second, ends.first, bytes});
  }
  return picture;
}

std::vector<PictureStretch> stretches(const NetworkPicture& picture, const Parts& parts) {
  std::vector<PictureStretch> result;
  std::vector<std::size_t> stretch_of;
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const Part& part = parts[picture.nodes[i].part];
    const bool begins = i == 0 || parts[picture.nodes[i - 1].part].stretch != part.stretch;
    if (begins) {
      result.push_back({{}, i, 0, {}, std::nullopt});
      std::optional<std::size_t> above = part.parent;
      while (above && parts[*above].kind != PartKind::block) above = parts[*above].parent;
      result.back().block = above;
    }
    result.back().exit = result.back().sketch.nodes++;
    stretch_of.push_back(result.size() - 1);
  }
  for (std::size_t e = 0; e < picture.edges.size(); ++e) {
    const NetworkEdge& edge = picture.edges[e];
    PictureStretch& stretch = result[stretch_of[edge.to]];
    const bool enters = stretch_of[edge.from] != stretch_of[edge.to];
    const auto number = [&](std::size_t node) {
      return static_cast<std::uint32_t>(node - stretch.first);
    };
    stretch.sketch.edges.emplace_back(enters ? Sketch::kEntry : number(edge.from), number(edge.to));
    stretch.edges.push_back(e);
  }
  return result;
}

}  // namespace strata::gui
