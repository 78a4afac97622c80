// How the timeline is painted.

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {
namespace {

void paint_arrow(QPainter& painter, QPointF from, QPointF to) {
  const double bend = std::clamp(std::abs(to.x() - from.x()) / 2, 14.0, 60.0);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to - QPointF(4, 0));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setBrush(painter.pen().color());
  painter.drawPolygon(QPolygonF({to, to + QPointF(-6, -3), to + QPointF(-6, 3)}));
}

}  // namespace

void TimelineCanvas::paint_ground(QPainter& painter) {
  const auto shaded = steady();
  if (!shaded) return;
  // Within the picture: far beyond it there are no pixels.
  const double left = std::max<double>(x_of(shaded->begin.value), time_area().left());
  const double right = std::min<double>(x_of(shaded->end.value), time_area().right() + 1);
  if (right <= left) return;
  painter.fillRect(QRectF(left, time_area().top(), right - left, time_area().height()),
                   see_through(theme().accent, 0.06));
}

void TimelineCanvas::paint_above(QPainter& painter) {
  const std::vector<Placed> rows = visible_rows();
  painter.save();
  painter.setClipRect(time_area());
  paint_arrows(painter, rows);
  paint_selected(painter, rows);
  painter.restore();
  paint_names(painter, rows);
}

// Pinned rows last: the others scroll beneath them.
void TimelineCanvas::paint_rows(QPainter& painter) {
  const std::vector<Placed> rows = visible_rows();
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const Placed& p) { return !p.pinned; });
  const int pinned_end =
      first == rows.begin() ? time_area().top() : (first - 1)->top + (first - 1)->height;
  painter.save();
  painter.setClipRect(time_area().adjusted(0, pinned_end - time_area().top(), 0, 0));
  for (auto row = first; row != rows.end(); ++row) paint_row(painter, *row);
  painter.setClipRect(time_area());
  for (auto row = rows.begin(); row != first; ++row) paint_row(painter, *row);
  painter.restore();
}

void TimelineCanvas::paint_row(QPainter& painter, const Placed& placed) {
  if (placed.row.is_heading()) return;
  const Lane& shown = lane(placed.row);
  const QRectF area = slices_area(placed);
  const double strength = looks_[placed.row.side].strength;
  if (shown.name().kind == LaneKind::path) {
    painter.fillRect(QRectF(area.left(), area.bottom(), area.width(), 2), theme().critical);
  }
  painters_[placed.row.side]->paint(painter, shown, area, window().moved(-shift(placed.row.side)),
                                    strength);
  if (shown.name().note.empty()) return;
  const QRectF note(area.left() + 6, area.bottom() + 2, area.width() - 12, text_height());
  painter.setPen(theme().faint);
  painter.drawText(note, Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(QString::fromStdString(shown.name().note),
                                            Qt::ElideRight, static_cast<int>(note.width())));
}

void TimelineCanvas::paint_names(QPainter& painter, const std::vector<Placed>& rows) {
  const QRect side(0, 0, time_area().left(), viewport()->height());
  painter.fillRect(side, palette().color(QPalette::Window));
  painter.fillRect(QRect(side.right(), 0, 1, side.height()), theme().grid);
  const Placed* above = nullptr;
  int pinned_end = time_area().top();
  for (const Placed& placed : rows) {
    if (placed.pinned) pinned_end = placed.top + placed.height;
  }
  for (const Placed& placed : rows) {
    const RowGroup& own = lines_.groups[placed.group];
    painter.setClipRect(QRect(0, placed.pinned ? time_area().top() : pinned_end, side.width(),
                              viewport()->height()));
    const bool same_group =
        above != nullptr && above->pinned == placed.pinned &&
        (above->group == placed.group ||
         (own.key.empty() && own.count == 1 && lines_.groups[above->group].name == own.name));
    paint_name(painter, placed, !same_group);
    above = &placed;
  }
  painter.setClipping(false);
  painter.fillRect(QRect(0, pinned_end, viewport()->width(), 1), theme().grid);
}

// The group on the left where it begins, the lane on the right.
void TimelineCanvas::paint_name(QPainter& painter, const Placed& placed, bool first_of_group) {
  const RowGroup& of = lines_.groups[placed.group];
  const bool heads = placed.row.is_heading();
  if (of.is_stage) return paint_stage(painter, placed, of);
  const QString own = heads ? QString() : QString::fromStdString(lane(placed.row).name().name);
  const int indent = kLevelIndent * static_cast<int>(of.level);
  const QRect box(8 + indent, placed.top, time_area().left() - 16 - indent, placed.height);
  const QFontMetrics metrics = fontMetrics();
  if (first_of_group && !placed.pinned) {
    painter.fillRect(QRect(0, placed.top, viewport()->width(), 1), theme().grid);
  }
  const bool says_group = first_of_group || placed.pinned;
  const int most = says_group && !own.isEmpty() ? box.width() * 6 / 10 : box.width();
  const QString group = group_name(of, most);
  if (says_group) {
    painter.setPen(theme().text);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, group);
    if (!of.key.empty() && !placed.pinned) paint_fold(painter, box, of.open);
  }
  if (heads ||
      ((lane(placed.row).name().depth > 0 || placed.height < text_height()) && !placed.pinned)) {
    return;
  }
  const int room = box.width() - (says_group ? metrics.horizontalAdvance(group) + 8 : 0);
  painter.setPen(theme().faint);
  painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter,
                   metrics.elidedText(lane_name(placed.row, room), Qt::ElideRight, room));
}

