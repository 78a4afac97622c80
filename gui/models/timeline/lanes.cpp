#include "gui/models/timeline/lanes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"

namespace strata::gui {
namespace {

// Up to so many are looked at one after another, which is quicker than to climb the tree.
constexpr std::size_t kFew = 64;

// The first of the times, from `from` on, that is not `before`; they are sorted. It is near where
// the search begins in most cases: strides that double, then halves.
template <class Before>
std::size_t first_not(const std::vector<double>& times, std::size_t from, const Before& before) {
  std::size_t low = std::min(from, times.size()), high = low;
  for (std::size_t stride = 1; high < times.size() && before(times[high]); stride *= 2) {
    low = high + 1;
    high = std::min(high + stride, times.size());
  }
  const auto at = [&](std::size_t i) { return times.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<std::size_t>(std::partition_point(at(low), at(high), before) - times.begin());
}

std::uint64_t mixed(std::uint64_t state, std::uint64_t more) {
  state = (state ^ more) * 0x9e3779b97f4a7c15U;
  return state ^ (state >> 29U);
}

// Each curve has a label of its own, which tells nothing of its shape.
std::uint64_t signature_of(LaneKind kind, std::span<const Slice> slices) {
  std::uint64_t state = slices.size();
  for (const Slice& slice : slices) {
    const std::uint64_t label = kind == LaneKind::curve ? 0 : slice.label;
    state = mixed(state, std::bit_cast<std::uint64_t>(slice.begin));
    state = mixed(state, std::bit_cast<std::uint64_t>(slice.end));
    state = mixed(state, label << 32U | std::bit_cast<std::uint32_t>(slice.height));
    state = mixed(state, slice.style | std::uint64_t{slice.round} << 16U);
  }
  return state;
}

using LaneKey = std::pair<std::string, std::string>;

LaneKey key_of(const Lane& lane) {
  return {lane.name().group, lane.name().name};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(in_small_letters(text));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The second recording's lanes, which are taken one by one.
class Partners {
 public:
  explicit Partners(const Recording* recording) : recording_(recording) {
    if (recording == nullptr) return;
    taken_.resize(recording->lanes.size());
    for (std::uint32_t i = 0; i < recording->lanes.size(); ++i) {
      lanes_.try_emplace(key_of(recording->lanes[i]), i);
      groups_[recording->lanes[i].name().group].push_back(i);
    }
  }

  void take(const LaneKey& key, std::vector<LaneRow>& rows) {
    const auto lane = lanes_.find(key);
    if (lane != lanes_.end()) add(lane->second, rows);
  }
  /// Those of a group, or of all, that nobody took.
  void take_rest(const std::string& group, std::vector<LaneRow>& rows) {
    const auto lanes = groups_.find(group);
    if (lanes == groups_.end()) return;
    for (const std::uint32_t lane : lanes->second) add(lane, rows);
  }
  void take_rest(std::vector<LaneRow>& rows) {
    for (std::uint32_t i = 0; i < taken_.size(); ++i) add(i, rows);
  }

 private:
  void add(std::uint32_t lane, std::vector<LaneRow>& rows) {
    if (!taken_[lane]) rows.push_back({1, lane});
    taken_[lane] = true;
  }

  const Recording* recording_;
  std::vector<bool> taken_;
  std::map<LaneKey, std::uint32_t> lanes_;
  std::map<std::string, std::vector<std::uint32_t>> groups_;
};

/// In the order of time, then of lanes.
auto order_of(const Recording& recording, SlicePlace place) {
  const Slice& slice = recording.at(place);
  return std::tuple(slice.begin, place.lane, place.index);
}

}  // namespace

// Leaves of the tree are the slices themselves: node n of the lowest inner level holds the longest
// of two. Only inner nodes are kept.
std::shared_ptr<Lane::Held> Lane::held(LaneKind kind, std::vector<Slice> slices) {
  auto held = std::make_shared<Held>();
  held->slices = std::move(slices);
  const std::size_t n = held->slices.size();
  for (std::vector<double>* times : {&held->begins, &held->ends, &held->lengths}) times->reserve(n);
  held->area.reserve(n + 1);
  held->area.push_back(0);
  const bool low = std::any_of(held->slices.begin(), held->slices.end(),
                               [](const Slice& slice) { return slice.height != 1; });
  for (const Slice& slice : held->slices) {
    if (low) held->heights.push_back(slice.height);
    held->begins.push_back(slice.begin);
    held->ends.push_back(slice.end);
    held->lengths.push_back(slice.length());
    held->area.push_back(held->area.back() + slice.length() * static_cast<double>(slice.height));
  }
  held->signature = signature_of(kind, held->slices);
  held->longest.resize(n);
  const auto node = [&](std::size_t i) { return i >= n ? i - n : held->longest[i]; };
  for (std::size_t i = n; i-- > 1;) {
    held->longest[i] = static_cast<std::uint32_t>(held->longer(node(2 * i), node(2 * i + 1)));
  }
  return held;
}

Lane::Lane(LaneName name, std::vector<Slice> slices)
    : name_(std::move(name)), held_(held(name_.kind, std::move(slices))) {}

Lane::Lane(LaneName name, std::vector<Slice> slices, std::vector<Slice> bubbles)
    : name_(std::move(name)) {
  auto all = held(name_.kind, std::move(slices));
  all->bubbles = std::make_shared<const Lane>(name_, std::move(bubbles));
  held_ = std::move(all);
}

std::size_t Lane::Held::longer(std::size_t a, std::size_t b) const {
  return lengths[b] > lengths[a] || (lengths[b] == lengths[a] && b < a) ? b : a;
}

std::size_t Lane::ending_after(double at, std::size_t from) const {
  return first_not(held_->ends, from, [at](double end) { return end <= at; });
}

std::size_t Lane::beginning_at(double at, std::size_t from) const {
  return first_not(held_->begins, from, [at](double begin) { return begin < at; });
}

std::size_t Lane::longest(std::size_t first, std::size_t last) const {
  std::size_t best = first;
  if (last - first <= kFew) {
    for (std::size_t i = first; i < last; ++i)
      best = held_->lengths[i] > held_->lengths[best] ? i : best;
    return best;
  }
  const std::size_t n = held_->slices.size();
  const auto node = [&](std::size_t i) { return i >= n ? i - n : held_->longest[i]; };
  for (std::size_t a = first + n, b = last + n; a < b; a /= 2, b /= 2) {
    if (a % 2 == 1) best = held_->longer(best, node(a++));
    if (b % 2 == 1) best = held_->longer(best, node(--b));
  }
  return best;
}

// All of them, less what of the first and of the last one lies outside.
Lane::Look Lane::look(double begin, double end, std::size_t from) const {
  const std::size_t first = ending_after(begin, from), last = beginning_at(end, first);
  if (first >= last) return {first, first, 0};
  const double before = std::max(begin - held_->begins[first], 0.0);
  const double after = std::max(held_->ends[last - 1] - end, 0.0);
  return {first, last, area(first, last) - before * height(first) - after * height(last - 1)};
}

std::size_t Recording::slice_count() const {
  std::size_t count = 0;
  for (const Lane& lane : lanes) count += lane.slices().size();
  return count;
}

std::string text_of(const Recording& recording, SlicePlace place) {
  const LaneName& lane = recording.lanes[place.lane].name();
  const std::string& label = recording.labels[recording.at(place).label].text;
  return lane.link ? lane.name + " of " + label : label;
}

LaneLabel make_label(const std::string& text, const std::string& more, LayerId layer) {
  return {text, in_small_letters(text + " " + more), layer};
}

std::uint16_t style_number(Recording& recording, const SliceStyle& style) {
  auto& styles = recording.styles;
  const auto known = std::find(styles.begin(), styles.end(), style);
  if (known != styles.end()) return static_cast<std::uint16_t>(known - styles.begin());
  styles.push_back(style);
  return static_cast<std::uint16_t>(styles.size() - 1);
}

std::string in_small_letters(std::string text) {
  for (char& c : text) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void index_places(Recording& recording) {
  for (std::size_t lane = 0; lane < recording.lanes.size(); ++lane) {
    if (!stands_for_tasks(recording.lanes[lane].name().kind)) continue;
    const auto slices = recording.lanes[lane].slices();
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].id >= recording.places.size()) recording.places.resize(slices[i].id + 1);
      SlicePlace& place = recording.places[slices[i].id];
      if (place.valid()) break;  // of a lane before
      place = {static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(i)};
    }
  }
}

std::vector<std::vector<Slice>> without_overlaps(std::vector<Slice> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::vector<std::vector<Slice>> lanes(1);
  for (const Slice& slice : slices) {
    const auto free = [&](const std::vector<Slice>& lane) {
      return lane.empty() || lane.back().end <= slice.begin;
    };
    auto lane = std::find_if(lanes.begin(), lanes.end(), free);
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), std::vector<Slice>());
    lane->push_back(slice);
  }
  return lanes;
}

