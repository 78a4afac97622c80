#include "sim/text/diagnostics.h"

#include <gtest/gtest.h>

#include "tests/sim/text/said.h"

namespace strata {
namespace {

TEST(Diagnostics, SaysWhere) {
  EXPECT_EQ(said([] { fail({"a.toml", 3}, "bad"); }), "a.toml:3: bad");
  EXPECT_EQ(said([] { fail({"a.toml", 0}, "bad"); }), "a.toml: bad");
}

TEST(Diagnostics, SaysEverythingAtOnceInOrder) {
  Diagnostics errors;
  errors.throw_if_any();  // nothing to say
  EXPECT_TRUE(errors.attempt([] {}));
  errors.add({"a", 2}, "second line");
  EXPECT_FALSE(errors.attempt([] { fail({"a", 1}, "first line"); }));
  EXPECT_EQ(said([&] { errors.throw_if_any(); }), "a:2: second line\na:1: first line");
}

TEST(Diagnostics, CountsWhatIsBeyondTheLimit) {
  Diagnostics inner, errors;
  for (int i = 1; i <= 8; ++i) inner.add({"a", i}, "bad");
  errors.attempt([&] { inner.throw_if_any(); });
  for (int i = 1; i <= 5; ++i) errors.add({"b", i}, "bad");
  EXPECT_EQ(errors.count(), 13U);
  EXPECT_EQ(said([&] { errors.throw_if_any(); }),
            "a:1: bad\na:2: bad\na:3: bad\na:4: bad\na:5: bad\na:6: bad\na:7: bad\na:8: bad\n"
            "b:1: bad\nb:2: bad\nand 3 more");
}

}  // namespace
}  // namespace strata