// Across names and time.
void TimelineCanvas::paint_stage(QPainter& painter, const Placed& placed, const RowGroup& stage) {
  const QRect line(0, placed.top, viewport()->width(), placed.height);
  const int above = painter.clipBoundingRect().toRect().top();  // what is pinned
  painter.setClipRect(line & QRect(0, above, line.width(), viewport()->height()));
  painter.fillRect(line, theme().grid);
  painter.setPen(theme().text);
  painter.drawText(line.adjusted(8, 0, -8, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(QString::fromStdString(stage.name), Qt::ElideRight,
                                            line.width() - 16));
}

// A triangle in the margin: downwards where it is open.
void TimelineCanvas::paint_fold(QPainter& painter, const QRect& box, bool open) {
  const QPointF at(box.left() - 4, box.center().y() + 0.5);
  const QPolygonF right({at + QPointF(-2, -4), at + QPointF(2, 0), at + QPointF(-2, 4)});
  const QPolygonF down({at + QPointF(-3, -2), at + QPointF(3, -2), at + QPointF(0, 2)});
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().text);
  painter.drawPolygon(open ? down : right);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

// Beneath its host a device has its own name alone; the number of those alike is never cut off.
QString TimelineCanvas::group_name(const RowGroup& group, int room) const {
  QString name = QString::fromStdString(group.name);
  if (group.level > 1) name = name.section(QLatin1Char('/'), -1);
  const QString count = group.count > 1 ? QStringLiteral(" ×%1").arg(group.count) : QString();
  const int own = room - fontMetrics().horizontalAdvance(count);
  return fontMetrics().elidedText(name, Qt::ElideMiddle, own) + count;
}

// Where there is no room for both, a lane beside its twin says only how it differs.
QString TimelineCanvas::lane_name(LaneRow row, int room) const {
  const LaneName& name = lane(row).name();
  QString own = QString::fromStdString(name.name);
  const QString& side = looks_[row.side].name;
  if (name.kind == LaneKind::residual || side.isEmpty()) return own;
  const QString both = (own + ' ' + side).trimmed();
  return fontMetrics().horizontalAdvance(both) <= room ? both : side;
}

// Its slices in other lanes (the critical path's) are framed, too, and the time that it waited is a
// line before it.
void TimelineCanvas::paint_selected(QPainter& painter, const std::vector<Placed>& rows) {
  if (!selected_) return;
  const Recording& recording = *sides_[selected_->side];
  const Slice& slice = recording.at(selected_->place);
  const auto frame = [&](const QRectF& box) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().text, 2));
    painter.drawRect(box.adjusted(0, 0, -1, 0));
  };
  for (const Placed& placed : rows) {
    if (placed.row.is_heading()) continue;
    const Lane& shown = lane(placed.row);
    if (placed.row.side != selected_->side || shown.name().kind == LaneKind::curve) continue;
    const std::size_t at = shown.beginning_at(slice.begin);
    if (at >= shown.slices().size() || shown.slices()[at].id != slice.id) continue;
    frame(*box_in(rows, {placed.row.side, {placed.row.lane, static_cast<std::uint32_t>(at)}}));
  }
  const auto box = box_in(rows, *selected_);
  if (box && row_of(*selected_).lane != selected_->place.lane) frame(*box);
  const auto ready = recording.facts ? recording.facts->ready(slice.id) : std::nullopt;
  if (!box || !ready || *ready >= slice.begin) return;
  painter.fillRect(QRectF(QPointF(x_of(*ready + shift(selected_->side)), box->center().y() - 1),
                          QPointF(box->left(), box->center().y() + 1)),
                   theme().text);
}

void TimelineCanvas::paint_arrows(QPainter& painter, const std::vector<Placed>& rows) {
  if (!selected_) return;
  const auto box = box_in(rows, *selected_);
  if (!box) return;
  const Recording& recording = *sides_[selected_->side];
  // Where several devices have one's lanes, what is of the selected one's device is drawn there.
  const SlicePlace own = recording.place(recording.at(selected_->place).id);
  const auto kind = recording.lanes[selected_->place.lane].name().kind;
  const bool is_task = own.valid() && stands_for_tasks(kind);
  const auto box_at = [&](std::uint32_t id) {
    SlicePlace place = recording.place(id);
    if (!place.valid()) return std::optional<QRectF>();
    const auto device = [&](const SlicePlace& at) {
      return recording.lanes[at.lane].name().device;
    };
    if (is_task && device(place) == device(own)) place.lane += selected_->place.lane - own.lane;
    return box_in(rows, {selected_->side, place});
  };
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(see_through(theme().text, 0.75), 1.2));
  const QPointF begin(box->left(), box->center().y()), end(box->right(), box->center().y());
  for (const std::uint32_t id : before_) {
    if (const auto from = box_at(id)) {
      paint_arrow(painter, {from->right(), from->center().y()}, begin);
    }
  }
  painter.setPen(QPen(theme().faint, 1.2));
  for (const std::uint32_t id : after_) {
    if (const auto to = box_at(id)) paint_arrow(painter, end, {to->left(), to->center().y()});
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace strata::gui
