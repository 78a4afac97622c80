// Threads that wait for each other, spinning and asleep.

#include "exec/calibrate/meeting.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Meeting, NobodyIsARoundAhead) {
  constexpr std::size_t kThreads = 3, kTimes = 50;
  for (bool keeps_core : {false, true}) {
    Meeting meeting(kThreads, keeps_core);
    std::atomic<std::size_t> arrived = 0, early = 0, last = 0;
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          for (std::size_t time = 1; time <= kTimes; ++time) {
            ++arrived;
            const auto wait = meeting.arrive_and_wait();
            last += !wait;
            early += arrived < time * kThreads || (wait && wait->late < Seconds{0});
          }
        });
      }
    }
    EXPECT_EQ(early, 0u);
    EXPECT_EQ(last, kTimes);  // one of them each time
  }
}

TEST(Meeting, WhoLeavesIsNotWaitedFor) {
  Meeting meeting(2, true);
  std::jthread other([&] { meeting.arrive_and_wait(); });
  meeting.leave();
  other.join();
  EXPECT_FALSE(meeting.arrive_and_wait());
}

}  // namespace
}  // namespace strata
