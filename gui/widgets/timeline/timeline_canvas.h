#pragma once

// The timeline itself: one or two recordings, lane under lane, in groups that open and close. What
// was picked it tells its owner, who says what that means.

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/timeline/lane_groups.h"
#include "gui/models/timeline/lanes.h"
#include "gui/widgets/time_canvas.h"
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

class TimelineCanvas : public TimeCanvas {
  Q_OBJECT

 public:
  explicit TimelineCanvas(QWidget* parent = nullptr);

  /// Either may be null. What is on the screen stays there as far as it can; what is all, or the
  /// step, stays that. `frame`: where another canvas shows more of the same time.
  void show_recordings(RecordingPtr first, RecordingPtr second,
                       const std::optional<TimeFrame>& frame = std::nullopt);
  /// What is shown next is looked at from its beginning: another network's times say nothing.
  void look_at_step();
  void set_sides(std::array<SideLook, 2> looks);
  void show_links(bool shown);
  /// Each after its device or its host.
  void show_links_beside(bool beside);
  /// What does the same as one: where there are many devices, until somebody says otherwise.
  void set_folded(bool folded);
  bool folded() const;

  /// Whether any devices or links do the same, so that folded they are one.
  bool has_alike() const;
  /// What is added to a side's own times, in seconds.
  double shift(std::uint32_t side) const { return frame_.shift_of(*sides_[side]); }
  const RecordingPtr& recording(std::uint32_t side) const { return sides_[side]; }
  const std::vector<LaneRow>& rows() const { return lines_.rows; }
  const std::vector<RowGroup>& groups() const { return lines_.groups; }
  /// Opens or closes a group.
  void turn(const std::string& key);

  /// Does not say so; brings it into view where `reveal`.
  void select(std::optional<SliceAddress> slice, bool reveal = false);
  std::optional<SliceAddress> selected() const { return selected_; }
  /// Slices of these stand out, as each recording numbers them; none: all do.
  void set_layers(std::vector<LayerId> first, std::vector<LayerId> second = {});
  /// By label of both recordings: these stand out, before any layers; empty: none in particular.
  void mark_labels(std::vector<bool> labels);
  /// Slices whose labels have these words stand out, before all others. The number of labels found.
  std::size_t search(const std::string& text);
  /// Picks the next (or previous) one that was searched for; false where there is none.
  bool pick_match(bool backwards);

  /// Of the same lane, one further or back.
  void pick_neighbour(int by);
  /// In the next lane (or the one before) at the same time.
  void pick_lane(int by);
  /// The lane of the selected slice stays in view above all others, or no longer.
  void toggle_pin();
  /// The selected slice and as much time around it.
  void zoom_to_selected();
  /// The time of the selected slice.
  void measure_selected();

  /// What is under the mouse.
  std::optional<SliceAddress> slice_at(QPoint at) const;
  std::optional<LaneRow> row_at(QPoint at) const;
  /// While a device does nothing.
  struct Idle {
    Seconds whole, bubble;  ///< bubble: what of it that is
  };
  /// Where a device has no slice, if any of that time is a bubble.
  std::optional<Idle> idle_at(QPoint at) const;
  /// Where it would open or close at a click; null elsewhere.
  const RowGroup* fold_at(QPoint at) const;
  /// Where a slice is painted, or that of another device that does the same.
  QRectF box_of(const SliceAddress& slice) const;

 signals:
  /// By the user. None: the empty space was clicked.
  void picked();
  void hovered(std::optional<strata::gui::SliceAddress> slice);
  void row_picked(strata::gui::LaneRow row);
  void search_wanted();
  void folded_changed();
  /// For the slice, at a point of the screen.
  void menu_wanted(strata::gui::SliceAddress slice, QPoint at);

 protected:
  bool is_empty() const override { return !sides_[0]; }
  std::optional<TimeRange> steady() const override;
  std::optional<TimeRange> step() const override { return frame_.step; }
  std::optional<TimeRange> selected_time() const override;
  void select_nothing() override { pick(std::nullopt); }
  void lay_out() override;
  void restyle() override;
  void paint_ground(QPainter& painter) override;
  void paint_rows(QPainter& painter) override;
  void paint_above(QPainter& painter) override;
  QString tip_at(QPoint at) const override;
  void hover(std::optional<QPoint> at) override;
  void click(QPoint at) override;
  bool take_own_key(int key, Qt::KeyboardModifiers modifiers) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void ask_menu(std::optional<QPoint> at) override;

 private:
  static constexpr int kLevelIndent = 12;  // pixels
  using LaneKey = std::pair<std::string, std::string>;
  /// A row with its place on the screen; of rows that are pinned, above the others.
  struct Placed {
    LaneRow row;
    std::uint32_t group = 0;
    bool first = true;  ///< of its group
    int top = 0, height = 0;
    bool pinned = false;
  };

  const Lane& lane(LaneRow row) const { return sides_[row.side]->lanes[row.lane]; }
  /// What is added to a recording's times where they are drawn.
  int height_of(LaneRow row) const;
  Placed place(std::uint32_t line, int top, bool pinned) const;
  /// The row that is shown for a lane, which may be none.
  LaneRow row_of(const SliceAddress& slice) const;
  void arrange_rows();
  void turn_at_mouse();
  int text_height() const;
  QRectF slices_area(const Placed& placed) const;
  bool is_pinned(LaneRow row) const;
  std::vector<Placed> visible_rows() const;
  std::optional<Placed> placed_at(QPoint at) const;
  const Placed* find(const std::vector<Placed>& rows, LaneRow row) const;

  int wanted_names() const;
  void new_lit();
  /// As it is drawn.
  TimeRange time_of_slice(const SliceAddress& slice) const;
  /// With as much air on each side as it lasts.
  TimeRange time_around(const SliceAddress& slice) const;
  void pick(std::optional<SliceAddress> slice);
  void reveal(const SliceAddress& slice);

  void paint_row(QPainter& painter, const Placed& placed);
  void paint_names(QPainter& painter, const std::vector<Placed>& rows);
  void paint_name(QPainter& painter, const Placed& placed, bool first_of_group);
  void paint_stage(QPainter& painter, const Placed& placed, const RowGroup& stage);
  void paint_fold(QPainter& painter, const QRect& box, bool open);
  QString group_name(const RowGroup& group, int room) const;
  QString fold_tip(const RowGroup& group) const;
  QString lane_name(LaneRow row, int room) const;
  void paint_selected(QPainter& painter, const std::vector<Placed>& rows);
  void paint_arrows(QPainter& painter, const std::vector<Placed>& rows);
  std::optional<QRectF> box_in(const std::vector<Placed>& rows, const SliceAddress& slice) const;

  std::array<RecordingPtr, 2> sides_;
  TimeFrame frame_;
  std::array<SideLook, 2> looks_;
  std::array<std::unique_ptr<LanePainter>, 2> painters_;
  LaneRows lines_;
  std::vector<int> tops_;                                   // of the rows that scroll, and the end
  std::vector<std::uint32_t> pinned_rows_, scrolled_rows_;  // in lines_
  std::set<LaneKey> pinned_;
  RowOptions options_;
  std::uint32_t deepest_ = 0;   ///< of the lanes below one another
  std::optional<bool> folded_;  // as somebody wants it
  bool many_devices_ = false;
  std::optional<QPoint> mouse_;
  std::optional<SliceAddress> selected_;
  std::vector<std::uint32_t> before_, after_;   // of the selected one
  std::array<std::vector<LayerId>, 2> layers_;  // sorted
  std::vector<bool> marked_;
  std::string wanted_;
};

}  // namespace strata::gui
