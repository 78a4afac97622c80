// What of the timeline is looked at: the slice that is selected, those that stand out.

#include <QScrollBar>
#include <algorithm>
#include <utility>

#include "gui/widgets/timeline/timeline_canvas.h"

namespace strata::gui {

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
