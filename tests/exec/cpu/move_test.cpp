// Boxes on the move, against loops over elements by global coordinates.

#include "exec/cpu/move.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cpu/tensors.h"

namespace strata::cpu {
namespace {

/// Two tensors and a box that both hold, all at random; channels around the sizes of blocks.
struct Case {
  Extents whole;
  Box from, to, common;
};

Case random_case(Random& random) {
  Case c;
  const std::int64_t side = pick(random, 0, 9) == 0 ? 30 : 6;  // short rows, or longer than a cache
  c.whole = {{pick(random, 1, 3), pick(random, 1, 40), pick(random, 1, 2), pick(random, 1, side),
              pick(random, 1, side)}};
  c.common = pick_box(random, whole(c.whole));
  const auto around = [&](const Box& inner) {
    Box box = inner;
    for (Dim dim : kDims) {
      if (pick(random, 0, 1) == 0) continue;
      box[dim] = {pick(random, 0, inner[dim].begin), pick(random, inner[dim].end, c.whole[dim])};
    }
    return box;
  };
  c.from = around(c.common);
  c.to = around(c.common);
  return c;
}

struct Trial {
  explicit Trial(Random& from)
      : random(from), it(random_case(random)), values(Values::random(it.whole, random)) {}

  Random& random;
  Case it;
  Values values;
};

TEST(Move, CopiesTheBoxAndNothingElse) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    Held from(t.it.from, t.values);
    Values before(t.it.whole, 7);
    Held to(t.it.to, before);
    copy(to.tensor(), from.tensor(), t.it.common);
    each_element(t.it.common, [&](const Element& at) { before[at] = t.values[at]; });
    EXPECT_EQ(distance(to, before), 0);
    EXPECT_TRUE(to.unused_are_zero());
  });
}

TEST(Move, ZeroesUnusedPlacesOfWhatItCompletes) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    Held from(t.it.from, t.values);
    Held to(t.it.from);
    copy(to.tensor(), from.tensor(), t.it.from);
    EXPECT_TRUE(to.unused_are_zero());
  });
}

TEST(Move, AddsWithinTheBox) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    Held from(t.it.from, t.values);
    Values wanted = Values::random(t.it.whole, random);
    Held to(t.it.to, wanted);
    add(to.tensor(), from.tensor(), t.it.common);
    each_element(t.it.common, [&](const Element& at) { wanted[at] += t.values[at]; });
    EXPECT_LT(distance(to, wanted), 1e-6);
    EXPECT_TRUE(to.unused_are_zero());
  });
}

TEST(Move, SumsInOnePass) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    Values wanted(t.it.whole);
    std::vector<Held> parts;
    std::vector<Tensor> tensors;
    for (std::int64_t k = pick(random, 1, 4); k > 0; --k) {
      const Values part = Values::random(t.it.whole, random);
      each_element(t.it.to, [&](const Element& at) { wanted[at] += part[at]; });
      parts.emplace_back(t.it.to, part);
    }
    tensors.reserve(parts.size());
    for (Held& part : parts) tensors.push_back(part.tensor());
    Held apart(t.it.to);
    sum(apart.tensor(), tensors);
    EXPECT_LT(distance(apart, wanted), 1e-6);
    EXPECT_TRUE(apart.unused_are_zero());
    sum(tensors.back(), tensors);  // into one of them
    EXPECT_LT(distance(parts.back(), wanted), 1e-6);
  });
}

TEST(Move, PacksRowMajorAndUnpacks) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    Held from(t.it.from, t.values);
    std::vector<float> plain(static_cast<std::size_t>(volume(t.it.common)));
    pack(plain.data(), from.tensor(), t.it.common);
    std::size_t i = 0;
    each_element(t.it.common, [&](const Element& at) { EXPECT_EQ(plain[i++], t.values[at]); });

    Values before(t.it.whole, 7);
    Held to(t.it.to, before);
    unpack(to.tensor(), plain.data(), t.it.common);
    each_element(t.it.common, [&](const Element& at) { before[at] = t.values[at]; });
    EXPECT_EQ(distance(to, before), 0);
  });
}

TEST(Move, LoadsFromAndStoresIntoAWholeArray) {
  each_seed(200, [](Random& random) {
    Trial t(random);
    std::vector<float> plain;
    each_element(whole(t.it.whole),
                 [&](const Element& at) { plain.push_back(static_cast<float>(t.values[at])); });
    Held loaded(t.it.to);
    load(loaded.tensor(), plain.data(), t.it.whole);
    EXPECT_EQ(distance(loaded, t.values), 0);
    EXPECT_TRUE(loaded.unused_are_zero());

    std::vector<float> stored(plain.size(), 7);
    store(stored.data(), t.it.whole, loaded.tensor());
    std::vector<float> wanted(plain.size(), 7);
    each_element(t.it.to, [&](const Element& at) {
      wanted[index(t.it.whole, at)] = plain[index(t.it.whole, at)];
    });
    EXPECT_EQ(stored, wanted);
  });
}

TEST(FillZero, ReachesUnusedPlaces) {
  Held tensor(whole({{2, 11, 1, 3, 2}}));
  fill_zero(tensor.tensor());
  EXPECT_EQ(distance(tensor, Values(Extents{{2, 11, 1, 3, 2}})), 0);
  EXPECT_TRUE(tensor.unused_are_zero());
}

}  // namespace
}  // namespace strata::cpu
