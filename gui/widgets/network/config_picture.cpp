#include "gui/widgets/network/config_picture.h"

#include <QPainterPath>
#include <algorithm>

namespace strata::gui {
namespace {

constexpr int kMostBlocks = 4, kMostCuts = 8;

struct Block {
  QRectF front;
  QPointF depth;  ///< from the front's corners to the back's
};

void paint_block(QPainter& painter, const Block& block, const Degrees& degrees, const QColor& fill,
                 const QColor& lines) {
  const QRectF& f = block.front;
  const QPointF& d = block.depth;
  const QPolygonF top{f.topLeft(), f.topRight(), f.topRight() + d, f.topLeft() + d};
  const QPolygonF side{f.topRight(), f.bottomRight(), f.bottomRight() + d, f.topRight() + d};
  painter.setPen(QPen(lines, 1));
  painter.setBrush(fill);
  painter.drawRect(f);
  painter.setBrush(fill.lighter(115));
  painter.drawPolygon(top);
  painter.setBrush(fill.darker(125));
  painter.drawPolygon(side);
  const auto cuts = [](std::int32_t degree) { return std::min(degree, kMostCuts); };
  for (int i = 1; i < cuts(degrees[Dim::h]); ++i) {
    const double y = f.top() + f.height() * i / cuts(degrees[Dim::h]);
    painter.drawLine(QLineF(f.left(), y, f.right(), y));
    painter.drawLine(QLineF(QPointF(f.right(), y), QPointF(f.right(), y) + d));
  }
  for (int i = 1; i < cuts(degrees[Dim::w]); ++i) {
    const double x = f.left() + f.width() * i / cuts(degrees[Dim::w]);
    painter.drawLine(QLineF(x, f.top(), x, f.bottom()));
    painter.drawLine(QLineF(QPointF(x, f.top()), QPointF(x, f.top()) + d));
  }
  for (int i = 1; i < cuts(degrees[Dim::c]); ++i) {
    const QPointF back = d * i / cuts(degrees[Dim::c]);
    painter.drawLine(QLineF(f.topLeft() + back, f.topRight() + back));
    painter.drawLine(QLineF(f.topRight() + back, f.bottomRight() + back));
  }
}

}  // namespace

void paint_config(QPainter& painter, const QRectF& where, const Degrees& degrees,
                  const QColor& fill, const QColor& lines) {
  const int blocks = std::clamp(degrees[Dim::n], 1, kMostBlocks);
  const int columns = blocks > 1 ? 2 : 1, rows = blocks > 2 ? 2 : 1;
  const double gap = 3;
  const QSizeF cell((where.width() - gap * (columns - 1)) / columns,
                    (where.height() - gap * (rows - 1)) / rows);
  // Channels show by a deeper block.
  const double share = degrees[Dim::c] > 1 ? 0.42 : 0.24;
  const double side = std::min(cell.width(), cell.height()) / (1 + share);
  const QPointF depth(side * share, -side * share);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, true);
  for (int i = 0; i < blocks; ++i) {
    const int column = i % columns, row = i / columns;
    const QPointF corner(where.left() + column * (cell.width() + gap),
                         where.top() + row * (cell.height() + gap));
    const QPointF free((cell.width() - side * (1 + share)) / 2,
                       (cell.height() - side * (1 + share)) / 2);
    const QRectF front(corner + free + QPointF(0, side * share), QSizeF(side, side));
    paint_block(painter, {front, depth}, degrees, fill, lines);
  }
  painter.restore();
}

}  // namespace strata::gui
