// What keys and mouse do to what stands in the timeline.

#include <QKeyEvent>
#include <QMouseEvent>
#include <cmath>

#include "gui/models/text.h"
#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {
namespace {

QString joined(const std::vector<std::string>& lines) {
  QStringList list;
  for (const std::string& line : lines) list << QString::fromStdString(line);
  return list.join(QLatin1Char('\n'));
}

QString tip_of(const Recording& recording, SlicePlace place, double shift) {
  const Slice& slice = recording.at(place);
  const LaneName& lane = recording.lanes[place.lane].name();
  QString text = QString::fromStdString(text_of(recording, place));
  if (lane.kind == LaneKind::curve) {
    return QStringLiteral("%1 % of %2")
        .arg(100 * static_cast<double>(slice.height), 0, 'f', 1)
        .arg(text);
  }
  if (!recording.facts) return text;
  return joined(recording.facts->lines(slice.id, shift));
}

}  // namespace

void TimelineCanvas::restyle() {
  for (std::size_t side = 0; side < 2; ++side) {
    if (sides_[side]) painters_[side] = std::make_unique<LanePainter>(*sides_[side], theme());
  }
  set_wanted_names(wanted_names());
  new_lit();
}

QString TimelineCanvas::tip_at(QPoint at) const {
  if (const RowGroup* fold = fold_at(at)) return fold_tip(*fold);
  const auto slice = slice_at(at);
  if (!slice) {
    const auto idle = idle_at(at);
    return idle ? tr("idle for %1: bubble, waiting for computation elsewhere, %2")
                      .arg(human_seconds(idle->whole), human_seconds(idle->bubble))
                : TimeCanvas::tip_at(at);
  }
  QString tip = tip_of(*sides_[slice->side], slice->place, shift(slice->side));
  const Seconds by{shift(slice->side)};
  if (by == Seconds{0}) return tip;
  return tip + tr("\ndrawn %1 %2, so that both steady steps begin together")
                   .arg(human_seconds({std::abs(by.value)}),
                        by > Seconds{0} ? tr("later") : tr("earlier"));
}

std::optional<TimelineCanvas::Idle> TimelineCanvas::idle_at(QPoint at) const {
  const auto row = row_at(at);
  if (!row || at.x() < time_area().left() || slice_at(at)) return std::nullopt;
  const Lane& shown = lane(*row);
  if (shown.bubbles() == nullptr) return std::nullopt;
  const std::size_t next = shown.ending_after(time_of(at.x()) - shift(row->side));
  const auto slices = shown.slices();
  const double begin = next == 0 ? 0 : slices[next - 1].end;
  const double end = next < slices.size() ? slices[next].begin : sides_[row->side]->end;
  const double bubble = shown.bubbles()->filled(begin, end);
  return bubble > 0 ? std::optional(Idle{{end - begin}, {bubble}}) : std::nullopt;
}

std::optional<TimeRange> TimelineCanvas::steady() const {
  const auto own = sides_[0]->steady;
  const Seconds by{shift(0)};
  return own ? std::optional(TimeRange{own->begin + by, own->end + by}) : std::nullopt;
}

QString TimelineCanvas::fold_tip(const RowGroup& group) const {
  const QString name = QString::fromStdString(group.name);
  if (group.open) return tr("%1: a click or G closes it").arg(name);
  if (group.count == 1) return tr("%1: a click or G opens its host").arg(name);
  return tr("%1: the first of %2 that do the same at the same times. A click or G opens them.")
      .arg(name)
      .arg(group.count);
}

// Of the group under the mouse, else of the selected task's: what it lies in where it has nothing
// to open or close itself.
void TimelineCanvas::turn_at_mouse() {
  std::optional<std::uint32_t> group;
  if (const auto under = mouse_ ? placed_at(*mouse_) : std::nullopt) {
    group = under->group;
  } else if (selected_) {
    const auto row = std::ranges::find(lines_.rows, row_of(*selected_));
    if (row != lines_.rows.end()) {
      group = lines_.group_of[static_cast<std::size_t>(row - lines_.rows.begin())];
    }
  }
  while (group) {
    const RowGroup& own = lines_.groups[*group];
    if (!own.key.empty()) return turn(std::string(own.key));
    std::uint32_t outer = *group;
    while (outer > 0 && lines_.groups[outer].level >= own.level) --outer;
    group = lines_.groups[outer].level < own.level ? std::optional(outer) : std::nullopt;
  }
}

void TimelineCanvas::hover(std::optional<QPoint> at) {
  mouse_ = at;
  emit hovered(at ? slice_at(*at) : std::nullopt);
}

void TimelineCanvas::click(QPoint at) {
  if (const RowGroup* fold = fold_at(at)) return turn(std::string(fold->key));
  if (const auto row = row_at(at)) emit row_picked(*row);
  if (at.x() < time_area().left()) return;
  const auto slice = slice_at(at);
  const bool curve =
      slice && sides_[slice->side]->lanes[slice->place.lane].name().kind == LaneKind::curve;
  if (!slice && range()) {
    set_range(std::nullopt);
    emit range_picked();
  }
  if (!curve) pick(slice);
}

// A curve is no task.
void TimelineCanvas::ask_menu(std::optional<QPoint> at) {
  const auto slice = at ? slice_at(*at) : selected_;
  if (!slice || lane({slice->side, slice->place.lane}).name().kind == LaneKind::curve) return;
  if (slice != selected_) pick(slice);
  const QPoint place = at ? *at : box_of(*slice).center().toPoint();
  emit menu_wanted(*slice, viewport()->mapToGlobal(place));
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto slice = slice_at(event->position().toPoint());
  if (slice) move_window(window_on(time_around(*slice)));
}

bool TimelineCanvas::take_own_key(int key, Qt::KeyboardModifiers modifiers) {
  switch (key) {
    case Qt::Key_Period:
      return pick_neighbour(1), true;
    case Qt::Key_Comma:
      return pick_neighbour(-1), true;
    case Qt::Key_Up:
      return pick_lane(-1), true;
    case Qt::Key_Down:
      return pick_lane(1), true;
    case Qt::Key_M:
      return measure_selected(), true;
    case Qt::Key_P:
      return toggle_pin(), true;
    case Qt::Key_G:
      if ((modifiers & Qt::ShiftModifier) == 0) return turn_at_mouse(), true;
      set_folded(!folded());
      emit folded_changed();
      return true;
    case Qt::Key_Slash:
      emit search_wanted();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return pick_match((modifiers & Qt::ShiftModifier) != 0);
    default:
      return false;
  }
}

}  // namespace strata::gui
