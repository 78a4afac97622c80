#include "gui/widgets/timeline/timeline_canvas.h"

#include <QScrollBar>
#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

constexpr int kThin = 6;
constexpr std::size_t kManyDevices = 16;  // beyond, what does the same is one group
constexpr std::size_t kManyRows =
    160;  // of many devices; beyond, only what computes is as high as text

}  // namespace

TimelineCanvas::TimelineCanvas(QWidget* parent) : TimeCanvas(parent) {
  pinned_.insert({"critical path", ""});
  looks_[1] = {tr("before"), 0.45};
}

void TimelineCanvas::show_recordings(RecordingPtr first, RecordingPtr second,
                                     const std::optional<TimeFrame>& frame) {
  if (!first) std::swap(first, second);
  const bool follows = follows_step();
  sides_ = {std::move(first), std::move(second)};
  selected_.reset();
  before_.clear();
  after_.clear();
  for (std::size_t i = 0; i < 2; ++i) {
    painters_[i].reset();
    if (!sides_[i]) continue;
    painters_[i] = std::make_unique<LanePainter>(*sides_[i], theme());
  }
  frame_ = frame ? *frame : sides_[0] ? frame_of(*sides_[0], sides_[1].get()) : TimeFrame();
  show_all_of(frame_.begin, frame_.end, follows);
  many_devices_ = sides_[0] && count_devices(*sides_[0]) > kManyDevices;
  new_lit();
  arrange_rows();
  emit window_changed();
}

void TimelineCanvas::set_sides(std::array<SideLook, 2> looks) {
  looks_ = std::move(looks);
  set_wanted_names(wanted_names());
  lay_out();
}

void TimelineCanvas::show_links(bool shown) {
  options_.links = shown;
  arrange_rows();
}

void TimelineCanvas::show_links_beside(bool beside) {
  options_.links_beside = beside;
  arrange_rows();
}

void TimelineCanvas::set_folded(bool folded) {
  folded_ = folded;
  arrange_rows();
}

bool TimelineCanvas::folded() const {
  return folded_.value_or(many_devices_);
}

bool TimelineCanvas::has_alike() const {
  RowOptions options = options_;
  options.folded = true;
  options.turned.clear();
  const LaneRows lines = sides_[0] ? arrange(*sides_[0], sides_[1].get(), options) : LaneRows();
  return std::ranges::any_of(lines.groups, [](const RowGroup& each) { return each.count > 1; });
}

void TimelineCanvas::turn(const std::string& key) {
  if (options_.turned.erase(key) == 0) options_.turned.insert(key);
  arrange_rows();
}

void TimelineCanvas::arrange_rows() {
  options_.folded = folded();
  lines_ = sides_[0] ? arrange(*sides_[0], sides_[1].get(), options_) : LaneRows();
  set_wanted_names(wanted_names());
  lay_out();
}

int TimelineCanvas::text_height() const {
  return fontMetrics().height();
}

int TimelineCanvas::height_of(LaneRow row) const {
  if (row.is_heading()) return text_height() + 6;
  const bool compact = many_devices_ && lines_.rows.size() > kManyRows;
  const LaneName& name = lane(row).name();
  if (name.kind == LaneKind::path) return 2 * text_height() + (name.note.empty() ? 0 : 12);
  const bool computes = name.kind == LaneKind::device;
  const bool thin = name.depth > 0 || (compact && !computes);
  if (thin && !is_pinned(row)) return row.side == 0 ? kThin : kThin - 2;
  const int height = text_height() + (name.kind == LaneKind::stream ? 3 : compact ? 2 : 8);
  return row.side == 0 ? height : height - 2;
}

bool TimelineCanvas::is_pinned(LaneRow row) const {
  if (row.is_heading()) return false;
  const LaneName& name = lane(row).name();
  return pinned_.contains({name.group, name.name});
}

// For the longest of them; text is not measured lane by lane, as there may be very many.
int TimelineCanvas::wanted_names() const {
  std::string group, name;
  for (std::uint32_t side = 0; side < 2; ++side) {
    if (!sides_[side]) continue;
    for (const Lane& lane : sides_[side]->lanes) {
      if (lane.name().group.size() > group.size()) group = lane.name().group;
      if (lane.name().depth > 0) continue;
      const std::string own = lane.name().name + ' ' + looks_[side].name.toStdString();
      if (own.size() > name.size()) name = own;
    }
  }
  const bool counted =
      std::ranges::any_of(lines_.groups, [](const RowGroup& each) { return each.count > 1; });
  const int kAround = counted ? 76 : 32;
  return fontMetrics().horizontalAdvance(QString::fromStdString(group)) +
         fontMetrics().horizontalAdvance(QString::fromStdString(name)) + kAround;
}

