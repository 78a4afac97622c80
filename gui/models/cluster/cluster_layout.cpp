#include "gui/models/cluster/cluster_layout.h"

#include <QSizeF>
#include <algorithm>

#include "gui/models/cluster/host_layout.h"

namespace strata::gui {
namespace {

constexpr double kHostMargin = 12, kHostTitle = 18;  // of a frame
constexpr double kKerb = 26;                         // from what stands on the street to the hosts

struct Grid {
  bool upright = false;  // the street runs from top to bottom
  std::size_t columns = 1, rows = 1;
  QSizeF cell, size;
};

class Layout {
 public:
  Layout(ClusterMap& map, const std::vector<std::string>& hosts, double aspect)
      : map_(map), hosts_(hosts), aspect_(aspect) {}

  void place() {
    if (hosts_.empty()) {
      place_circle(map_, outside(), 0);
    } else {
      place_hosts(best_grid());
    }
    for (const MapNode& node : map_.nodes) map_.bounds |= node.box;
    for (const MapFrame& frame : map_.frames) map_.bounds |= frame.box;
    map_.bounds.adjust(-kNodesApart, -kNodesApart, kNodesApart, kNodesApart);
  }

 private:
  MapNodes outside() const {
    MapNodes nodes;
    for (std::size_t i = 0; i < map_.nodes.size(); ++i) {
      const MapNode& node = map_.nodes[i];
      if (!node.host && node.kind != MapNodeKind::host) nodes.push_back(i);
    }
    return nodes;
  }

  QSizeF cell_of(bool upright) {
    if (map_.folded) return {kNodeWide, kNodeHigh * 1.2};
    QSizeF most;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      most = most.expandedTo(place_host(map_, host, side_of(upright, false)).size());
    }
    return {most.width() + 2 * kHostMargin, most.height() + 2 * kHostMargin + kHostTitle};
  }

  static double street_width(bool upright) { return (upright ? kNodeWide : kNodeHigh) + 2 * kKerb; }

  // Full grids before others, and the larger picture before the smaller.
  double worth(const Grid& grid) const {
    const double scale = std::min(aspect_ / grid.size.width(), 1 / grid.size.height());
    const double full =
        static_cast<double>(hosts_.size()) / static_cast<double>(grid.rows * grid.columns);
    return scale * full;
  }

  Grid best_grid() {
    Grid best;
    const bool street = !outside().empty();
    for (const bool upright : {false, true}) {
      if (upright && !street) break;
      const QSizeF cell = cell_of(upright);
      for (std::size_t columns = 1; columns <= hosts_.size(); ++columns) {
        Grid grid{upright, columns, (hosts_.size() + columns - 1) / columns, cell, {}};
        const double wide =
            static_cast<double>(columns) * (cell.width() + kNodesApart) - kNodesApart;
        const double high =
            static_cast<double>(grid.rows) * (cell.height() + kNodesApart) - kNodesApart;
        const double between = street ? street_width(upright) : 0;
        grid.size = {wide + (upright ? between : 0), high + (upright ? 0 : between)};
        if (best.cell.isEmpty() || worth(grid) > worth(best)) best = grid;
      }
    }
    return best;
  }

  // Hosts on both sides of the street, the nearer half first.
  void place_hosts(const Grid& grid) {
    const MapNodes between = outside();
    const std::size_t lines = grid.upright ? grid.columns : grid.rows, before = (lines + 1) / 2;
    const double street = between.empty() ? 0 : street_width(grid.upright);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const std::size_t row = host / grid.columns, column = host % grid.columns;
      const bool over = (grid.upright ? column : row) >= before;
      if (!map_.folded) place_host(map_, host, side_of(grid.upright, over));
      QPointF corner(static_cast<double>(column) * (grid.cell.width() + kNodesApart),
                     static_cast<double>(row) * (grid.cell.height() + kNodesApart));
      if (over) corner += grid.upright ? QPointF(street, 0) : QPointF(0, street);
      place_block(host, QRectF(corner, grid.cell), grid.upright && over);
    }
    place_street(between, grid, before, street);
  }

  static StreetSide side_of(bool upright, bool over) {
    if (upright) return over ? StreetSide::left : StreetSide::right;
    return over ? StreetSide::above : StreetSide::below;
  }

  void place_street(const MapNodes& nodes, const Grid& grid, std::size_t before, double street) {
    const double cell = grid.upright ? grid.cell.width() : grid.cell.height();
    const double middle =
        static_cast<double>(before) * (cell + kNodesApart) - kNodesApart +
        (before < (grid.upright ? grid.columns : grid.rows) ? (street + kNodesApart) / 2
                                                            : street / 2);
    const double length = grid.upright ? grid.size.height() : grid.size.width();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double at = length * static_cast<double>(i + 1) / static_cast<double>(nodes.size() + 1);
      map_.nodes[nodes[i]].box = node_box(grid.upright ? QPointF(middle, at) : QPointF(at, middle));
    }
  }

  void place_block(std::size_t host, const QRectF& block, bool name_right) {
    if (map_.folded) {
      map_.nodes[host].box = block;
      return;
    }
    map_.frames.push_back({hosts_[host], block, name_right});
    const MapNodes held = nodes_of_host(map_, host);
    const QPointF middle = block.center() + QPointF(0, kHostTitle / 2);
    const QPointF by = middle - box_around(map_, held).center();
    for (const std::size_t node : held) map_.nodes[node].box.translate(by);
  }

  ClusterMap& map_;
  const std::vector<std::string>& hosts_;
  double aspect_;
};

}  // namespace

void lay_out(ClusterMap& map, const std::vector<std::string>& hosts, double aspect) {
  Layout(map, hosts, aspect).place();
}

}  // namespace strata::gui
