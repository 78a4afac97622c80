#pragma once

// A phase map as a picture: a cell for each case, in the colour of the strategy that wins there,
// the stronger the more it wins by, and lines between cells where the winner changes. A click or
// the arrows go to a cell, a double click or Enter opens it.

#include <QWidget>
#include <optional>

#include "gui/models/phase_map/map_cells.h"
#include "gui/models/phase_map/map_run.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

/// The same colour for a strategy in every map.
QColor strategy_colour(const std::string& strategy, const Theme& theme);

class MapCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit MapCanvas(const MapRun& run, QWidget* parent = nullptr);

  std::optional<MapPlace> current() const { return current_; }
  void set_current(std::optional<MapPlace> place);
  /// The cell that is the case on the desk, which has a frame.
  void set_desk(std::optional<MapPlace> place);
  QRectF cell(MapPlace place) const;
  std::optional<MapPlace> place_at(QPointF at) const;
  QSize sizeHint() const override { return {620, 380}; }

 signals:
  void current_changed();
  void open_wanted();  ///< the current cell

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::size_t columns() const { return run_.map().x.values.size(); }
  std::size_t rows() const { return run_.map().y.values.size(); }
  QRectF area() const;
  bool step(int key);
  QString tip(QPointF at) const;
  void draw_cell(QPainter& painter, MapPlace place) const;
  void draw_crossovers(QPainter& painter) const;
  void draw_frames(QPainter& painter) const;
  void draw_names(QPainter& painter) const;

  const MapRun& run_;
  std::optional<MapPlace> current_, desk_;
};

}  // namespace strata::gui
