// Lists of boxes are kept once, against a list that is searched from its beginning.

#include "sim/plan/known_boxes.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

Box drawn_box(std::mt19937& random) {
  Box box;
  for (Interval& interval : box.values) {
    interval.begin = static_cast<std::int64_t>(random() % 3);
    interval.end = interval.begin + 1 + static_cast<std::int64_t>(random() % 3);
  }
  return box;
}

TEST(KnownBoxes, FindWhatWasAddedAndNothingElse) {
  std::mt19937 random(1);
  KnownBoxes known;
  std::vector<Box> boxes;
  std::vector<std::pair<std::vector<Box>, std::uint32_t>> added;
  std::size_t found_again = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Box> list;
    if (i % 3 == 2) {
      list = added[random() % added.size()].first;
    } else {
      for (std::size_t k = 1 + random() % 3; k > 0; --k) list.push_back(drawn_box(random));
    }
    const auto equal = [&](const auto& other) { return other.first == list; };
    const auto at = std::find_if(added.begin(), added.end(), equal);
    const std::size_t before = boxes.size();
    const std::uint32_t first = known.find_or_add(list, boxes);
    ASSERT_TRUE(std::equal(list.begin(), list.end(), boxes.begin() + first));
    if (at == added.end()) {
      EXPECT_EQ(boxes.size(), before + list.size());
      added.emplace_back(list, first);
    } else {
      EXPECT_EQ(boxes.size(), before);
      EXPECT_EQ(first, at->second);
      ++found_again;
    }
  }
  EXPECT_GT(found_again, 900U);
}

}  // namespace
}  // namespace strata
