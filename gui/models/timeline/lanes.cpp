#include "gui/models/timeline/lanes.h"

#include <algorithm>
#include <utility>

namespace strata::gui {

// Leaves of the tree are the slices themselves: node n of the lowest inner level holds the longest
// of two. Only inner nodes are kept.
Lane::Lane(LaneName name, std::vector<Slice> slices)
    : name_(std::move(name)), slices_(std::move(slices)) {
  area_.reserve(slices_.size() + 1);
  area_.push_back(0);
  for (const Slice& slice : slices_) {
    area_.push_back(area_.back() + slice.length() * static_cast<double>(slice.height));
  }
  const std::size_t n = slices_.size();
  longest_.resize(n);
  const auto node = [&](std::size_t i) { return i >= n ? i - n : longest_[i]; };
  for (std::size_t i = n; i-- > 1;) {
    longest_[i] = static_cast<std::uint32_t>(longer(node(2 * i), node(2 * i + 1)));
  }
}

std::size_t Lane::longer(std::size_t a, std::size_t b) const {
  const double first = slices_[a].length(), second = slices_[b].length();
  return second > first || (second == first && b < a) ? b : a;
}

std::size_t Lane::ending_after(double at, std::size_t from) const {
  const auto ended = [at](const Slice& slice) { return slice.end <= at; };
  // Near where the search begins in most cases: strides that double, then halves.
  std::size_t stride = 1, low = from;
  while (low + stride < slices_.size() && ended(slices_[low + stride])) {
    low += stride;
    stride *= 2;
  }
  const auto last =
      slices_.begin() + static_cast<std::ptrdiff_t>(std::min(low + stride + 1, slices_.size()));
  const auto first = slices_.begin() + static_cast<std::ptrdiff_t>(std::min(low, slices_.size()));
  return static_cast<std::size_t>(std::partition_point(first, last, ended) - slices_.begin());
}

std::size_t Lane::beginning_at(double at, std::size_t from) const {
  const auto before = [at](const Slice& slice) { return slice.begin < at; };
  std::size_t stride = 1, low = from;
  while (low + stride < slices_.size() && before(slices_[low + stride])) {
    low += stride;
    stride *= 2;
  }
  const auto last =
      slices_.begin() + static_cast<std::ptrdiff_t>(std::min(low + stride + 1, slices_.size()));
  const auto first = slices_.begin() + static_cast<std::ptrdiff_t>(std::min(low, slices_.size()));
  return static_cast<std::size_t>(std::partition_point(first, last, before) - slices_.begin());
}

std::size_t Lane::longest(std::size_t first, std::size_t last) const {
  const std::size_t n = slices_.size();
  std::size_t best = first;
  const auto node = [&](std::size_t i) { return i >= n ? i - n : longest_[i]; };
  for (std::size_t a = first + n, b = last + n; a < b; a /= 2, b /= 2) {
    if (a % 2 == 1) best = longer(best, node(a++));
    if (b % 2 == 1) best = longer(best, node(--b));
  }
  return best;
}

Lane::Look Lane::look(double begin, double end, std::size_t from) const {
  const std::size_t first = ending_after(begin, from), last = beginning_at(end, first);
  if (first >= last) return {first, first, 0};
  const auto part = [&](const Slice& slice) {
    return (std::min(slice.end, end) - std::max(slice.begin, begin)) *
           static_cast<double>(slice.height);
  };
  if (last - first == 1) return {first, last, part(slices_[first])};
  return {first, last, part(slices_[first]) + area(first + 1, last - 1) + part(slices_[last - 1])};
}

std::size_t Recording::slice_count() const {
  std::size_t count = 0;
  for (const Lane& lane : lanes) count += lane.slices().size();
  return count;
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
      recording.places[slices[i].id] = {static_cast<std::uint32_t>(lane),
                                        static_cast<std::uint32_t>(i)};
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

}  // namespace strata::gui
