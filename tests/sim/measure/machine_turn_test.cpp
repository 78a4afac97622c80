#include "sim/measure/machine_turn.h"

#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "tests/folder.h"
#include "tests/sim/store/child_process.h"

namespace strata {
namespace {

using strata::testing::Folder;

TEST(MachineTurn, IsTakenByOneAtATime) {
  const Folder folder("turn");
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(MachineTurn::is_taken(folder.path()));
  {
    const MachineTurn turn(&cancelled, folder.path());  // one that is free is taken at once
    EXPECT_TRUE(MachineTurn::is_taken(folder.path()));
    EXPECT_THROW(MachineTurn(&cancelled, folder.path()), Cancelled);
    EXPECT_TRUE(MachineTurn::is_taken(folder.path()));
  }
  EXPECT_FALSE(MachineTurn::is_taken(folder.path()));
  const MachineTurn again(&cancelled, folder.path());  // who gave up left nothing behind
}

TEST(MachineTurn, GoesWithTheProcessThatHasIt) {
  const Folder folder("turn_of_child");
  Pipe pipe;
  Child child([&] {
    const MachineTurn turn(nullptr, folder.path());
    pipe.write("x");
    while (true) ::pause();
  });
  EXPECT_EQ(pipe.read(1), "x");
  EXPECT_TRUE(MachineTurn::is_taken(folder.path()));
  child.kill();
  EXPECT_FALSE(MachineTurn::is_taken(folder.path()));
}

TEST(MachineTurn, WaitsForNobodyWhereThereIsNoFolder) {
  const MachineTurn one(nullptr, "/none"), other(nullptr, "/none");
  EXPECT_FALSE(MachineTurn::is_taken("/none"));
}

}  // namespace
}  // namespace strata
