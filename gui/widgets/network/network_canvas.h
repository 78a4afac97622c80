#pragma once

// The network's graph in a window: nodes are picked with mouse and keyboard. It asks for what is to
// be done by signals, and draws what the map holds.

#include <optional>
#include <set>
#include <vector>

#include "gui/models/network/network_map.h"
#include "gui/widgets/network/network_painter.h"
#include "gui/widgets/sheet_canvas.h"

namespace strata::gui {

/// What a pick does to what is selected.
enum class PickMode : std::uint8_t {
  replace,
  toggle,
  range  ///< from the node picked before to this one
};

class NetworkCanvas : public SheetCanvas {
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
  QRectF sheet() const override;
  QRectF room() const override;
  QString placeholder() const override;
  void paint_sheet(QPainter& painter) const override;
  void paint_legend(QPainter& painter) const override;
  QString tip_at(const QPointF& at) const override;
  void click(const QPointF& at, Qt::KeyboardModifiers modifiers) override;
  void double_click(const QPointF& at) override;
  void pick_for_menu(const QPointF& at) override;
  QPointF current_place() const override;
  bool take_key(const QKeyEvent& event) override;
  bool has_bands() const override { return true; }
  void pick_band(const QRectF& sheet, Qt::KeyboardModifiers modifiers) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  static constexpr int kLegendHeight = 24;

  void rearranged(bool other_network);
  void step(int dx, int dy, PickMode mode);
  bool move_key(const QKeyEvent& event);
  bool part_key(int key);
  double whole_scale() const;
  void paint_legend(QPainter& painter, const NetworkPainter& network, const QSizeF& size) const;
  NetworkPainter painter_of_nodes() const;

  NetworkMap& map_;
  NetworkColours colours_ = NetworkColours::config;
  bool painting_ = false, brushing_ = false;  ///< brushing: the mouse is down
  std::optional<std::size_t> current_, hovered_;
  std::set<std::size_t> found_, painted_;
};

}  // namespace strata::gui
