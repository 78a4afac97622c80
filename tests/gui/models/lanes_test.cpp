// Lanes: what a column of pixels asks of one, against looking at every slice; rows of two
// recordings; search.

#include "gui/models/timeline/lanes.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

// Slices of random lengths, gaps (many of none) and heights.
Lane random_lane(std::mt19937& random, std::size_t count) {
  std::uniform_int_distribution<int> length(0, 4), gap(0, 2), quarter(1, 4);
  std::vector<Slice> slices;
  double at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    at += gap(random);
    const double end = at + length(random);
    slices.push_back({at, end, 0, i, static_cast<float>(quarter(random)) / 4, 0});
    at = end;
  }
  return Lane({"group", "lane"}, std::move(slices));
}

std::size_t first_that(const Lane& lane, std::size_t from, auto holds) {
  const auto slices = lane.slices();
  while (from < slices.size() && !holds(slices[from])) ++from;
  return from;
}

double area_between(const Lane& lane, double begin, double end) {
  double sum = 0;
  for (const Slice& slice : lane.slices()) {
    const double part = std::min(slice.end, end) - std::max(slice.begin, begin);
    sum += std::max(part, 0.0) * static_cast<double>(slice.height);
  }
  return sum;
}

std::size_t longest_of(const Lane& lane, std::size_t first, std::size_t last) {
  std::size_t best = first;
  for (std::size_t i = first; i < last; ++i) {
    if (lane.slices()[i].length() > lane.slices()[best].length()) best = i;
  }
  return best;
}

TEST(LaneTest, AnswersAsOneWhoLooksAtEverySlice) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const Lane lane = random_lane(random, seed % 23);
    const std::size_t count = lane.slices().size();
    std::uniform_real_distribution<double> time(-1, 60);
    for (int i = 0; i < 50; ++i) {
      double a = time(random), b = time(random);
      if (i % 2 == 0) a = std::floor(a), b = std::floor(b);  // where slices begin and end
      if (a > b) std::swap(a, b);
      const std::size_t from = count == 0 ? 0 : random() % (count + 1);
      ASSERT_EQ(lane.ending_after(a, from),
                first_that(lane, from, [&](const Slice& s) { return s.end > a; }));
      ASSERT_EQ(lane.beginning_at(a, from),
                first_that(lane, from, [&](const Slice& s) { return s.begin >= a; }));
      ASSERT_NEAR(lane.filled(a, b), area_between(lane, a, b), 1e-9);
    }
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t last = first + 1; last <= count; ++last) {
        ASSERT_EQ(lane.longest(first, last), longest_of(lane, first, last));
      }
    }
  }
}

TEST(LaneTest, SlicesThatOverlapTakeMoreLanes) {
  const auto slice = [](double begin, double end, std::uint32_t id) {
    return Slice{begin, end, 0, id, 1, 0};
  };
  const auto lanes =
      without_overlaps({slice(4, 6, 3), slice(0, 4, 0), slice(1, 2, 1), slice(1, 5, 2)});
  EXPECT_THAT(lanes, ElementsAre(ElementsAre(slice(0, 4, 0), slice(4, 6, 3)),
                                 ElementsAre(slice(1, 2, 1)), ElementsAre(slice(1, 5, 2))));
  EXPECT_THAT(without_overlaps({}), ElementsAre(ElementsAre()));
}

// By lane: labels and begins of slices, of one second each.
using Labelled = std::vector<std::pair<std::string, double>>;

Recording recording_of(const std::vector<std::string>& lanes, std::vector<Labelled> slices = {}) {
  Recording recording;
  std::uint32_t id = 0;
  slices.resize(lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto slash = lanes[i].find('/');
    std::vector<Slice> all;
    for (const auto& [label, begin] : slices[i]) {
      recording.labels.push_back(make_label(label, "", LayerId()));
      all.push_back({begin, begin + 1, id, id, 1, 0});
      ++id;
    }
    const std::string name = lanes[i].substr(slash + 1);
    recording.lanes.emplace_back(LaneName{lanes[i].substr(0, slash), name,
                                          name == "rate" ? LaneKind::curve : LaneKind::device},
                                 std::move(all));
  }
  index_places(recording);
  return recording;
}

