#pragma once

// How a network's graph is painted: nodes with their cuts and costs, edges with their bytes, frames
// of open blocks. Knows the map and the theme, and no window.

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <optional>
#include <set>
#include <vector>

#include "gui/models/network/network_map.h"
#include "gui/widgets/theme.h"
#include "sim/strategy/strategy.h"

namespace strata::gui {

/// What the nodes' colours say.
enum class NetworkColours : std::uint8_t { config, cost, op, stage };
inline constexpr int kNetworkColours = 4;

struct ColourMeaning {
  QColor colour;
  QString text;
};

class NetworkPainter {
 public:
  NetworkPainter(const NetworkMap& map, const Theme& theme, NetworkColours colours,
                 const QFont& font);

  /// The painter's coordinates are the sheet's; `scale` is how large they are shown, `visible` what
  /// of them is.
  void paint(QPainter& painter, double scale, const QRectF& visible) const;
  std::vector<ColourMeaning> legend() const;

  /// Marked with a border: where the keyboard is, what the mouse is on, what was searched.
  std::optional<std::size_t> current, hovered;
  std::set<std::size_t> found;

 private:
  /// Below these scales small print, and all but names, are left out.
  static constexpr double kReadable = 0.7, kDetailed = 0.42;
  /// Names and bytes are no smaller in a window, as far as there is room for them.
  static constexpr double kLeastName = 9.5, kLeastNumber = 8.5, kLeastLock = 15,
                          kLeastFold = 11;  // pixels
  static QColor mix(const QColor& a, const QColor& b, double share);

  QColor colour(const NetworkNode& node) const;
  std::vector<QColor> colours(const NetworkNode& node) const;
  QBrush fill(const NetworkNode& node, const QRectF& rect, double share) const;
  void paint_edges(QPainter& painter, double scale, const QRectF& visible) const;
  void paint_bytes(QPainter& painter, std::size_t edge) const;
  void paint_frames(QPainter& painter, double scale) const;
  void paint_folds(QPainter& painter, double scale) const;
  void paint_node(QPainter& painter, double scale, std::size_t node) const;
  void paint_border(QPainter& painter, std::size_t node) const;
  void paint_lock(QPainter& painter, double scale, std::size_t node) const;
  void paint_content(QPainter& painter, const NetworkNode& node, const QRectF& rect) const;
  void paint_name(QPainter& painter, double scale, const NetworkNode& node,
                  const QRectF& rect) const;
  void paint_picture(QPainter& painter, const NetworkNode& node, const QRectF& where) const;
  void paint_words(QPainter& painter, const NetworkNode& node, const QRectF& rect) const;
  void paint_cost(QPainter& painter, const NetworkNode& node, const QRectF& rect) const;

  const NetworkMap& map_;
  const Theme theme_;
  NetworkColours colours_;
  QFont font_, bold_, small_;
  Seconds most_;  ///< of a node's cost
  Bytes widest_;  ///< of an edge
  std::vector<std::string> ops_;
};

/// The same in every picture: cuts along the same dims are shades of one colour.
QColor cut_colour(const Config& cut, const Theme& theme);

QString legend_title(NetworkColours colours);

// A Config as a small picture: the tensor as a block whose front is h by w and whose depth is c,
// cut where the layer is cut; and one such block for each part of the samples. Pure but for
// painting.

/// More cuts than can be told apart are drawn as some.
void paint_config(QPainter& painter, const QRectF& where, const Degrees& degrees,
                  const QColor& fill, const QColor& lines);

}  // namespace strata::gui
