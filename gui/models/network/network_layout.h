#pragma once

// Where the nodes of a network's stretch lie, by Graphviz' dot. A network is a chain of stretches
// (parts.h), and many of them have the same shape, so that each shape is laid out once and a
// stretch at a time: quick for networks of hundreds of layers. In points, y downwards. Thread-safe,
// one layout at a time.

#include <QPainterPath>
#include <QPointF>
#include <QSizeF>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace strata::gui {

/// Every node's size.
inline constexpr QSizeF kNodeSize(196, 62);

/// The shape of a stretch: its nodes by number, and who reads whom.
struct Sketch {
  static constexpr std::uint32_t kEntry = 0xffffffff;  ///< what comes from the stretch before

  std::uint32_t nodes = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< from (or kEntry), to

  auto operator<=>(const Sketch&) const = default;
};

struct Drawing {
  QSizeF size;
  QPointF entry;                     ///< at the top: where edges from the entry begin
  std::vector<QPointF> centres;      ///< by node
  std::vector<QPainterPath> curves;  ///< by edge of the sketch
};
using DrawingPtr = std::shared_ptr<const Drawing>;

/// By dot; where edges pass over so much that it would take its time (each dense block of DenseNet
/// reads all before it), by ranks alone. Throws InternalError where Graphviz cannot.
Drawing lay_out(const Sketch& sketch);

/// Drawings that were asked for before.
class Drawings {
 public:
  DrawingPtr operator()(const Sketch& sketch);

 private:
  std::mutex lock_;
  std::map<Sketch, DrawingPtr> known_;
};

// A stretch of a network laid out by ranks alone: each node below all that it reads, edges that
// pass over others in arcs beside them. For what would keep dot busy for minutes. Pure.

/// By node: the most edges on a way to it. Precondition: edges go to larger numbers.
std::vector<std::uint32_t> ranks(const Sketch& sketch);
/// How many ranks all edges pass over together: what dot's time grows with.
std::size_t ranks_passed(const Sketch& sketch);

Drawing lay_out_by_rank(const Sketch& sketch);

}  // namespace strata::gui
