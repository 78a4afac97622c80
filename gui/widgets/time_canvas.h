#pragma once

// A picture over time: rows that scroll, names on the left of them, a ruler above. Keys, wheel and
// mouse move it, enlarge it and measure in it, alike in every such picture; the canvas derived from
// it says what stands in its rows and what a click means. Several canvases may show the same
// stretch of time (window_changed, set_window). Lives in the window's thread.

#include <QAbstractScrollArea>
#include <QPoint>
#include <optional>

#include "gui/models/timeline/time_window.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

class TimeCanvas : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimeCanvas(QWidget* parent = nullptr);

  /// What stands where there is nothing to show.
  void set_hint(const QString& hint);
  const TimeWindow& window() const { return window_; }
  /// With its limits, as another canvas has it. Does not say so.
  void set_window(const TimeWindow& window);
  /// Where the times begin, right of the names.
  int names_width() const;
  void set_range(std::optional<TimeRange> range);
  std::optional<TimeRange> range() const { return range_; }
  /// The range or what is selected, the step, or all: from each to the next larger.
  void fit();
  /// All that is to be seen; for exports and benchmarks, too.
  void paint(QPainter& painter);

 signals:
  /// By the user.
  void range_picked();
  void window_changed();

 protected:
  static constexpr int kRulerHeight = 26;  // pixels

  virtual bool is_empty() const = 0;
  /// The steps that are measured by.
  virtual std::optional<TimeRange> steady() const = 0;
  /// One step of those: what is looked at first.
  virtual std::optional<TimeRange> step() const { return std::nullopt; }
  virtual std::optional<TimeRange> selected_time() const { return std::nullopt; }
  virtual void select_nothing() {}
  /// Where each row stands, after a change of size, font or content.
  virtual void lay_out() = 0;
  /// Before lay_out(), where colours and fonts changed.
  virtual void restyle() {}
  /// Beneath the lines of the ruler's ticks, between those and the range, and above all but the
  /// ruler.
  virtual void paint_ground(QPainter& /*painter*/) {}
  virtual void paint_rows(QPainter& painter) = 0;
  virtual void paint_above(QPainter& /*painter*/) {}
  virtual QString tip_at(QPoint at) const;
  virtual void hover(std::optional<QPoint> /*at*/) {}
  virtual void click(QPoint at) = 0;
  /// For what is at a point, or, where a key asks, for what is selected.
  virtual void ask_menu(std::optional<QPoint> /*at*/) {}
  /// False for keys that mean nothing of its own here.
  virtual bool take_own_key(int key, Qt::KeyboardModifiers modifiers) = 0;
  /// What stays where it is when keys zoom: what is under the mouse, else the middle.
  virtual double zoom_centre() const;

  const Theme& theme() const { return theme_; }
  void set_wanted_names(int pixels) { wanted_names_ = pixels; }
  /// For rows so high, of which those that do not scroll take `above`.
  void set_scrolled(int height, int above, int single_step);
  /// Right of the names, beneath the ruler.
  QRect time_area() const;
  double time_of(int x) const;
  double x_of(double time) const;
  TimeWindow window_on(const TimeRange& shown) const;
  /// Before there is something else to show: whether it is looked at as what opens is.
  bool follows_step() const { return is_empty() || window_ == step_window(); }
  /// After that. What was all stays all; where `follows`, the step is shown.
  void show_all_of(double first, double limit, bool follows);
  void move_window(const TimeWindow& window);

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Where fit() led, and what was wanted then.
  struct Fitted {
    TimeWindow window;
    std::optional<TimeRange> wanted;
    bool operator==(const Fitted&) const = default;
  };
  enum class Drag : std::uint8_t { none, press, range, pan };

  /// With some air around the step; all where there is none.
  TimeWindow step_window() const;
  bool take_any_key(int key, Qt::KeyboardModifiers modifiers);
  void measure_to(int x);
  /// The other end of the range whose line is there, which a drag moves.
  std::optional<double> end_opposite(int x) const;
  void paint_range(QPainter& painter);
  void paint_ruler(QPainter& painter);

  QString hint_;
  Theme theme_;
  TimeWindow window_;
  std::optional<TimeRange> range_;
  std::optional<Fitted> fitted_;
  int wanted_names_ = 0;
  std::optional<int> mouse_x_;
  Qt::MouseButton button_ = Qt::NoButton;  // that is dragged with
  Drag drag_ = Drag::none;
  QPoint pressed_;
  TimeWindow window_at_press_;
  int scrolled_at_press_ = 0;
  double measured_from_ = 0;
};

}  // namespace strata::gui
