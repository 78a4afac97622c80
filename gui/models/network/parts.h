#pragma once

// A network folded for people. Its layers stand in parts: a *block* is what lies between two layers
// that every path runs through (an Inception module, a residual block), a *unit* is a layer with
// the element-wise layers that follow it. Blocks hold units, units hold layers; each part opens
// into the parts that it holds. A block that stands several times one after another, as a
// transformer's, may be folded: one block, whose parts hold the layers of all its repetitions.
// Whatever is open, the visible parts hold every layer once. Immutable value.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace strata::gui {

enum class PartKind : std::uint8_t { block, unit, layer };

struct Part {
  PartKind kind = PartKind::layer;
  std::string name;             ///< of a folded part "block*_query"
  std::vector<LayerId> layers;  ///< in the graph's order
  std::optional<std::size_t> parent;
  std::vector<std::size_t> children;  ///< what it opens into; a layer alone has none
  std::size_t stretch = 0;            ///< the network is a chain of stretches; this one's number
  std::size_t times = 1;              ///< of the block that it is, or stands in, where it is folded

  /// Of one repetition.
  std::size_t layers_each() const { return layers.size() / times; }
};

/// With its times, where it is folded: "block* ×12".
std::string shown_name(const Part& part);

/// Parts by number, and which of them are open.
using OpenParts = std::set<std::size_t>;

class Parts {
 public:
  Parts() = default;
  /// `folds`: blocks that repeat are folded.
  explicit Parts(const Graph& graph, bool folds = false);

  std::size_t size() const { return parts_.size(); }
  const Part& operator[](std::size_t part) const { return parts_[part]; }
  /// Whether any block is folded.
  bool folded() const;
  /// The layer of a folded block's first repetition that this one repeats; else itself.
  LayerId first_of(LayerId layer) const;
  /// The parts that stand for themselves while these are open, in the network's order.
  std::vector<std::size_t> visible(const OpenParts& open) const;

  /// With blocks shut; with blocks open, too; with all open.
  OpenParts blocks_shut() const { return {}; }
  OpenParts blocks_open() const { return of_kind(PartKind::block); }
  OpenParts all_open() const;
  /// For a first look: blocks open where that is not too much to see at once.
  OpenParts usual() const;
  /// As `open`, and what hides this layer open, too.
  OpenParts showing(LayerId layer, OpenParts open) const;

 private:
  OpenParts of_kind(PartKind kind) const;
  /// Where a part that is added stands.
  struct Place {
    std::size_t stretch = 0;
    std::optional<std::size_t> parent = {};
    std::size_t times = 1, period = 0;  ///< repetitions, and layers from one to the next
  };
  void add_block(const Graph& graph, std::span<const std::vector<LayerId>> stretches, Place place);
  std::size_t add(PartKind kind, const std::vector<LayerId>& layers, const Place& place,
                  const Graph& graph);
  void add_units(const Graph& graph, const std::vector<LayerId>& layers, Place place);

  std::vector<Part> parts_;
  std::vector<std::size_t> roots_;
  std::vector<LayerId> first_;  ///< by layer, of folded networks
};

/// The layers that no path avoids: between two of them lies a stretch of the network. In order.
std::vector<LayerId> unavoidable(const Graph& graph);

}  // namespace strata::gui
