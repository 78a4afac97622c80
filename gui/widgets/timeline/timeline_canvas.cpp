#include "gui/widgets/timeline/timeline_canvas.h"

#include <QScrollBar>
#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

constexpr int kThin = 6;
constexpr int kMostDeep = 150;  // for lanes below one another that are one's, as far as can be
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

void TimelineCanvas::look_at_step() {
  show_recordings(nullptr, nullptr);
  verticalScrollBar()->setValue(0);
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
  deepest_ = 0;
  for (const RecordingPtr& side : sides_) {
    if (!side) continue;
    for (const Lane& lane : side->lanes) deepest_ = std::max(deepest_, lane.name().depth);
  }
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
  if (thin && !is_pinned(row)) {
    // Parameter servers receive from all devices at once.
    const int high = std::clamp(kMostDeep / (static_cast<int>(deepest_) + 1), 1, kThin);
    return row.side == 0 ? high : std::max(1, high - 2);
  }
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

// What of the timeline is looked at: the slice that is selected, those that stand out.

void TimelineCanvas::select(std::optional<SliceAddress> slice, bool reveal_it) {
  if (slice && !slice->place.valid()) slice.reset();
  selected_ = slice;
  before_.clear();
  after_.clear();
  if (slice) {
    const Recording& recording = *sides_[slice->side];
    const std::uint32_t id = recording.at(slice->place).id;
    if (recording.facts && recording.place(id).valid()) {
      before_ = recording.facts->before(id);
      after_ = recording.facts->after(id);
    }
    if (reveal_it) reveal(*slice);
  }
  viewport()->update();
}

void TimelineCanvas::reveal(const SliceAddress& slice) {
  const TimeRange shown = time_of_slice(slice);
  TimeWindow next = window();
  next.reveal(shown.begin.value, shown.end.value);
  move_window(next);
  const LaneRow row = row_of(slice);
  if (row.is_heading()) return;
  const auto found =
      std::ranges::find(scrolled_rows_, row, [&](std::uint32_t line) { return lines_.rows[line]; });
  if (found == scrolled_rows_.end()) return;
  const auto i = static_cast<std::size_t>(found - scrolled_rows_.begin());
  QScrollBar& bar = *verticalScrollBar();
  if (tops_[i] < bar.value()) bar.setValue(tops_[i] - text_height());
  if (tops_[i + 1] > bar.value() + bar.pageStep()) {
    bar.setValue(tops_[i + 1] + text_height() - bar.pageStep());
  }
}

void TimelineCanvas::pick(std::optional<SliceAddress> slice) {
  select(slice);
  emit picked();
}

void TimelineCanvas::set_layers(std::vector<LayerId> first, std::vector<LayerId> second) {
  layers_ = {std::move(first), std::move(second)};
  new_lit();
}

void TimelineCanvas::mark_labels(std::vector<bool> labels) {
  marked_ = std::move(labels);
  new_lit();
}

std::size_t TimelineCanvas::search(const std::string& text) {
  wanted_ = text;
  new_lit();
  if (!painters_[0]) return 0;
  const std::vector<bool>& lit = painters_[0]->lit();
  return static_cast<std::size_t>(std::count(lit.begin(), lit.end(), true));
}

// What was searched for, else what is marked, else the selected layers.
void TimelineCanvas::new_lit() {
  for (std::size_t side = 0; side < 2; ++side) {
    if (!painters_[side]) continue;
    std::vector<bool> lit = labels_with(*sides_[side], wanted_);
    if (lit.empty()) lit = marked_;
    if (const auto& layers = layers_[side]; lit.empty() && !layers.empty()) {
      for (const LaneLabel& label : sides_[side]->labels) {
        lit.push_back(std::binary_search(layers.begin(), layers.end(), label.layer));
      }
      if (std::count(lit.begin(), lit.end(), true) == 0) lit.clear();
    }
    painters_[side]->set_lit(std::move(lit));
  }
  viewport()->update();
}

bool TimelineCanvas::pick_match(bool backwards) {
  if (!sides_[0] || wanted_.empty()) return false;
  const SlicePlace from = selected_ && selected_->side == 0 ? selected_->place : SlicePlace();
  const TimeRange seen = window().moved(-shift(0)).range();
  std::vector<bool> shown(sides_[0]->lanes.size());
  for (std::uint32_t i = 0; i < shown.size(); ++i) shown[i] = lines_.shown_for[0][i] == i;
  const SlicePlace next = next_match(*sides_[0], painters_[0]->lit(), from, seen, backwards, shown);
  if (!next.valid()) return false;
  pick(SliceAddress{0, next});
  reveal({0, next});
  return true;
}

TimeRange TimelineCanvas::time_of_slice(const SliceAddress& slice) const {
  const Slice& shown = sides_[slice.side]->at(slice.place);
  return {{shown.begin + shift(slice.side)}, {shown.end + shift(slice.side)}};
}

TimeRange TimelineCanvas::time_around(const SliceAddress& slice) const {
  const TimeRange shown = time_of_slice(slice);
  return {shown.begin - shown.length(), shown.end + shown.length()};
}

std::optional<TimeRange> TimelineCanvas::selected_time() const {
  return selected_ ? std::optional(time_around(*selected_)) : std::nullopt;
}

void TimelineCanvas::pick_neighbour(int by) {
  if (!selected_) return pick_lane(0);
  const auto count = sides_[selected_->side]->lanes[selected_->place.lane].slices().size();
  const auto next = static_cast<std::ptrdiff_t>(selected_->place.index) + by;
  if (next < 0 || next >= static_cast<std::ptrdiff_t>(count)) return;
  SliceAddress slice = *selected_;
  slice.place.index = static_cast<std::uint32_t>(next);
  pick(slice);
  reveal(slice);
}

// Lanes that are empty there are passed over.
void TimelineCanvas::pick_lane(int by) {
  double at = (window().begin() + window().end()) / 2;
  auto i = static_cast<std::ptrdiff_t>(0);
  if (selected_) {
    const TimeRange time = time_of_slice(*selected_);
    at = (time.begin.value + time.end.value) / 2;
    i = std::ranges::find(rows(), row_of(*selected_)) - rows().begin() + by;
  }
  for (; i >= 0 && i < std::ssize(rows()); i += by < 0 ? -1 : 1) {
    const LaneRow row = rows()[static_cast<std::size_t>(i)];
    if (row.is_heading()) continue;
    const Lane& other = lane(row);
    if (other.name().kind == LaneKind::curve || other.slices().empty()) continue;
    const std::size_t index =
        std::min(other.ending_after(at - shift(row.side)), other.slices().size() - 1);
    const SliceAddress slice{row.side, {row.lane, static_cast<std::uint32_t>(index)}};
    pick(slice);
    return reveal(slice);
  }
}

void TimelineCanvas::zoom_to_selected() {
  if (selected_) move_window(window_on(time_around(*selected_)));
}

void TimelineCanvas::measure_selected() {
  if (!selected_) return;
  set_range(time_of_slice(*selected_));
  emit range_picked();
}

void TimelineCanvas::toggle_pin() {
  if (!selected_) return;
  const LaneRow row = row_of(*selected_);
  if (row.is_heading()) return;
  const LaneName& name = lane(row).name();
  const LaneKey key{name.group, name.name};
  if (pinned_.erase(key) == 0) pinned_.insert(key);
  lay_out();
}

}  // namespace strata::gui
