#pragma once

// A network's stretches on one sheet: one below the other, in as many columns, from left to right,
// as give the sheet the shape of the window. Pure functions; in points, y downwards.

#include <QPainterPath>
#include <QRectF>
#include <span>
#include <vector>

#include "gui/models/network/network_layout.h"

namespace strata::gui {

/// A stretch to be placed.
struct Stretch {
  DrawingPtr drawing;
  std::uint32_t exit = 0;  ///< the node that the next stretch reads
  bool framed = false;     ///< it is an open block
};

struct PlacedStretch {
  std::vector<QRectF> nodes;
  std::vector<QPainterPath> curves;  ///< by edge of the sketch
  QRectF frame;                      ///< around all nodes; empty where it has none
};

struct Sheet {
  std::vector<PlacedStretch> stretches;
  std::vector<QPainterPath> connectors;  ///< from a column's foot to the next one's head
  QRectF bounds;
  std::size_t columns = 0;
};

/// `aspect`: the window's width by its height.
Sheet place(std::span<const Stretch> stretches, double aspect);

}  // namespace strata::gui
