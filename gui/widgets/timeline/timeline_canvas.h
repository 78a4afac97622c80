#pragma once

// The timeline itself: one or two recordings, lane under lane, with a ruler above and names beside.
// It is moved and asked with keys, wheel and mouse; what was picked it tells its owner, who says
// what that means. Two canvases may show the same stretch of time (window_changed, set_window).

#include <QAbstractScrollArea>
#include <QPoint>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/timeline/lanes.h"
#include "gui/models/timeline/time_window.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/lane_painter.h"

namespace strata::gui {

/// A slice of one of the recordings that are shown.
struct SliceAddress {
  std::uint32_t side = 0;
  SlicePlace place;
  bool operator==(const SliceAddress&) const = default;
};

/// How the lanes of one recording look among those of the other.
struct SideLook {
  QString name;         ///< beside the lane's own; empty: that alone
  double strength = 1;  ///< below 1: as in a haze
};

class TimelineCanvas : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineCanvas(QWidget* parent = nullptr);

  /// Either may be null. What is on the screen stays there as far as it can; what is all stays all.
  void show_recordings(RecordingPtr first, RecordingPtr second);
  void set_sides(std::array<SideLook, 2> looks);
  /// What stands where there is nothing to show.
  void set_hint(const QString& hint);
  void show_links(bool shown);

  const RecordingPtr& recording(std::uint32_t side) const { return sides_[side]; }
  const std::vector<LaneRow>& rows() const { return rows_; }
  const TimeWindow& window() const { return window_; }
  /// Where the slices begin, right of the names.
  int names_width() const { return names_; }
  /// Does not say so.
  void set_window(const TimeWindow& window);

  /// Does not say so; brings it into view where `reveal`.
  void select(std::optional<SliceAddress> slice, bool reveal = false);
  std::optional<SliceAddress> selected() const { return selected_; }
  void set_range(std::optional<TimeRange> range);
  std::optional<TimeRange> range() const { return range_; }
  /// Slices of these stand out, as each recording numbers them; none: all do.
  void set_layers(std::vector<LayerId> first, std::vector<LayerId> second = {});
  /// By label of both recordings: these stand out, before any layers; empty: none in particular.
  void mark_labels(std::vector<bool> labels);
  /// Slices whose labels have these words stand out, before all others. The number of labels found.
  std::size_t search(const std::string& text);
  /// Picks the next (or previous) one that was searched for; false where there is none.
  bool pick_match(bool backwards);

  /// The range, the selected slice, or all.
  void fit();
  /// Of the same lane, one further or back.
  void pick_neighbour(int by);
  /// In the next lane (or the one before) at the same time.
  void pick_lane(int by);
  /// The lane of the selected slice stays in view above all others, or no longer.
  void toggle_pin();

  /// What is under the mouse.
  std::optional<SliceAddress> slice_at(QPoint at) const;
  std::optional<LaneRow> row_at(QPoint at) const;
  /// Where a slice is painted.
  QRectF box_of(const SliceAddress& slice) const;
  /// All that is to be seen; for exports and benchmarks, too.
  void paint(QPainter& painter);

 signals:
  /// By the user. None: the empty space was clicked.
  void picked();
  void hovered(std::optional<strata::gui::SliceAddress> slice);
  void range_picked();
  void window_changed();
  void row_picked(strata::gui::LaneRow row);
  void search_wanted();

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  using LaneKey = std::pair<std::string, std::string>;
  enum class Drag : std::uint8_t { none, press, range, pan };
  /// A row with its place on the screen; of rows that are pinned, above the others.
  struct Placed {
    LaneRow row;
    int top = 0, height = 0;
    bool pinned = false;
  };

  const Lane& lane(LaneRow row) const { return sides_[row.side]->lanes[row.lane]; }
  int height_of(LaneRow row) const;
  int text_height() const;
  QRect time_area() const;  // right of the names, beneath the ruler
  QRectF slices_area(const Placed& placed) const;
  double time_of(int x) const;
  double x_of(double time) const;
  bool is_pinned(LaneRow row) const;
  std::vector<Placed> visible_rows() const;
  const Placed* find(const std::vector<Placed>& rows, LaneRow row) const;

  void lay_out();
  int wanted_names() const;
  void new_lit();
  void move_window(const TimeWindow& window);
  /// Or in the middle, where the mouse is elsewhere.
  double time_at_mouse() const;
  void pick(std::optional<SliceAddress> slice);
  void reveal(const SliceAddress& slice);
  QString tip_at(QPoint at) const;
  bool handle_key(int key, Qt::KeyboardModifiers modifiers);

  void paint_lanes(QPainter& painter, const std::vector<Placed>& rows);
  void paint_row(QPainter& painter, const Placed& placed);
  void paint_names(QPainter& painter, const std::vector<Placed>& rows);
  void paint_name(QPainter& painter, const Placed& placed, bool first_of_group);
  QString lane_name(LaneRow row, int room) const;
  void paint_ruler(QPainter& painter);
  void paint_steady(QPainter& painter);
  void paint_range(QPainter& painter);
  void paint_selected(QPainter& painter, const std::vector<Placed>& rows);
  void paint_arrows(QPainter& painter, const std::vector<Placed>& rows);
  std::optional<QRectF> box_in(const std::vector<Placed>& rows, const SliceAddress& slice) const;

  std::array<RecordingPtr, 2> sides_;
  std::array<SideLook, 2> looks_;
  std::array<std::unique_ptr<LanePainter>, 2> painters_;
  std::vector<LaneRow> rows_;
  std::vector<int> tops_;  // of the rows that scroll, and the end
  std::vector<LaneRow> pinned_rows_, scrolled_rows_;
  std::set<LaneKey> pinned_;
  int names_ = 0, wanted_names_ = 0;
  RowOptions options_;
  TimeWindow window_;
  QString hint_;
  Theme theme_;
  std::optional<SliceAddress> selected_;
  std::vector<std::uint32_t> before_, after_;  // of the selected one
  std::optional<TimeRange> range_;
  std::array<std::vector<LayerId>, 2> layers_;  // sorted
  std::vector<bool> marked_;
  std::string wanted_;
  std::optional<int> mouse_x_;
  Drag drag_ = Drag::none;
  QPoint pressed_;
  TimeWindow window_at_press_;
};

}  // namespace strata::gui
