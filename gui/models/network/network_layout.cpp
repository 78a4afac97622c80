#include "gui/models/network/network_layout.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <graphviz/gvc.h>

#include "gui/models/graphviz.h"
#include "sim/base/error.h"

namespace strata::gui {
namespace {

constexpr double kPointsPerInch = 72;
// Dot makes a node of each rank that an edge passes: so many take it a second or less.
constexpr std::size_t kMostPassed = 600;

// The layout of one sketch, in Graphviz' hands for as long as this lives.
class Dot {
 public:
  explicit Dot(const Sketch& sketch) : sketch_(sketch), turn_(graphviz_turn()) {
    agseterr(AGMAX);  // it would print
    context_ = gvContext();
    graph_ = agopen(text("network"), Agstrictdirected, nullptr);
    graph_attributes();
    for (std::uint32_t i = 0; i < sketch.nodes; ++i) nodes_.push_back(node(std::to_string(i)));
    add_entry();
    for (const auto& [from, to] : sketch.edges) {
      edges_.push_back(agedge(graph_, from == Sketch::kEntry ? entry_ : nodes_.at(from),
                              nodes_.at(to), nullptr, 1));
    }
    done_ = gvLayout(context_, graph_, "dot") == 0;
  }
  Dot(const Dot&) = delete;
  Dot& operator=(const Dot&) = delete;
  ~Dot() {
    if (done_) gvFreeLayout(context_, graph_);
    agclose(graph_);
    gvFreeContext(context_);
  }

  bool done() const { return done_; }

  Drawing drawing() const {
    Drawing drawing;
    const boxf box = GD_bb(graph_);
    drawing.size = {box.UR.x - box.LL.x, box.UR.y - box.LL.y};
    drawing.entry = entry_ == nullptr ? QPointF(drawing.size.width() / 2, 0) : centre(entry_);
    for (Agnode_t* node : nodes_) drawing.centres.push_back(centre(node));
    for (Agedge_t* edge : edges_) drawing.curves.push_back(curve(edge));
    return drawing;
  }

 private:
  // Graphviz' functions take what they do not write.
  static char* text(const char* constant) { return const_cast<char*>(constant); }

  void graph_attributes() {
    const auto set = [&](const char* name, const char* value) {
      agattr(graph_, AGRAPH, text(name), text(value));
    };
    set("nodesep", "0.3");
    set("ranksep", "0.42");
    // A wide stretch need not be perfect, but soon there.
    set("nslimit", "8");
    set("mclimit", "0.6");
    agattr(graph_, AGNODE, text("shape"), text("box"));
    agattr(graph_, AGNODE, text("fixedsize"), text("true"));
    agattr(graph_, AGNODE, text("label"), text(""));
    const std::string width = fmt::format("{}", kNodeSize.width() / kPointsPerInch);
    const std::string height = fmt::format("{}", kNodeSize.height() / kPointsPerInch);
    agattr(graph_, AGNODE, text("width"), text(width.c_str()));
    agattr(graph_, AGNODE, text("height"), text(height.c_str()));
    agattr(graph_, AGEDGE, text("arrowhead"), text("none"));
  }

  void add_entry() {
    const auto enters = [](const auto& edge) { return edge.first == Sketch::kEntry; };
    if (std::none_of(sketch_.edges.begin(), sketch_.edges.end(), enters)) return;
    entry_ = node("entry");
    agsafeset(entry_, text("width"), text("0.02"), text(""));
    agsafeset(entry_, text("height"), text("0.02"), text(""));
  }

  Agnode_t* node(const std::string& name) { return agnode(graph_, text(name.c_str()), 1); }

  QPointF flipped(const pointf& at) const {
    const boxf box = GD_bb(graph_);
    return {at.x - box.LL.x, box.UR.y - at.y};
  }
  QPointF centre(Agnode_t* node) const { return flipped(ND_coord(node)); }

  QPainterPath curve(Agedge_t* edge) const {
    QPainterPath path;
    const splines* found = ED_spl(edge);
    if (found == nullptr || found->size == 0) return path;
    const bezier& pieces = found->list[0];
    path.moveTo(flipped(pieces.list[0]));
    for (std::size_t i = 1; i + 2 < static_cast<std::size_t>(pieces.size); i += 3) {
      path.cubicTo(flipped(pieces.list[i]), flipped(pieces.list[i + 1]),
                   flipped(pieces.list[i + 2]));
    }
    return path;
  }

  const Sketch& sketch_;
  std::unique_lock<std::mutex> turn_;
  GVC_t* context_ = nullptr;
  Agraph_t* graph_ = nullptr;
  Agnode_t* entry_ = nullptr;
  std::vector<Agnode_t*> nodes_;
  std::vector<Agedge_t*> edges_;
  bool done_ = false;
};

// What dot would draw of a node below another; most stretches are that.
Drawing single() {
  const double x = kNodeSize.width() / 2, gap = 30;
  Drawing drawing{{kNodeSize.width(), gap + kNodeSize.height()},
                  {x, 0},
                  {{x, gap + kNodeSize.height() / 2}},
                  {}};
  drawing.curves.resize(1);
  drawing.curves[0].moveTo(x, 0);
  drawing.curves[0].lineTo(x, gap);
  return drawing;
}

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

Drawing lay_out(const Sketch& sketch) {
  if (sketch == Sketch{1, {{Sketch::kEntry, 0}}}) return single();
  if (ranks_passed(sketch) > kMostPassed) return lay_out_by_rank(sketch);
  const Dot dot(sketch);
  if (!dot.done()) throw InternalError("Graphviz lays no network out");
  return dot.drawing();
}

DrawingPtr Drawings::operator()(const Sketch& sketch) {
  {
    const std::scoped_lock lock(lock_);
    const auto known = known_.find(sketch);
    if (known != known_.end()) return known->second;
  }
  auto drawing = std::make_shared<const Drawing>(lay_out(sketch));
  const std::scoped_lock lock(lock_);
  return known_.try_emplace(sketch, std::move(drawing)).first->second;
}

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
