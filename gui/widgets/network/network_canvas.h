#pragma once

// The network's graph in a window: pan and zoom, pick nodes with mouse and keyboard. It asks for
// what is to be done by signals, and draws what the map holds.

#include <QWidget>
#include <optional>
#include <set>
#include <vector>

#include "gui/models/network/network_map.h"
#include "gui/widgets/navigation.h"
#include "gui/widgets/network/network_painter.h"

namespace strata::gui {

/// What a pick does to what is selected.
enum class PickMode : std::uint8_t {
  replace,
  toggle,
  range  ///< from the node picked before to this one
};

class NetworkCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit NetworkCanvas(NetworkMap& map, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override { return {200, 120}; }
  QSize sizeHint() const override { return {720, 480}; }

  NetworkColours colours() const { return colours_; }
  void set_colours(NetworkColours colours);
  void set_found(std::set<std::size_t> nodes);
  /// A click paints: nodes that the mouse is dragged over are told when it is let go.
  void set_painting(bool painting);
  bool painting() const { return painting_; }

  void fit();
  /// Moved so that the node is seen.
  void show_node(std::size_t node);
  std::optional<std::size_t> current() const { return current_; }
  void set_current(std::optional<std::size_t> node);
  /// In the widget's coordinates.
  QPointF centre_of(std::size_t node) const;
  std::optional<std::size_t> node_at(const QPointF& position) const;

  /// All of it for a file, whatever of it the window shows: as large as its words want it, unless
  /// that is very large.
  QSize whole_size() const;
  void paint_whole(QPainter& painter) const;

 signals:
  void picked(const std::vector<std::size_t>& nodes, PickMode mode);
  void opened(std::size_t part);
  void shut(std::size_t part);
  void painted(const std::vector<std::size_t>& nodes);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  static constexpr int kLegendHeight = 24;
  enum class Drag : std::uint8_t { none, press, pan, band, paint };

  std::vector<std::size_t> nodes_in(const QRectF& sheet) const;
  void end_band(PickMode mode);
  void rearranged();
  void step(int dx, int dy, PickMode mode);
  bool move_key(QKeyEvent* event);
  bool view_key(QKeyEvent* event);
  double whole_scale() const;
  void paint_legend(QPainter& painter, const NetworkPainter& network, const QSizeF& size) const;
  QString tip(std::size_t node) const;

  NetworkMap& map_;
  NetworkColours colours_ = NetworkColours::config;
  SheetView view_{{0.05, 4, 1.25}};
  Drag drag_ = Drag::none;
  bool painting_ = false;
  QPointF pressed_, last_;
  std::optional<std::size_t> current_, hovered_;
  std::set<std::size_t> found_, painted_;
};

}  // namespace strata::gui