std::vector<LaneRow> interleave(const Recording& first, const Recording* second) {
  std::vector<LaneRow> rows;
  Partners partners(second);
  for (std::uint32_t i = 0; i < first.lanes.size(); ++i) {
    const std::string& group = first.lanes[i].name().group;
    rows.push_back({0, i});
    partners.take(key_of(first.lanes[i]), rows);
    const bool ends = i + 1 == first.lanes.size() || first.lanes[i + 1].name().group != group;
    if (ends) partners.take_rest(group, rows);
  }
  partners.take_rest(rows);
  return rows;
}

std::vector<bool> labels_with(const Recording& recording, const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  std::vector<bool> found;
  if (words.empty()) return found;
  for (const LaneLabel& label : recording.labels) {
    found.push_back(std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return label.search.find(word) != std::string::npos;
    }));
  }
  return found;
}

SlicePlace next_match(const Recording& recording, const std::vector<bool>& wanted, SlicePlace from,
                      const TimeRange& within, bool backwards, const std::vector<bool>& lanes) {
  const auto before = [&](SlicePlace a, SlicePlace b) {
    return backwards ? order_of(recording, a) > order_of(recording, b)
                     : order_of(recording, a) < order_of(recording, b);
  };
  SlicePlace next, first;
  const auto offer = [&](SlicePlace place) {
    if (!first.valid() || before(place, first)) first = place;
    const double begin = recording.at(place).begin;
    const bool out = backwards ? begin > within.end.value : begin < within.begin.value;
    if (from.valid() ? !before(from, place) : out) return;
    if (!next.valid() || before(place, next)) next = place;
  };
  for (std::uint32_t lane = 0; lane < recording.lanes.size(); ++lane) {
    if (!stands_for_tasks(recording.lanes[lane].name().kind)) continue;
    if (!lanes.empty() && !lanes[lane]) continue;
    const auto slices = recording.lanes[lane].slices();
    for (std::uint32_t i = 0; i < slices.size(); ++i) {
      if (slices[i].label < wanted.size() && wanted[slices[i].label]) offer({lane, i});
    }
  }
  return next.valid() ? next : first;
}