std::vector<std::string> rows_of(const Recording& first, const Recording* second) {
  std::vector<std::string> rows;
  for (const LaneRow row : interleave(first, second)) {
    const LaneName& name = (row.side == 0 ? first : *second).lanes[row.lane].name();
    rows.push_back(fmt::format("{}{}/{}", row.side == 0 ? "" : "before ", name.group, name.name));
  }
  return rows;
}

TEST(LaneRowsTest, EachLaneHasItsPartnerBeneathIt) {
  const Recording now = recording_of({"a/compute", "a/sync", "b/compute"});
  const Recording before = recording_of({"a/compute", "a/arriving", "b/compute", "c/compute"});
  EXPECT_THAT(rows_of(now, &before),
              ElementsAre("a/compute", "before a/compute", "a/sync", "before a/arriving",
                          "b/compute", "before b/compute", "before c/compute"));
  EXPECT_THAT(rows_of(now, nullptr), ElementsAre("a/compute", "a/sync", "b/compute"));
}

TEST(LaneSearchTest, FindsAllWordsInAnyCase) {
  Recording recording;
  recording.labels = {make_label("conv1 forward", "Convolution", LayerId(1)),
                      make_label("conv1 backward_data", "Convolution", LayerId(1)),
                      make_label("fc6 forward", "Linear", LayerId(2))};
  EXPECT_THAT(labels_with(recording, "CONV forw"), ElementsAre(true, false, false));
  EXPECT_THAT(labels_with(recording, "linear"), ElementsAre(false, false, true));
  EXPECT_THAT(labels_with(recording, "  "), ElementsAre());
}

TEST(LaneSearchTest, GoesThroughWhatIsFoundInTheOrderOfTimeAndAround) {
  const Recording recording = recording_of({"a/compute", "b/compute"},
                                           {{{"x", 0}, {"y", 3}, {"x", 5}}, {{"x", 1}, {"x", 5}}});
  const std::vector<bool> wanted = labels_with(recording, "x");
  std::vector<std::uint32_t> ids;
  SlicePlace at;
  for (int i = 0; i < 5; ++i) {
    at = next_match(recording, wanted, at, {});
    ids.push_back(recording.at(at).id);
  }
  EXPECT_THAT(ids, ElementsAre(0, 3, 2, 4, 0));
  EXPECT_EQ(recording.at(next_match(recording, wanted, at, {}, true)).id, 4);
  EXPECT_FALSE(next_match(recording, labels_with(recording, "z"), {}, {}).valid());
}

TEST(LaneSearchTest, LooksAtTheLanesThatAreShown) {
  const Recording recording = recording_of({"a/compute", "b/compute"}, {{{"x", 0}}, {{"x", 1}}});
  const SlicePlace found = next_match(recording, {true, true}, {}, {}, false, {false, true});
  EXPECT_EQ(found, (SlicePlace{1, 0}));
}

// Where none is selected, what is on the screen comes first: not the first step, which is like no
// other.
TEST(LaneSearchTest, BeginsWithinTheTimeThatIsSeen) {
  const Recording recording = recording_of({"a/compute"}, {{{"x", 0}, {"x", 3}, {"x", 5}}});
  const auto first = [&](double begin, double end, bool backwards) {
    return recording.at(next_match(recording, {true, true, true}, {}, {{begin}, {end}}, backwards))
        .begin;
  };
  EXPECT_EQ(first(2, 4, false), 3);
  EXPECT_EQ(first(2, 4, true), 3);
  EXPECT_EQ(first(4, 9, true), 5);
  EXPECT_EQ(first(6, 9, false), 0) << "from the other end";
}

// The first's steady step lasts from 4 to 6, the second's from 10 to 15.
TEST(TimeFrameTest, SteadyStepsBeginTogether) {
  Recording first, second;
  first.step = {{4}, {6}};
  first.end = 8;
  second.step = {{10}, {15}};
  second.end = 20;
  const TimeFrame frame = frame_of(first, &second);
  EXPECT_EQ(frame.shift_of(first), 0);
  EXPECT_EQ(frame.shift_of(second), -6);
  EXPECT_EQ(frame.step, first.step);
  EXPECT_EQ(frame.begin, -6);
  EXPECT_EQ(frame.end, 14);
  EXPECT_EQ(frame_of_both(first, second).step, (TimeRange{{4}, {9}}));
  second.step.reset();  // of a trace
  EXPECT_EQ(frame_of(first, &second).shift_of(second), 0);
}

}  // namespace
}  // namespace strata::gui
