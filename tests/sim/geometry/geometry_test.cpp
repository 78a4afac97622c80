#include "sim/geometry/geometry.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

constexpr Extents kTensor = {{8, 10, 1, 7, 5}};

TEST(Part, CutsTenIntoThreeAsFloorsSay) {
  // floor(0*10/3), floor(1*10/3), floor(2*10/3), floor(3*10/3) = 0, 3, 6, 10.
  EXPECT_EQ(part(10, 3, 0), (Interval{0, 3}));
  EXPECT_EQ(part(10, 3, 1), (Interval{3, 6}));
  EXPECT_EQ(part(10, 3, 2), (Interval{6, 10}));
}

// A strided layer's 28 rows over 3 devices, and its producer's 56: the second part of the one is
// read from the second part of the other, which scaling its ends would miss by a row.
TEST(Part, HasAPartOfTheSameNumberInAnotherExtent) {
  EXPECT_EQ(part(28, 3, 1), (Interval{9, 18}));
  EXPECT_EQ(same_part(28, {9, 18}, 56), (Interval{18, 37}));
  EXPECT_EQ(same_part(28, {9, 17}, 56), (Interval{18, 34}));  // no part: scaled
  for (std::int32_t degree = 1; degree <= 5; ++degree) {
    for (std::int64_t i = 0; i < degree; ++i) {
      EXPECT_EQ(same_part(29, part(29, degree, i), 57), part(57, degree, i)) << degree << ' ' << i;
    }
  }
}

TEST(Part, PartsTileTheExtentAndDifferByAtMostOne) {
  for (std::int64_t extent = 1; extent <= 40; ++extent) {
    for (std::int32_t degree = 1; degree <= extent; ++degree) {
      std::int64_t at = 0;
      for (std::int32_t i = 0; i < degree; ++i) {
        const Interval p = part(extent, degree, i);
        EXPECT_EQ(p.begin, at);
        EXPECT_GE(p.size(), extent / degree);
        EXPECT_LE(p.size(), (extent + degree - 1) / degree);
        at = p.end;
      }
      EXPECT_EQ(at, extent);
    }
  }
}

TEST(PartsTouching, AgreesWithLookingAtEveryPart) {
  for (std::int64_t extent = 1; extent <= 17; ++extent) {
    for (std::int32_t degree = 1; degree <= extent; ++degree) {
      for (std::int64_t begin = 0; begin < extent; ++begin) {
        for (std::int64_t end = begin + 1; end <= extent; ++end) {
          std::int64_t first = degree, last = 0;
          for (std::int32_t i = 0; i < degree; ++i) {
            if (intersect(part(extent, degree, i), {begin, end}).empty()) continue;
            first = std::min<std::int64_t>(first, i);
            last = i + 1;
          }
          EXPECT_EQ(parts_touching(extent, degree, {begin, end}), (Interval{first, last}))
              << extent << "/" << degree << " [" << begin << ", " << end << ")";
        }
      }
    }
  }
  EXPECT_TRUE(parts_touching(10, 3, {4, 4}).empty());
}

TEST(Partition, NumbersShardsRowMajor) {
  const Partition cut(kTensor, {{2, 1, 1, 3, 2}});
  EXPECT_EQ(cut.shard_count(), 12);
  EXPECT_EQ(cut.coordinates(0), (Degrees{{0, 0, 0, 0, 0}}));
  EXPECT_EQ(cut.coordinates(1), (Degrees{{0, 0, 0, 0, 1}}));
  EXPECT_EQ(cut.coordinates(2), (Degrees{{0, 0, 0, 1, 0}}));
  EXPECT_EQ(cut.coordinates(11), (Degrees{{1, 0, 0, 2, 1}}));
  for (std::int64_t s = 0; s < 12; ++s) EXPECT_EQ(cut.shard_at(cut.coordinates(s)), s);
}

TEST(Partition, ShardsAreDisjointAndCoverTheTensor) {
  const Partition cut(kTensor, {{3, 4, 1, 2, 5}});
  std::int64_t total = 0;
  for (std::int64_t a = 0; a < cut.shard_count(); ++a) {
    total += volume(cut.box(a));
    for (std::int64_t b = a + 1; b < cut.shard_count(); ++b) {
      EXPECT_TRUE(empty(intersect(cut.box(a), cut.box(b))));
    }
  }
  EXPECT_EQ(total, volume(kTensor));
}

TEST(Box, IntersectionIsEmptyWhenAnyDimIs) {
  Box a = whole(kTensor), b = whole(kTensor);
  a[Dim::h] = {0, 3};
  b[Dim::h] = {3, 7};
  EXPECT_TRUE(empty(intersect(a, b)));
  b[Dim::h] = {2, 7};
  EXPECT_EQ(volume(intersect(a, b)), 8 * 10 * 1 * 5);
}

}  // namespace
}  // namespace strata
