#pragma once

// A sheet in a window, moved and enlarged alike in every view that has one (the network's graph,
// the cluster), as maps are: the wheel zooms about the mouse, dragging moves it, + and - zoom, F
// fits it. Where things are picked together, Shift+drag picks what a rectangle touches. The canvas
// of a view says what is on its sheet, what a click or a key of its own means, and paints.

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPointer>
#include <QWidget>

#include "gui/widgets/navigation.h"

namespace strata::gui {

class SheetCanvas : public QWidget {
  Q_OBJECT

 public:
  /// All of the sheet in the middle of the room that it has.
  void fit();
  /// What it offers is of a sheet that is no longer there.
  void close_menu();

 signals:
  /// Of what is there, which is picked now; it is shown when something was written into it.
  void menu_wanted(QMenu& menu, QPoint at);

 protected:
  SheetCanvas(const SheetView& view, QWidget* parent);

  const SheetView& view() const { return view_; }
  void pan(const QPointF& by);
  /// The sheet or its room is another than before.
  void show_sheet();

  /// Empty where there is nothing to show.
  virtual QRectF sheet() const = 0;
  /// What the legend leaves of the window.
  virtual QRectF room() const = 0;
  /// What stands in the place of a sheet that is empty.
  virtual QString placeholder() const = 0;
  virtual void paint_sheet(QPainter& painter) const = 0;
  virtual void paint_legend(QPainter& painter) const = 0;
  virtual QString tip_at(const QPointF& at) const = 0;
  /// Where the mouse was pressed and let go.
  virtual void click(const QPointF& at, Qt::KeyboardModifiers modifiers) = 0;
  virtual void double_click(const QPointF& at) = 0;
  /// What is there is to be picked, unless it is: the menu will be of that.
  virtual void pick_for_menu(const QPointF& at) = 0;
  /// Of what is current: where a menu opens that a key asked for.
  virtual QPointF current_place() const = 0;
  /// Whether it means something here; else it may move the sheet.
  virtual bool take_key(const QKeyEvent& event) = 0;
  /// Whether Shift+drag picks what a rectangle touches.
  virtual bool has_bands() const { return false; }
  virtual void pick_band(const QRectF& /*sheet*/, Qt::KeyboardModifiers /*modifiers*/) {}

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, press, pan, band };
  void begin_drag(Drag drag);

  SheetView view_;
  Drag drag_ = Drag::none;
  QPointF pressed_, last_;
  Qt::MouseButton button_ = Qt::NoButton;  // that is dragged with
  QCursor cursor_;                         // before the sheet was dragged
  QPointer<QMenu> menu_;
};

}  // namespace strata::gui
