#pragma once

// The drawn cluster: hosts, devices, switches, and links coloured by how much of what they could
// carry they carry, or by their bytes beside those of the others. A click or the arrow keys select,
// a double click on a link or Enter edits its bandwidth.

#include <optional>
#include <vector>

#include "gui/models/cluster/cluster_map.h"
#include "gui/models/cluster/link_history.h"
#include "gui/widgets/sheet_canvas.h"

namespace strata::gui {

enum class LinkColour : std::uint8_t { use, bytes };

class ClusterCanvas : public SheetCanvas {
  Q_OBJECT

 public:
  explicit ClusterCanvas(QWidget* parent = nullptr);

  /// Keeps what it is given alive. The map may be of another cluster than before.
  void show_map(ClusterMap map, ScenePtr scene);
  void show_use(LinkUse use);
  void colour_by(LinkColour by);
  void select(std::optional<LinkId> link, std::optional<DeviceId> device);

  const ClusterMap& map() const { return map_; }
  /// By which links are coloured, of the most of them: 0 is nothing and 1 all that the link could
  /// carry, or as many bytes as cross any link.
  double heat(const std::vector<LinkId>& links) const;
  /// The middle of an edge on the screen.
  QPointF place_of(LinkId link) const;
  QPointF place_of(DeviceId device) const;
  std::optional<std::size_t> node_at(const QPointF& at) const {
    return map_.node_at(view().to_sheet(at));
  }
  std::optional<LinkId> link_at(const QPointF& at) const;

  QSize sizeHint() const override { return {700, 420}; }
  QSize minimumSizeHint() const override { return {220, 160}; }

 signals:
  void link_clicked(std::optional<strata::LinkId> link);
  void device_clicked(std::optional<strata::DeviceId> device);
  void bandwidth_wanted(strata::LinkId link, QPoint at);
  /// The range of time by so many times its length; all of the time.
  void scrubbed(double lengths);
  void all_wanted();
  void reshaped();

 protected:
  QRectF sheet() const override { return scene_ ? map_.bounds : QRectF(); }
  QRectF room() const override;
  QString placeholder() const override { return tr("No cluster to show"); }
  void paint_sheet(QPainter& painter) const override;
  void paint_legend(QPainter& painter) const override;
  QString tip_at(const QPointF& at) const override;
  void click(const QPointF& at, Qt::KeyboardModifiers modifiers) override;
  void double_click(const QPointF& at) override;
  void pick_for_menu(const QPointF& at) override;
  QPointF current_place() const override;
  bool take_key(const QKeyEvent& event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Line {
    QPointF a, b;
  };

  Line line_of(const MapEdge& edge, bool back) const;
  const std::vector<double>& values() const;
  void find_most();
  double value(const std::vector<LinkId>& links) const;  // the largest
  bool holds(const std::vector<LinkId>& links) const;
  QString tip_of(const MapNode& node) const;
  QString words_for(LinkId link) const;
  void walk(int by);
  bool link_key(int key);
  bool time_key(int key, bool whole);

  QColor link_colour(double heat) const;
  void paint_frames(QPainter& painter) const;
  void paint_edges(QPainter& painter) const;
  void paint_unused(QPainter& painter, const Line& line) const;
  void paint_thin(QPainter& painter, const Line& line, double hot) const;
  void paint_arrow(QPainter& painter, const Line& line, const std::vector<LinkId>& links) const;
  void paint_nodes(QPainter& painter) const;
  void paint_node(QPainter& painter, const MapNode& node) const;
  void paint_busy(QPainter& painter, const MapNode& node) const;
  void paint_name(QPainter& painter, const MapNode& node) const;
  void paint_labels(QPainter& painter) const;

  ClusterMap map_;
  ScenePtr scene_;
  LinkUse use_;
  double most_ = 0;  // of what links are coloured by
  LinkColour by_ = LinkColour::use;
  std::optional<LinkId> link_;
  std::optional<DeviceId> device_;
};

}  // namespace strata::gui