double TimeFrame::shift_of(const Recording& recording) const {
  if (forward && recording.forward) return (*forward - *recording.forward).value;
  return step && recording.step ? (step->begin - recording.step->begin).value : 0;
}

TimeFrame frame_of(const Recording& first, const Recording* second) {
  TimeFrame frame{first.step, 0, first.end, first.forward};
  if (second == nullptr) return frame;
  const double shift = frame.shift_of(*second);
  frame.begin = std::min(frame.begin, shift);
  frame.end = std::max(frame.end, second->end + shift);
  return frame;
}

TimeFrame frame_of_both(const Recording& first, const Recording& second) {
  TimeFrame frame = frame_of(first, &second);
  if (frame.step && second.step) {
    const Seconds longer = std::max(frame.step->length(), second.step->length());
    frame.step->end = frame.step->begin + longer;
  }
  return frame;
}

std::string print_csv(const Recording& recording, const TimeRange& range) {
  std::string text = "group,lane,name,begin_seconds,end_seconds\n";
  for (const Lane& lane : recording.lanes) {
    if (!stands_for_tasks(lane.name().kind)) continue;
    const std::string place = csv_cell(lane.name().group) + "," + csv_cell(lane.name().name);
    const std::size_t last = lane.beginning_at(range.end.value);
    for (std::size_t i = lane.ending_after(range.begin.value); i < last; ++i) {
      const Slice& slice = lane.slices()[i];
      fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", place,
                     csv_cell(recording.labels[slice.label].text), slice.begin, slice.end);
    }
  }
  return text;
}

}  // namespace strata::gui
