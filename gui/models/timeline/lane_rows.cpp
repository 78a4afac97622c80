#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "gui/models/timeline/lanes.h"

namespace strata::gui {
namespace {

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

}  // namespace strata::gui
