#include "gui/models/network/rank_layout.h"

#include <algorithm>

namespace strata::gui {
namespace {

constexpr double kRankGap = 30, kNodeGap = 22;
constexpr double kArc = 26, kArcByRank = 9, kMostArc = 240;

double arc_of(std::size_t passed) {
  return std::min(kMostArc, kArc + kArcByRank * static_cast<double>(passed));
}

QPainterPath straight(QPointF from, QPointF to) {
  QPainterPath path(from);
  const double middle = (from.y() + to.y()) / 2;
  path.cubicTo({from.x(), middle}, {to.x(), middle}, to);
  return path;
}

// From and to the right sides.
QPainterPath arc(QPointF from, QPointF to, double reach) {
  QPainterPath path(from);
  const double out = std::max(from.x(), to.x()) + reach * 4 / 3;
  path.cubicTo({out, from.y()}, {out, to.y()}, to);
  return path;
}

struct Rows {
  std::vector<std::uint32_t> rank, place;  ///< by node
  std::vector<std::uint32_t> length;       ///< by rank
  double width = 0;
};

Rows rows_of(const Sketch& sketch) {
  Rows rows{ranks(sketch), {}, {}, 0};
  for (std::uint32_t node = 0; node < sketch.nodes; ++node) {
    if (rows.rank[node] >= rows.length.size()) rows.length.resize(rows.rank[node] + 1);
    rows.place.push_back(rows.length[rows.rank[node]]++);
  }
  for (const std::uint32_t length : rows.length) {
    rows.width = std::max(rows.width, length * (kNodeSize.width() + kNodeGap) - kNodeGap);
  }
  return rows;
}

QPointF centre_of(const Rows& rows, std::uint32_t node) {
  const double step = kNodeSize.width() + kNodeGap;
  const double across = rows.place[node] - (rows.length[rows.rank[node]] - 1) / 2.0;
  return {rows.width / 2 + across * step,
          kRankGap + kNodeSize.height() / 2 + rows.rank[node] * (kNodeSize.height() + kRankGap)};
}

}  // namespace

std::vector<std::uint32_t> ranks(const Sketch& sketch) {
  std::vector<std::vector<std::uint32_t>> readers(sketch.nodes);
  for (const auto& [from, to] : sketch.edges) {
    if (from != Sketch::kEntry) readers[from].push_back(to);
  }
  std::vector<std::uint32_t> ranks(sketch.nodes, 0);
  for (std::uint32_t node = 0; node < sketch.nodes; ++node) {
    for (const std::uint32_t reader : readers[node]) {
      ranks[reader] = std::max(ranks[reader], ranks[node] + 1);
    }
  }
  return ranks;
}

std::size_t ranks_passed(const Sketch& sketch) {
  const std::vector<std::uint32_t> at = ranks(sketch);
  std::size_t passed = 0;
  for (const auto& [from, to] : sketch.edges) {
    passed += from == Sketch::kEntry ? at[to] : at[to] - at[from] - 1;
  }
  return passed;
}

Drawing lay_out_by_rank(const Sketch& sketch) {
  const Rows rows = rows_of(sketch);
  Drawing drawing;
  drawing.entry = {rows.width / 2, 0};
  double right = rows.width;
  for (std::uint32_t node = 0; node < sketch.nodes; ++node) {
    drawing.centres.push_back(centre_of(rows, node));
  }
  const QPointF down(0, kNodeSize.height() / 2), aside(kNodeSize.width() / 2, 0);
  for (const auto& [from, to] : sketch.edges) {
    const bool enters = from == Sketch::kEntry;
    const std::size_t passed = enters ? rows.rank[to] : rows.rank[to] - rows.rank[from] - 1;
    const QPointF tail = enters ? drawing.entry : drawing.centres[from] + down;
    if (passed == 0) {
      drawing.curves.push_back(straight(tail, drawing.centres[to] - down));
      continue;
    }
    const QPointF side = enters ? drawing.entry : drawing.centres[from] + aside;
    const QPointF there = drawing.centres[to] + aside;
    drawing.curves.push_back(arc(side, there, arc_of(passed)));
    right = std::max(right, std::max(side.x(), there.x()) + arc_of(passed));
  }
  drawing.size = {right, static_cast<double>(rows.length.size()) * (kNodeSize.height() + kRankGap)};
  return drawing;
}

}  // namespace strata::gui
