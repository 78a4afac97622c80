#pragma once

// What the network's graph shows: the visible parts with their cuts and costs, and the bytes that
// move between them. Pure functions of a Scene; thread-safe.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/models/network/network_layout.h"
#include "gui/models/network/parts.h"
#include "gui/models/scene.h"

namespace strata::gui {

/// A cut in the words of the layers that have it: "n=2 tokens=4".
struct NamedCut {
  Config config;
  std::string text;

  bool operator==(const NamedCut& other) const { return config == other.config; }
};

struct NetworkNode {
  std::size_t part = 0;        ///< in Parts
  std::string name, op;        ///< "conv1_1", "conv2d + relu"
  std::size_t shared = 0;      ///< so many letters of its name its neighbours' have, too
  std::vector<NamedCut> cuts;  ///< its layers' different ones, in the network's order
  LayerTerms terms;            ///< Eq. 1's, its layers together
  bool network_input = false;
  std::size_t layers = 1, locked = 0;  ///< of all repetitions, where it is folded
  std::vector<std::uint32_t> stages;   ///< sorted; empty where the strategy has one

  bool mixed() const { return cuts.size() > 1; }
};

struct NetworkEdge {
  std::size_t from = 0, to = 0;  ///< nodes
  Bytes bytes;  ///< that devices fetch of others, in one forward pass; by all repetitions
};

struct NetworkPicture {
  std::vector<NetworkNode> nodes;
  std::vector<NetworkEdge> edges;  ///< by consumer, then producer; two nodes have one at most
  std::vector<NamedCut> cuts;      ///< all that the network has, in its order
  /// By folded block: in how many ways its repetitions are cut.
  std::map<std::size_t, std::size_t> ways;
};

/// The different cuts of these layers, inputs left out, in the words of those that have each.
std::vector<NamedCut> cuts_of(const Scene& scene, std::span<const LayerId> layers);

/// By layer and input: what moves forward into the layer.
std::vector<std::vector<Bytes>> moved_forward(const Graph& graph, const Plan& plan);

NetworkPicture network_picture(const Scene& scene, const Parts& parts, const OpenParts& open);

/// A stretch of the picture, to be laid out: its nodes are numbered from `first` on.
struct PictureStretch {
  Sketch sketch;
  std::size_t first = 0;             ///< node of the picture
  std::uint32_t exit = 0;            ///< see Stretch
  std::vector<std::size_t> edges;    ///< of the picture, by edge of the sketch
  std::optional<std::size_t> block;  ///< the open part that it is, where it is one
};
std::vector<PictureStretch> stretches(const NetworkPicture& picture, const Parts& parts);

}  // namespace strata::gui