void TimelineCanvas::lay_out() {
  pinned_rows_.clear();
  scrolled_rows_.clear();
  tops_.assign(1, 0);
  int pinned = 0;
  for (std::uint32_t line = 0; line < lines_.rows.size(); ++line) {
    const LaneRow row = lines_.rows[line];
    (is_pinned(row) ? pinned_rows_ : scrolled_rows_).push_back(line);
    if (is_pinned(row)) {
      pinned += height_of(row);
    } else {
      tops_.push_back(tops_.back() + height_of(row));
    }
  }
  set_scrolled(tops_.back() + text_height(), pinned, text_height() + 8);
}

TimelineCanvas::Placed TimelineCanvas::place(std::uint32_t line, int top, bool pinned) const {
  const std::uint32_t group = lines_.group_of[line];
  const bool first = line == 0 || lines_.group_of[line - 1] != group;
  return {lines_.rows[line], group, first, top, height_of(lines_.rows[line]), pinned};
}

LaneRow TimelineCanvas::row_of(const SliceAddress& slice) const {
  return {slice.side, lines_.shown_for[slice.side][slice.place.lane]};
}

std::vector<TimelineCanvas::Placed> TimelineCanvas::visible_rows() const {
  std::vector<Placed> placed;
  int top = kRulerHeight;
  for (const std::uint32_t line : pinned_rows_) {
    placed.push_back(place(line, top, true));
    top += placed.back().height;
  }
  const int scrolled = verticalScrollBar()->value();
  const auto first = std::upper_bound(tops_.begin(), tops_.end(), scrolled) - tops_.begin() - 1;
  for (auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(first, 0));
       i < scrolled_rows_.size(); ++i) {
    const int at = top + tops_[i] - scrolled;
    if (at >= viewport()->height()) break;
    placed.push_back(place(scrolled_rows_[i], at, false));
  }
  return placed;
}

const TimelineCanvas::Placed* TimelineCanvas::find(const std::vector<Placed>& rows,
                                                   LaneRow row) const {
  if (row.is_heading()) return nullptr;  // nothing that is shown stands for its lane
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Placed& placed) { return placed.row == row; });
  return found == rows.end() ? nullptr : &*found;
}

QRectF TimelineCanvas::slices_area(const Placed& placed) const {
  const LaneName& name = lane(placed.row).name();
  const int note = name.note.empty() ? 0 : text_height() + 2;
  return QRectF(names_width(), placed.top + 1, time_area().width(), placed.height - 2 - note);
}

std::optional<TimelineCanvas::Placed> TimelineCanvas::placed_at(QPoint at) const {
  // Pinned rows come first, and lie above those that scrolled beneath them.
  for (const Placed& placed : visible_rows()) {
    if (at.y() >= placed.top && at.y() < placed.top + placed.height && at.y() >= kRulerHeight) {
      return placed;
    }
  }
  return std::nullopt;
}

std::optional<LaneRow> TimelineCanvas::row_at(QPoint at) const {
  const auto placed = placed_at(at);
  return placed && !placed->row.is_heading() ? std::optional(placed->row) : std::nullopt;
}

// All of a heading, and the mark before other names.
const RowGroup* TimelineCanvas::fold_at(QPoint at) const {
  const auto placed = placed_at(at);
  if (!placed || !placed->first || placed->pinned) return nullptr;
  const RowGroup& group = lines_.groups[placed->group];
  constexpr int kMark = 16;
  const int room = kLevelIndent * static_cast<int>(group.level) + kMark;
  const bool on_it = placed->row.is_heading() || at.x() < room;
  return on_it && !group.key.empty() ? &group : nullptr;
}

// A slice may be thinner than the pixels that it takes.
std::optional<SliceAddress> TimelineCanvas::slice_at(QPoint at) const {
  const auto row = row_at(at);
  if (!row || at.x() < names_width()) return std::nullopt;
  const Lane& hit = lane(*row);
  const auto own_time = [&](int x) { return time_of(x) - shift(row->side); };
  const Lane::Look look = hit.look(own_time(at.x() - 1), own_time(at.x() + 1));
  if (look.first == look.last) return std::nullopt;
  const Lane::Look exact = hit.look(own_time(at.x()), own_time(at.x()));
  const std::size_t index =
      exact.first < exact.last ? exact.first : hit.longest(look.first, look.last);
  return SliceAddress{row->side, {row->lane, static_cast<std::uint32_t>(index)}};
}

std::optional<QRectF> TimelineCanvas::box_in(const std::vector<Placed>& rows,
                                             const SliceAddress& slice) const {
  const Placed* placed = find(rows, row_of(slice));
  if (placed == nullptr) return std::nullopt;
  const TimeRange shown = time_of_slice(slice);
  const QRectF area = slices_area(*placed);
  const double left = x_of(shown.begin.value), right = std::max(x_of(shown.end.value), left + 1);
  return QRectF(QPointF(left, area.top()), QPointF(right, area.bottom()));
}

QRectF TimelineCanvas::box_of(const SliceAddress& slice) const {
  return box_in(visible_rows(), slice).value_or(QRectF());
}

}  // namespace strata::gui
